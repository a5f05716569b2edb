// The variables of a model's output step and how its ranks hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"
#include "options.hpp"

namespace pio_bench {

struct Variable {
    std::string name;
    int layout;
    std::vector<float> values{};  // values of this rank; scalars are written as doubles
};

struct Workload {
    std::string name, text;
    int steps = 1;
    bool file_per_step = false;  // initialize and end the library with each file
    std::vector<Layout> layouts{};
    std::vector<Variable> variables{};

    const Layout& layout_of(const Variable& v) const {
        return layouts[static_cast<std::size_t>(v.layout)];
    }
    std::int64_t bytes() const;  // size of a step in the file, in bytes
};

// Makes a workload with the values of this rank. Throws std::runtime_error for an unknown name.
Workload make_workload(const Options& options, int rank, int ranks);

// Returns the value of an element of a variable.
float value_of(int variable, std::int64_t index);

std::string workload_list();

}  // namespace pio_bench
