// SPDX-License-Identifier: Apache-2.0
#include "storage/header_padding.hpp"

#include <sstream>

#include "base/text/size.hpp"

namespace thalweg::detail {

namespace {

std::int64_t* member(HeaderPadding& s, const std::string& name) {
    if (name == "header_pad") return &s.header_pad;
    if (name == "var_align") return &s.var_align;
    if (name == "var_pad") return &s.var_pad;
    return name == "record_align" ? &s.record_align : nullptr;
}

}  // namespace

Status set_spacing(const std::string& list, HeaderPadding& spacing) {
    constexpr std::int64_t most = std::int64_t(1) << 40;
    std::istringstream stream(list);
    for (std::string item; std::getline(stream >> std::ws, item, ';');) {
        const auto equals = item.find('=');
        std::int64_t value = -1;
        std::int64_t* const to = member(spacing, item.substr(0, equals));
        if (to == nullptr || equals == std::string::npos ||
            !parse_size(item.substr(equals + 1), value) || value < 0 || value > most)
            return failure(TW_ESETTING,
                           "'{}' is not header_pad, var_align, var_pad or record_align with a size "
                           "in bytes up to 1 TiB",
                           item);
        *to = value;
    }
    return {};
}

}  // namespace thalweg::detail
