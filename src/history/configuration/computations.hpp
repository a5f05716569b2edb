// The fields that a history computes from those of the model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/configuration/table.hpp"
#include "history/statistics/statistic.hpp"

namespace thalweg::history {

/// The way in which the history computes a field in each step.
struct Computation {
    std::vector<int> inputs;  ///< indices of the fields from which it is computed
    int like = 0;             ///< position in `inputs` of the field with the same elements
    std::optional<Expression> expression;  ///< expression of the inputs
    /// Interpolation of the first input along the second one, the coordinate; others are those of
    /// interpolate().
    std::optional<Levels> levels;
    std::int64_t line = 0;  ///< line in the configuration
};

/// A field of the model, or one that the history computes from such fields.
struct DeclaredField {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<std::string> dims;  ///< dimensions in file order, without time
    std::vector<std::int64_t> shape;
    Missing missing = Missing::none;
    Value missing_value{};
    bool has_axes = false;                ///< it has axes of longitude and latitude
    bool has_centres = false;             ///< longitudes and latitudes of its elements are declared
    std::vector<std::string> horizontal;  ///< its horizontal dimensions, as far as is known
    /// Words of its coordinates' attributes formula_terms, which may name fields: "ps:", "ps".
    std::vector<std::string> terms;
    std::shared_ptr<const Computation> computation;  ///< null: the model sends it
    std::string condition;                       ///< condition by which its values were selected
    std::string standard_name, units, positive;  ///< attributes; empty: not known
};

/// A list of the model's fields, to which computed fields are added. Streams share those that are
/// computed alike.
class Computations {
public:
    /// Reports a field that the model does not declare: line, column, name.
    using Miss = std::function<void(std::int64_t, std::int64_t, const std::string&)>;

    Computations(std::vector<DeclaredField>& fields, std::vector<Problem>& problems, Miss miss);

    /// Returns the index of the model's field with a name; -1 if there is none.
    int find(const std::string& name) const;
    /// Finds or adds the field of an expression.
    /// @param where  names the field in messages
    /// @return its index; -1 after a problem
    int add(const FieldKeys& keys, const std::string& where);

    /// Finds or adds a field that is interpolated to the levels of a stream.
    /// @param keys  of the field, whose standard name tells how it is extrapolated
    /// @return its index; -1 after a problem
    int interpolate(const StreamTable& stream, int field, const FieldKeys& keys);

private:
    std::string find_inputs(const DeclaredField& from, Computation& how);
    std::string check_units(const Computation& how, const std::string& units) const;
    int add(DeclaredField field);

    std::vector<DeclaredField>& fields_;
    std::vector<Problem>& problems_;
    Miss miss_;
    std::map<std::string, int, std::less<>> positions_;
    std::map<std::string, int, std::less<>> computed_;  ///< key: text of a computation
};

}  // namespace thalweg::history
