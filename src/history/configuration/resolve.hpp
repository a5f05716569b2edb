// The fields of each stream: the configuration applied to the fields that the model declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/configuration/computations.hpp"

namespace thalweg::history {

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
    std::vector<std::string> reduced;
    /// Each sample is reduced, because a reduction of the operation's result would give other
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
std::vector<Problem> resolve(const Table& table, std::vector<DeclaredField>& fields,
                             std::vector<ResolvedStream>& streams,
                             std::vector<std::string>& warnings);

}  // namespace thalweg::history
