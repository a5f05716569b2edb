// Lists of indices: the elements that each rank of an unstructured model holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::bench {

/// The elements of a rank: a list over some adjacent dimensions, with the full length of the
/// others. In memory, the listed dimensions are replaced by a single one with the length of the
/// list; the order of dimensions is that of the file.
struct List {
    std::vector<std::int64_t> shape;  ///< lengths of all dimensions in file order, slowest first
    std::size_t first = 0;            ///< listed dimensions are those in [first, first + count)
    std::size_t count = 0;
    std::vector<std::int64_t> indices{};  ///< row-major indices over the listed dimensions; -1 is a
                                          ///< hole

    std::int64_t product(std::size_t from, std::size_t to) const;
    std::int64_t listed() const { return product(first, first + count); }
    std::int64_t local_elements() const {
        return product(0, first) * static_cast<std::int64_t>(indices.size()) *
               product(first + count, shape.size());
    }
    /// Calls f(position in memory, index in the file) for each element; the index is -1 for holes.
    template <class F>
    void for_each(F f) const {
        const std::int64_t n = listed(), inner = product(first + count, shape.size());
        std::int64_t at = 0;
        for (std::int64_t b = 0; b < product(0, first); ++b)
            for (const std::int64_t index : indices)
                for (std::int64_t a = 0; a < inner; ++a, ++at)
                    f(at, index < 0 ? -1 : (b * n + index) * inner + a);
    }
};

/// The lists of this rank for one shape.
struct IndexMap {
    List flattened;  ///< list of the elements over all dimensions
    /// The same elements with the first or the last dimension left out of the list, if all ranks
    /// hold its full length.
    std::optional<List> factored{};

    const List& shortest() const { return factored ? *factored : flattened; }
};

/// Generates a rank's lists like those of E3SM, from the indices alone.
/// @param kind   f: columns, in chunks from all over the grid; g: cells, along a curve; i: land
///               points
/// @param shape  lengths in file order: f (levels, columns); g (cells, levels); i (latitudes,
///               longitudes)
/// @param flattened  also make the list over all dimensions of a map that has a shorter one
IndexMap generate_map(const std::string& kind, const std::vector<std::int64_t>& shape, int rank,
                      int ranks, bool flattened);

}  // namespace thalweg::bench
