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
    if (std::ranges::none_of(name, may_combine)) return name;
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> normal(
        utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(name.c_str())), &std::free);
    if (normal) name = reinterpret_cast<const char*>(normal.get());
#endif
    return name;
}

bool is_utf8(std::string_view text) {
    int more = 0;  // number of bytes that the character still has
    // Limits of a character's second byte, which exclude characters that have a shorter form,
    // surrogates, and those beyond the last one.
    unsigned low = 0x80, high = 0xbf;
    for (const char c : text) {
        const unsigned u = static_cast<unsigned char>(c);
        const bool continues = (u & 0xc0) == 0x80;
        if (continues != (more > 0) || u == 0xc0 || u == 0xc1 || u > 0xf4) return false;
        if (continues && (u < low || u > high)) return false;
        more = continues ? more - 1 : u < 0x80 ? 0 : u < 0xe0 ? 1 : u < 0xf0 ? 2 : 3;
        low = u == 0xe0 ? 0xa0 : u == 0xf0 ? 0x90 : 0x80;
        high = u == 0xed ? 0x9f : u == 0xf4 ? 0x8f : 0xbf;
    }
    return more == 0;
}

bool same_name(const std::string& a, const std::string& b) {
    return a == b || normal_form(a) == normal_form(b);
}

}  // namespace thalweg::detail
