// Index maps: the elements of a variable that each rank of an unstructured model holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measurement.hpp"

namespace thalweg::bench::irregular {

struct Dim {
    std::string name;
    std::int64_t length;
};

/// What a rank holds: a list over some adjacent dimensions, the others whole. In memory the listed
/// dimensions are one, as long as the list; their order is that of the file.
struct List {
    std::vector<Dim> dims;  ///< all, in file order, slowest first
    std::size_t first = 0;  ///< the listed ones are [first, first + count)
    std::size_t count = 0;
    std::vector<std::int64_t> indices{};  ///< flattened over the listed dimensions; -1: a hole

    std::int64_t before() const { return product(0, first); }
    std::int64_t listed() const { return product(first, first + count); }
    std::int64_t after() const { return product(first + count, dims.size()); }
    std::int64_t local_elements() const {
        return before() * static_cast<std::int64_t>(indices.size()) * after();
    }
    /// Names of all dimensions, of the listed ones; separated by blanks.
    std::string names() const { return join(0, dims.size()); }
    std::string listed_names() const { return join(first, first + count); }

    /// f(position in memory, index in the file) of every element that is no hole.
    template <class F>
    void for_each(F f) const {
        const std::int64_t n = listed(), inner = after(), outer = before();
        std::int64_t at = 0;
        for (std::int64_t b = 0; b < outer; ++b)
            for (const std::int64_t index : indices)
                for (std::int64_t a = 0; a < inner; ++a, ++at)
                    if (index >= 0) f(at, (b * n + index) * inner + a);
    }

private:
    std::int64_t product(std::size_t from, std::size_t to) const;
    std::string join(std::size_t from, std::size_t to) const;
};

struct IndexMap {
    std::string name;
    std::string text;  ///< what it is, with what was changed
    List flattened;    ///< over all dimensions
    /// The same elements, and the first or the last dimension whole, where it is so on all ranks.
    std::optional<List> factored{};
    std::int64_t held = 0;    ///< elements that any rank holds
    std::int64_t pieces = 0;  ///< contiguous in the file, of all ranks

    const List& shortest() const { return factored ? *factored : flattened; }
    const std::vector<Dim>& dims() const { return flattened.dims; }
    std::int64_t elements() const { return flattened.listed(); }
    bool covers() const { return held == elements(); }
};

/// (index in the file, position in memory) of a list's elements, by index.
std::vector<std::pair<std::int64_t, std::int64_t>> in_file_order(const List& list);

/// Fills in what follows from `flattened`. @note Collective
void complete(const Meeting& meeting, IndexMap& map);

/// The decompositions of a file of the E3SM-IO benchmark's format; `chosen`: their numbers, empty
/// for all. With another number of ranks than the file's, rank r of P has its lists r, r + P, ...
/// Throws UsageError. @note Collective
std::vector<IndexMap> read_maps(const Meeting& meeting, const std::string& path,
                                const std::vector<int>& chosen);

/// The map "f", "g" or "i" of about so many elements. Throws UsageError. @note Collective
IndexMap generate_map(const Meeting& meeting, const std::string& kind, std::int64_t elements,
                      std::uint64_t seed);

}  // namespace thalweg::bench::irregular
