// Macros for calls of one session. Each is a named step, and succeeds or is refused on all ranks
// alike.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_CALLS_HPP
#define THALWEG_TESTS_SYSTEM_CALLS_HPP

#include <string>
#include <vector>

#include "check.hpp"
#include "thalweg/thalweg.h"

namespace calls {

inline tw_session session = nullptr;

inline std::string text() { return tw_error_message(session); }

// Checks the code of an error on every rank, and words in its text, which must be the same on every
// rank.
inline void refused(const char* file, int line, int status, int code, const std::string& words) {
    const std::string said = text();
    const std::vector<std::string> all = check::gather(said);
    check::state.checks += 2;
    if (status != code || said.find(words) == std::string::npos)
        check::fail(
            file, line,
            check::text("%d: %s; expected %d: %s", status, said.c_str(), code, words.c_str()));
    if (all[0] != said)
        check::fail(file, line,
                    check::text("rank 0 says %s, this one %s", all[0].c_str(), said.c_str()));
}

}  // namespace calls

#define OK(call)                                                                                   \
    do {                                                                                           \
        check::step("%s", #call);                                                                  \
        const int status = call;                                                                   \
        CHECK_TEXT(status == TW_OK, "%d: %s", status, calls::text().c_str());                      \
    } while (false)

#define REFUSED(call, code, words)                                                                 \
    do {                                                                                           \
        check::step("%s", #call);                                                                  \
        calls::refused(__FILE__, __LINE__, call, code, words);                                     \
    } while (false)

#endif
