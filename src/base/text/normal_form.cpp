// SPDX-License-Identifier: Apache-2.0
#include "base/text/normal_form.hpp"

#ifdef THALWEG_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace thalweg::detail {

std::string normal_form(std::string name) {
#ifdef THALWEG_HAVE_UTF8PROC
    // Text without code points from U+0300 (the first combining character) on is always in normal
    // form C.
    const auto may_combine = [](char c) { return static_cast<unsigned char>(c) >= 0xcc; };
    if (std::none_of(name.begin(), name.end(), may_combine)) return name;
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> normal(
        utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(name.c_str())), &std::free);
    if (normal) name = reinterpret_cast<const char*>(normal.get());
#endif
    return name;
}

bool same_name(const std::string& a, const std::string& b) {
    return a == b || normal_form(a) == normal_form(b);
}

}  // namespace thalweg::detail
