// Keeps the program's floating-point environment apart from the library's arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace thalweg::detail {

/// Gives the calling thread the default floating-point environment for the duration of a scope:
/// exceptions are not trapped, results are rounded to nearest, and denormal numbers are kept.
/// Afterwards the program's environment is as before: traps, rounding, and exception flags. All
/// calls of the library have such a scope, because their values may be anything, and compilers may
/// convert a value before it is tested. A new thread begins with its creator's environment.
class OwnArithmetic {
public:
    OwnArithmetic() {
#ifdef __x86_64__
        // Replacing the whole environment takes long, and most programs have the default one.
        constexpr unsigned flags = 0x3f, standard = 0x1f80;
        constexpr unsigned short standard_x87 = 0x37f;
        unsigned short x87 = 0;
        __asm__ volatile("fnstcw %0" : "=m"(x87));
        sse_ = _mm_getcsr();
        is_standard_ = (sse_ & ~flags) == standard && x87 == standard_x87;
        if (is_standard_) return;
#endif
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~OwnArithmetic() {
#ifdef __x86_64__
        if (is_standard_) {
            if (_mm_getcsr() != sse_) _mm_setcsr(sse_);
            return;
        }
#endif
        std::fesetenv(&before_);
    }
    OwnArithmetic(const OwnArithmetic&) = delete;
    OwnArithmetic& operator=(const OwnArithmetic&) = delete;

private:
    std::fenv_t before_;
#ifdef __x86_64__
    unsigned sse_;  ///< control and status of SSE, which does nearly all arithmetic
    bool is_standard_;
#endif
};

}  // namespace thalweg::detail
