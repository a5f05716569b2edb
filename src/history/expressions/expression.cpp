// SPDX-License-Identifier: Apache-2.0
#include "history/expressions/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <type_traits>
#include <utility>

namespace thalweg::history {

namespace {

constexpr std::string_view blanks = " \t\r\n", operators = "+-*/()<>=!,'";
constexpr int where_level = 0, comparison = 1, highest = 3, sign = 4, function_of_one = 5,
              function_of_several = 6;

struct Never {
    bool operator()(double, double) const { return false; }
};

template <class Value, class Misses = Never>
void apply(ElementBlock& a, const ElementBlock& b) {
    for (std::int64_t i = 0; i < ElementBlock::size; ++i)
        a.missing[i] |= b.missing[i] | static_cast<unsigned char>(Misses()(a.value[i], b.value[i]));
    for (std::int64_t i = 0; i < ElementBlock::size; ++i)
        a.value[i] = Value()(a.value[i], b.value[i]);
}

template <class Value, class Misses = Never>
constexpr Operation operation(std::string_view text, int level, Value, Misses = {}) {
    return {text, level, !std::is_same_v<Misses, Never>, apply<Value, Misses>};
}

template <class Holds>
constexpr Operation compare(std::string_view text, Holds) {
    return operation(text, comparison, [](double x, double y) {
        const double result = Holds()(x, y) ? 1 : 0;
        return x != x || y != y ? std::numeric_limits<double>::quiet_NaN() : result;
    });
}

/// Operators and functions. An operator that begins with another one, as <= does, comes before it.
constexpr std::array<Operation, 18> operations{
    operation(
        "where", where_level, [](double x, double y) { return y != y ? y : x; },
        [](double, double y) { return y == 0; }),
    compare("<=", std::less_equal<>()),
    compare(">=", std::greater_equal<>()),
    compare("==", std::equal_to<>()),
    compare("!=", std::not_equal_to<>()),
    compare("<", std::less<>()),
    compare(">", std::greater<>()),
    operation("+", 2, std::plus<>()),
    operation("-", 2, std::minus<>()),
    operation("*", highest, std::multiplies<>()),
    operation("/", highest, std::divides<>(), [](double, double y) { return y == 0; }),
    operation("-", sign, [](double x, double) { return -x; }),
    operation("abs", function_of_one, [](double x, double) { return std::abs(x); }),
    operation("exp", function_of_one, [](double x, double) { return std::exp(x); }),
    operation(
        "log", function_of_one, [](double x, double) { return std::log(x); },
        [](double x, double) { return x <= 0; }),
    operation(
        "sqrt", function_of_one, [](double x, double) { return std::sqrt(x); },
        [](double x, double) { return x < 0; }),
    operation("min", function_of_several,
              [](double x, double y) { return x < y || x != x ? x : y; }),
    operation("max", function_of_several,
              [](double x, double y) { return x > y || x != x ? x : y; })};

bool is_word(char c) {
    return blanks.find(c) == blanks.npos && operators.find(c) == operators.npos;
}

}  // namespace

bool is_name(std::string_view text) { return std::ranges::all_of(text, is_word); }

class ExpressionParser {
public:
    ExpressionParser(std::string_view text, Expression& parsed) : text_(text), parsed_(parsed) {}

    std::optional<ExpressionError> parse() {
        parsed_ = {};
        parsed_.text_ = text_;
        try {
            binary(where_level);
            skip();
            if (at_ < text_.size()) fail(fmt::format("'{}' is not expected here", next()));
            if (parsed_.names_.empty()) fail("the expression has no field");
        } catch (ExpressionError& error) {
            return std::move(error);
        }
        return {};
    }

private:
    [[noreturn]] void fail(std::string text) const { throw ExpressionError{at_, std::move(text)}; }
    void skip() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

    std::string_view next() const {
        std::size_t end = at_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        return text_.substr(at_, std::max<std::size_t>(end - at_, 1));
    }

    bool take(std::string_view wanted) {
        skip();
        const bool found =
            text_.substr(at_).starts_with(wanted) && (!is_word(wanted.front()) || next() == wanted);
        if (found) at_ += wanted.size();
        return found;
    }

    void expect(std::string_view wanted) {
        if (!take(wanted)) fail(fmt::format("'{}' is missing", wanted));
    }

    const Operation* take_operator(int level) {
        for (const Operation& each : operations)
            if (each.level == level && take(each.text)) return &each;
        return nullptr;
    }

    void binary(int level) {
        if (level > highest) return factor();
        binary(level + 1);
        const auto& program = parsed_.program_;
        const bool name = program.size() == 1 && program.front().name >= 0 && nested_ == 0;
        while (const Operation* found = take_operator(level)) {
            skip();
            if (level == where_level && name && parsed_.condition_.empty())
                parsed_.condition_ = text_.substr(at_);
            binary(level + 1);
            parsed_.program_.push_back({found});
            if (level == comparison && take_operator(level) != nullptr)
                fail("comparisons cannot follow each other: use 'where' twice, or parentheses");
        }
    }

    void factor() {
        constexpr int deepest = 100;
        if (++nested_ > deepest) fail("the expression is nested too deep");
        if (const Operation* minus = take_operator(sign)) {
            factor();
            parsed_.program_.push_back({minus});
        } else if (take("+")) {
            factor();
        } else if (take("(")) {
            binary(where_level);
            expect(")");
        } else if (take("'")) {
            const std::size_t end = text_.find('\'', at_);
            if (end == text_.npos || end == at_) fail("a name and ' are missing");
            name(text_.substr(at_, end - at_));
            ++at_;
        } else if (text_.find_first_of("0123456789", at_) - at_ <=
                   (next().starts_with('.') ? 1U : 0U)) {
            number();
        } else {
            word();
        }
        --nested_;
    }

    void number() {
        double value = 0;
        const char* const end = text_.data() + text_.size();
        const auto [after, error] = std::from_chars(text_.data() + at_, end, value);
        if (error != std::errc() || (after != end && is_word(*after)))
            fail(fmt::format("'{}' is not a number; put the name of a field in '...'", next()));
        at_ = static_cast<std::size_t>(after - text_.data());
        parsed_.program_.push_back({nullptr, -1, value});
    }

    void word() {
        const std::string_view found = next();
        if (found.empty() || !is_word(found[0]) || found == "where")
            fail("a field, a number, a function or '(' is missing");
        const std::size_t begin = at_;
        at_ += found.size();
        const bool calls = take("(");
        if (!calls) at_ = begin;
        if (!calls) return name(found);
        const auto function = std::ranges::find(operations, found, &Operation::text);
        if (function == operations.end() || function->level < function_of_one) {
            at_ = begin;
            fail(fmt::format("'{}' is none of the functions abs, exp, log, max, min, sqrt", found));
        }
        binary(where_level);
        if (function->level == function_of_one) parsed_.program_.push_back({&*function});
        if (function->level == function_of_several) expect(",");
        if (function->level == function_of_several) do {
                binary(where_level);
                parsed_.program_.push_back({&*function});
            } while (take(","));
        expect(")");
    }

    void name(std::string_view found) {
        auto& names = parsed_.names_;
        const auto same = std::ranges::find(names, found, &Expression::Name::text);
        parsed_.program_.push_back({nullptr, static_cast<int>(same - names.begin())});
        if (same == names.end()) names.push_back({std::string(found), at_});
        at_ += found.size();
    }

    std::string_view text_;
    Expression& parsed_;
    std::size_t at_ = 0;
    int nested_ = 0;
};

std::optional<ExpressionError> Expression::parse(std::string_view text, Expression& parsed) {
    return ExpressionParser(text, parsed).parse();
}

bool Expression::can_miss() const {
    return std::ranges::any_of(
        program_, [](const Step& step) { return step.operation && step.operation->can_miss; });
}

bool Expression::is_condition() const {
    const Operation* const last = program_.back().operation;
    return last != nullptr && last->level == comparison;
}

void Expression::evaluate(std::int64_t elements, double missing, const Load& load,
                          double* results) const {
    std::deque<ElementBlock> stack;
    for (std::int64_t first = 0; first < elements; first += ElementBlock::size) {
        const std::int64_t count = std::min(ElementBlock::size, elements - first);
        std::size_t height = 0;
        for (const Step& step : program_) {
            if (step.operation == nullptr && height == stack.size()) stack.emplace_back();
            if (step.name >= 0) {
                load(step.name, first, count, stack[height++]);
            } else if (step.operation == nullptr) {
                stack[height].value.fill(step.number);
                stack[height++].missing.fill(0);
            } else {
                const int level = step.operation->level;
                const bool one = level == sign || level == function_of_one;
                if (!one) --height;
                step.operation->apply(stack[height - 1], stack[one ? height - 1 : height]);
            }
        }
        for (std::int64_t i = 0; i < count; ++i)
            results[first + i] = stack[0].missing[i] != 0 ? missing : stack[0].value[i];
    }
}

}  // namespace thalweg::history
