// SPDX-License-Identifier: Apache-2.0
#include "history/operation.hpp"

#include <array>

namespace thalweg::history {

namespace {

struct NamedOp {
    std::string_view name;
    std::string_view method;  ///< CF's name of the method
};

/// In the order of enum Op.
constexpr std::array<NamedOp, 10> ops{{{"instant", "point"},
                                       {"once", ""},
                                       {"mean", "mean"},
                                       {"min", "minimum"},
                                       {"max", "maximum"},
                                       {"range", "range"},
                                       {"sum", "sum"},
                                       {"rms", "root_mean_square"},
                                       {"mean_square", "mean (of the square)"},
                                       {"std", "standard_deviation"}}};

std::string_view method(Op op) { return ops[static_cast<std::size_t>(op)].method; }

}  // namespace

std::string_view op_name(Op op) { return ops[static_cast<std::size_t>(op)].name; }

std::optional<Op> op_of(std::string_view name) {
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (ops[i].name == name) return static_cast<Op>(i);
    return {};
}

std::string cell_method(std::string_view time, Op op, std::string_view weight) {
    if (method(op).empty()) return {};
    std::string text = fmt::format("{}: {}", time, method(op));
    if (!weight.empty()) text += fmt::format(" (weighted by {})", weight);
    return text;
}

std::string cell_method(std::string_view time, Op inner, Op op, std::string_view inner_unit) {
    return fmt::format("{0}: {1} within {3} {0}: {2} over {3}", time, method(inner), method(op),
                       inner_unit);
}

}  // namespace thalweg::history
