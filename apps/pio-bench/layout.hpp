// What a rank holds of a variable, in the two forms that the methods want: blocks (or a list of
// indices), and the degrees of freedom of PIO.
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
    std::vector<std::int64_t> start, count;  // in the order of memory, slowest first
};

struct Layout {
    std::string name;
    std::vector<Dim> dims;    // in file order, slowest first, without time; none: a scalar
    std::vector<int> memory;  // which of them is the slowest in memory, the next, ...
    std::vector<Block> blocks{};
    std::int64_t halo = 0;  // elements around a block along the two fastest dimensions
    std::vector<std::int64_t> indices{};  // in place of blocks: over all dimensions; -1: a hole
    bool is_list = false;

    std::int64_t global_elements() const;
    std::int64_t local_elements() const;  // halos and holes included
    std::int64_t halo_of(std::size_t d) const { return d + 2 < memory.size() ? 0 : halo; }

    // Of each element in memory, its index in the file from 1; 0: a hole.
    std::vector<std::int64_t> degrees_of_freedom() const;
};

}  // namespace pio_bench
