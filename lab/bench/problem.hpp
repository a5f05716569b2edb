// A workload on the given ranks: their parts, and the fields.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload.hpp"

namespace thalweg::bench {

/// A box of a group's index space, in file order, slowest first.
struct Part {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;

    std::int64_t elements() const;
};

/// A group of variables of one shape.
struct Group {
    const VariableGroup* spec = nullptr;
    std::vector<std::int64_t> shape;  ///< lengths in file order
    std::vector<int> memory_axis;     ///< dimension in the file of each memory dimension
    Part part;                        ///< elements that this rank holds
    bool replicated = false;
    bool same_order = false;  ///< memory order is the same as file order
    int first = 0;            ///< index of the group's first variable

    std::int64_t elements() const;  ///< elements of one variable, over all ranks
    std::int64_t bytes() const { return elements() * element_bytes(spec->type); }
    std::int64_t local_bytes() const { return part.elements() * element_bytes(spec->type); }
};

struct Variable {
    std::string name;
    int group = 0;
    int member = 0;  ///< index of the variable in the group
};

class Problem {
public:
    /// Throws UsageError if the options do not fit the workload.
    Problem(const Options& options, int rank, int ranks);
    Problem(const Problem&) = delete;  // groups point into the workload, which must not move
    Problem& operator=(const Problem&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    const Workload& workload() const { return workload_; }
    const std::vector<int>& grid() const { return grid_; }
    const std::vector<Group>& groups() const { return groups_; }
    const std::vector<Variable>& variables() const { return variables_; }
    const Group& group(const Variable& v) const { return groups_[v.group]; }

    /// Returns the part of a group that a rank holds.
    Part part_of(const Group& group, int rank) const;

    /// Returns the size in bytes of all variables in one step, over all ranks.
    std::int64_t step_bytes() const { return step_bytes_; }
    /// The following functions return sizes in bytes: of the largest variable; of the largest part
    /// of this rank; of all parts of this rank.
    std::int64_t largest_variable_bytes() const;
    std::int64_t largest_part_bytes() const;

    /// Makes the fields. This is not done by the constructor, because memory must be warmed up
    /// before.
    void fill();

    /// Returns a variable's values on this rank in a step, in memory order. Values never change, so
    /// that no time is spent on them; instead, the variables of a group exchange their fields from
    /// step to step.
    const void* values(const Variable& v, int step) const;

    /// Returns the number of a variable's field in a step, which is an argument of field_value().
    std::uint32_t field(const Variable& v, int step) const;

    /// Returns all fields of this rank, one after another.
    const std::byte* memory() const { return memory_.get(); }
    std::int64_t memory_bytes() const { return memory_bytes_; }

private:
    std::vector<int> grid_position(int rank) const;  ///< index of a rank along each axis

    struct Free {
        void operator()(std::byte* p) const;
    };

    int rank_;
    int ranks_;
    Workload workload_;
    std::vector<int> grid_;
    std::vector<Group> groups_;
    std::vector<Variable> variables_;
    std::vector<std::int64_t> offsets_;  ///< offset of each variable's first field in memory_
    std::unique_ptr<std::byte, Free> memory_;
    std::int64_t memory_bytes_ = 0;
    std::int64_t step_bytes_ = 0;
};

/// Returns the value of a field at a row-major global index. It has 24 bits, which a float
/// represents exactly, and differs between neighbours. Any rank can thus check any element of a
/// file without having the data.
inline std::uint32_t field_value(std::uint32_t field, std::int64_t index) {
    std::uint32_t x = static_cast<std::uint32_t>(index) * 0x9E3779B1u ^
                      static_cast<std::uint32_t>(index >> 32) * 0x85EBCA77u ^
                      (field + 1) * 0xC2B2AE3Du;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    return x >> 8;
}

template <class T>
T field_number(std::uint32_t field, std::int64_t index) {
    return static_cast<T>(field_value(field, index)) * static_cast<T>(1.0 / 4096);
}

}  // namespace thalweg::bench
