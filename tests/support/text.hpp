// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace check {

/// Returns a text in which values stand in place of its `{}`.
template <class... Values>
std::string text(std::string_view form, const Values&... values) {
    std::ostringstream out;
    out.precision(9);
    [[maybe_unused]] const auto put = [&](const auto& value) {
        const std::size_t end = form.find("{}");
        out << form.substr(0, end) << value;
        form.remove_prefix(end + 2);
    };
    (put(values), ...);
    out << form;
    return out.str();
}

}  // namespace check
