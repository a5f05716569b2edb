// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/names.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text/normal_form.hpp"

namespace thalweg::detail {

namespace {

/// Reads the next code point; false if the bytes at `at` are not valid UTF-8 (Unicode standard,
/// table 3-7).
bool next_code_point(const std::string& text, std::size_t& at, std::uint32_t& code) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]))
                               : 0;
    };
    const std::uint32_t first = byte(at);
    const std::size_t more = first < 0x80   ? 0
                             : first < 0xc2 ? 4
                             : first < 0xe0 ? 1
                             : first < 0xf0 ? 2
                             : first < 0xf5 ? 3
                                            : 4;
    if (more == 4) return false;
    code = more == 0 ? first : first & (0x3fU >> more);
    for (std::size_t i = 1; i <= more; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return false;
        code = code << 6 | (byte(at + i) & 0x3f);
    }
    at += more + 1;
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    return !overlong && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

}  // namespace

Status normalize(const char* what, std::string& name) {
    std::uint32_t largest = 0;
    for (std::size_t at = 0; at < name.size();) {
        std::uint32_t code = 0;
        if (!next_code_point(name, at, code))
            return failure(TW_EARG, "the name '{}' of a {} is not UTF-8", name, what);
        largest = std::max(largest, code);
    }
    // Text without code points from U+0300 (the first combining character) on is always in normal
    // form C.
    if (largest < 0x300) return {};
#ifdef THALWEG_HAVE_UTF8PROC
    name = normal_form(std::move(name));
    return {};
#else
    return failure(
        TW_EUNSUPPORTED,
        "the name '{}' of a {}: characters beyond Latin need a build of the library with "
        "utf8proc",
        name, what);
#endif
}

}  // namespace thalweg::detail
