// Destinations of reads: arrays of a model's ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "measurement.hpp"
#include "problem.hpp"

namespace thalweg::bench {

/// Arrays for a rank's fields at a given address, with the layout of the problem's own.
struct Arrays {
    const Problem& problem;
    std::byte* memory;

    void* of(const Variable& v) const {
        return memory + (static_cast<const std::byte*>(problem.values(v, 0)) - problem.memory());
    }
};

/// Memory for a rank's fields, in huge pages if possible. All of it has been touched.
class Fields {
public:
    explicit Fields(std::int64_t bytes);
    std::byte* data() const { return memory_.get(); }
    void clear();

private:
    struct Free {
        void operator()(std::byte* p) const;
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> memory_;
};

/// Compares the arrays with the fields written in a step; returns the difference, or an empty text.
/// @note Collective
std::string compare(const RankGroup& rank_group, const Arrays& arrays, int step);

}  // namespace thalweg::bench
