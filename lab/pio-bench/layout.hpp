// The elements of a variable that a rank holds, in the two forms that the methods need: blocks (or
// a list of indices), and the degrees of freedom of PIO.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pio_bench {

struct Dim {
    std::string name;
    std::int64_t length;
};

struct Block {
    std::vector<std::int64_t> start, count;  // in memory order, slowest first
};

struct Layout {
    std::string name;
    std::vector<Dim> dims;    // dimensions in file order, slowest first, without time; empty for a
                              // scalar
    std::vector<int> memory;  // index in `dims` of each memory dimension, slowest first
    std::vector<Block> blocks{};
    std::int64_t halo = 0;  // width of the halo around a block along the two fastest dimensions
    // Used in place of blocks: row-major indices over all dimensions; -1 is a hole.
    std::vector<std::int64_t> indices{};
    bool is_list = false;

    std::int64_t global_elements() const;
    std::int64_t local_elements() const;  // number of elements, including halos and holes
    std::int64_t halo_of(std::size_t d) const { return d + 2 < memory.size() ? 0 : halo; }

    // Returns, for each element in memory, its index in the file counted from 1; 0 for a hole.
    std::vector<std::int64_t> degrees_of_freedom() const;
};

}  // namespace pio_bench
