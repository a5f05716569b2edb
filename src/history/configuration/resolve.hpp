// The fields of each stream: the configuration applied to the fields that the model declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
    /// Interpolation of the first input along the second one; others are those of interpolate().
    std::optional<Levels> levels;
    std::int64_t line = 0;  ///< line in the configuration
};

/// A field of the model, or one that the history computes from such fields.
struct DeclaredField {
    std::string name;
    tw_type type = TW_FLOAT;
    Names dims;  ///< dimensions in file order, without time
    std::vector<std::int64_t> shape;
    Missing missing = Missing::none;
    Value missing_value{};
    bool has_axes = false;     ///< it has axes of longitude and latitude
    bool has_centres = false;  ///< longitudes and latitudes of its elements are declared
    Names horizontal;          ///< its horizontal dimensions, as far as is known
    /// Words of its coordinates' attributes formula_terms, which may name fields: "ps:", "ps".
    Names terms;
    std::shared_ptr<const Computation> computation;  ///< null: the model sends it
    std::string condition;                       ///< condition by which its values were selected
    std::string standard_name, units, positive;  ///< attributes; empty: not known
};

/// A list of the model's fields and of computed ones, which streams share if they are alike.
class Computations {
public:
    /// Reports a field that the model does not declare: line, name, column.
    using Miss = std::function<void(std::int64_t, const std::string&, std::int64_t)>;

    Computations(std::vector<DeclaredField>& fields, Problems& problems, Miss miss);

    /// @return index of the model's field; -1 if there is none
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
    Problems& problems_;
    Miss miss_;
    std::map<std::string, int, std::less<>> positions_;
    std::map<std::string, int, std::less<>> computed_;  ///< key: text of a computation
};

/// One variable of a stream.
struct StreamField {
    std::string name;  ///< name of the variable in the file
    int declared = 0;  ///< index of the model's field
    int weight = -1;   ///< index of the weight field; -1: none
    Statistic statistic;
    std::optional<Inner> inner;
    tw_type type = TW_FLOAT;  ///< type in the file
    int bin = -1;             ///< bin of the stream's cycle; -1: there is none
    /// Keys for attributes: those of the stream and those for all streams.
    FieldKeys keys;
    /// Dimensions over which it is reduced; empty: it is not reduced.
    Names reduced;
    /// Each sample is reduced or mapped, because a reduction or map of the results would give other
    /// values.
    bool reduces_samples = false;
    /// A coordinate of another variable of the same file names it in formula_terms. If each
    /// variable has a file, it belongs to that of the last variable before it that is no term.
    bool term = false;
};

struct ResolvedStream {
    int table = 0;  ///< index in Table::streams
    std::vector<StreamField> fields;
};

/// Lets a statistic take the results of a reduction or map as its samples.
void set_reduced_samples(Statistic& statistic);

/// Sets in the rules of windows whether the samples of fields are split at their boundaries.
void set_splits(const StreamTable& stream, std::span<const StreamField> fields, WindowRules& rules);

/**
 * Applies selectors and overrides, and makes the checks that need the declared fields: selectors
 * that match nothing, unknown fields, weights with other dimensions, regions without coordinates,
 * levels.
 * @param fields    fields that the model declares; receives those that are computed, too
 * @param warnings  receives missing fields, where the configuration says so
 * @return problems, empty if all is right
 */
Problems resolve(const Table& table, std::vector<DeclaredField>& fields,
                 std::vector<ResolvedStream>& streams, Names& warnings);

}  // namespace thalweg::history
