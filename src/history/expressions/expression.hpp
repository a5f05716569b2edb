// Expressions of fields, such as "sqrt(u*u + v*v)" or "t where siconc > 0.15".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::history {

struct ExpressionError {
    std::size_t at = 0;  ///< position in the text, from 0
    std::string text;
};

/// Values of some elements; a mark that is not 0 says that the value is missing.
struct ElementBlock {
    static constexpr std::int64_t size = 256;
    std::array<double, size> value{};
    std::array<unsigned char, size> missing{};
};

/// An operator or a function. Its result replaces the one or two values of the stack it takes.
struct Operation {
    std::string_view text;
    int level;      ///< higher levels are applied first; or function_of_one, function_of_several
    bool can_miss;  ///< the result may be missing although no value is
    void (*apply)(ElementBlock& a, const ElementBlock& b);
};

/// An expression, computed element by element. It consists of numbers, names, the operators (lowest
/// precedence first: where; comparisons, which give 1 or 0; + and -; * and /; signs), and the
/// functions abs, exp, log, sqrt, min, max; the last two take several values. A name that contains
/// characters of operators stands in apostrophes.
class Expression {
public:
    struct Name {
        std::string text;
        std::size_t at = 0;
    };
    /// A step of the computation: an operation, or a value to be added to a stack.
    struct Step {
        const Operation* operation = nullptr;
        int name = -1;  ///< index of the name; -1: the value is a number
        double number = 0;
    };

    /// Parses a text. @return the first error
    static std::optional<ExpressionError> parse(std::string_view text, Expression& parsed);

    const std::string& text() const { return text_; }
    /// Returns the names, each once, in the order in which they appear.
    const std::vector<Name>& names() const { return names_; }
    /// Tests if a result can be missing although all values are present.
    bool can_miss() const;
    bool is_condition() const;
    /// Returns the text after "where" in "t where siconc > 0.15" and the like; otherwise "".
    const std::string& condition() const { return condition_; }

    /// Loads the values of a name: (index of the name, first element, count, block).
    using Load = std::function<void(int, std::int64_t, std::int64_t, ElementBlock&)>;
    /// Computes the expression in double. A result is missing if one of its values is, if a divisor
    /// is 0, if a root or logarithm does not exist, or if a condition is 0. A NaN stays a NaN.
    /// @param missing  value of missing results
    void evaluate(std::int64_t elements, double missing, const Load& load, double* results) const;

private:
    friend class ExpressionParser;

    std::string text_, condition_;
    std::vector<Name> names_;
    std::vector<Step> program_;
};

/// Tests if a text is a name, not an expression.
bool is_name(std::string_view text);

}  // namespace thalweg::history
