// SPDX-License-Identifier: Apache-2.0
#include "history/statistics/statistic.hpp"

namespace thalweg::history {

namespace {

struct NamedOp {
    std::string_view name;
    std::string_view method;        ///< CF's name of the method
    std::string_view comment = "";  ///< what the method is applied to, if not to the samples
};

/// In the order of enum Op.
constexpr std::array<NamedOp, 14> ops{{{"instant", "point"},
                                       {"once", ""},
                                       {"mean", "mean"},
                                       {"min", "minimum"},
                                       {"max", "maximum"},
                                       {"range", "range"},
                                       {"sum", "sum"},
                                       {"rms", "root_mean_square"},
                                       {"mean_square", "mean", "of the square"},
                                       {"std", "standard_deviation"},
                                       {"count", "sum", "number of valid samples"},
                                       {"fraction", "mean", "share of valid samples"},
                                       {"difference", "sum"},
                                       {"rate", "mean"}}};

const NamedOp& named(Op op) { return ops[static_cast<std::size_t>(op)]; }

/// Returns a method of CF, with the interval and the comment in parentheses that belong to it.
std::string method(Op op, std::string_view range, std::string_view interval,
                   std::string_view note) {
    std::string comment(named(op).comment);
    if (!note.empty()) comment += fmt::format("{}{}", comment.empty() ? "" : ", ", note);
    std::string text = fmt::format("{}{}", named(op).method, range);
    if (interval.empty() && comment.empty()) return text;
    if (interval.empty()) return fmt::format("{} ({})", text, comment);
    return fmt::format("{} (interval: {}{}{})", text, interval,
                       comment.empty() ? "" : " comment: ", comment);
}

}  // namespace

std::string_view op_name(Op op) { return named(op).name; }

std::optional<Op> op_of(std::string_view name) {
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (ops[i].name == name) return static_cast<Op>(i);
    return {};
}

std::string cell_methods(std::string_view time, Op op, std::optional<Op> inner,
                         std::string_view unit, std::string_view note, std::string_view interval) {
    if (named(op).method.empty()) return {};
    if (!inner) return fmt::format("{}: {}", time, method(op, "", interval, note));
    return fmt::format("{0}: {1} {0}: {2}", time,
                       method(*inner, fmt::format(" within {}", unit), "", note),
                       method(op, fmt::format(" over {}", unit), "", ""));
}

}  // namespace thalweg::history
