// Index maps: the elements of a variable that each rank of an unstructured model holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "irregular/list.hpp"
#include "measurement.hpp"

namespace thalweg::bench::irregular {

struct IndexMap {
    std::string name;
    std::string text;  ///< description of the map, with the changes that were made to it
    List flattened;    ///< list of the elements over all dimensions
    /// The same elements with the first or the last dimension left out of the list, if all ranks
    /// hold its full length.
    std::optional<List> factored{};
    std::int64_t held = 0;    ///< number of elements that at least one rank holds
    std::int64_t pieces = 0;  ///< number of runs in the file, summed over all ranks

    const List& shortest() const { return factored ? *factored : flattened; }
    const std::vector<Dim>& dims() const { return flattened.dims; }
    std::int64_t elements() const { return flattened.listed(); }
    bool covers() const { return held == elements(); }
};

/// Returns pairs (index in the file, position in memory) of a list's elements, sorted by index.
std::vector<std::pair<std::int64_t, std::int64_t>> in_file_order(const List& list);

/// Computes the other members of a map from `flattened`.
/// @note Collective
void complete(const RankGroup& rank_group, IndexMap& map);

/// Reads the decompositions `chosen` (empty: all) from a file in the format of the E3SM-IO
/// benchmark. With another number of ranks than the file's, rank r of P gets its lists r, r + P,
/// ... Throws UsageError.
/// @note Collective
std::vector<IndexMap> read_maps(const RankGroup& rank_group, const std::string& path,
                                const std::vector<int>& chosen);

/// Generates the map "f", "g", "c" or "i" with about `elements` elements. Throws UsageError.
/// @note Collective
IndexMap generate_map(const RankGroup& rank_group, const std::string& kind, std::int64_t elements,
                      std::uint64_t seed);

}  // namespace thalweg::bench::irregular
