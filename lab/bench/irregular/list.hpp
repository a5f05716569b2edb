// The elements of a variable that a rank of an unstructured model holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::bench::irregular {

struct Dim {
    std::string name;
    std::int64_t length;
};

/// The elements of a rank: a list over some adjacent dimensions, with the full length of the
/// others. In memory, the listed dimensions are replaced by a single one with the length of the
/// list; the order of dimensions is that of the file.
struct List {
    std::vector<Dim> dims;  ///< all dimensions in file order, slowest first
    std::size_t first = 0;  ///< listed dimensions are those in [first, first + count)
    std::size_t count = 0;
    std::vector<std::int64_t> indices{};  ///< row-major indices over the listed dimensions; -1 is a
                                          ///< hole

    std::int64_t before() const { return product(0, first); }
    std::int64_t listed() const { return product(first, first + count); }
    std::int64_t after() const { return product(first + count, dims.size()); }
    std::int64_t local_elements() const {
        return before() * static_cast<std::int64_t>(indices.size()) * after();
    }
    /// Returns the names of all dimensions, or of the listed ones, separated by blanks.
    std::string names() const { return join(0, dims.size()); }
    std::string listed_names() const { return join(first, first + count); }

    /// Calls f(position in memory, index in the file) for each element that is not a hole.
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

}  // namespace thalweg::bench::irregular
