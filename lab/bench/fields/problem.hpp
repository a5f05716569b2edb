// A workload on the given ranks: what they hold, and the fields.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fields/lists.hpp"
#include "fields/workload.hpp"

namespace thalweg::bench {

/// A box of a group's index space, in file order, slowest first.
struct Part {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;

    std::int64_t elements() const;
};

/// A group of variables of one shape, and the elements that this rank holds: boxes, or a list.
struct Group {
    const VariableGroup* spec = nullptr;
    std::vector<std::int64_t> shape;  ///< lengths in file order
    std::vector<int> memory_axis;     ///< dimension in the file of each memory dimension
    std::vector<Part> boxes{};
    std::int64_t halo = 0;  ///< width of the halo around a box along the two fastest dimensions
    std::optional<List> list{};
    bool replicated = false;
    bool same_order = false;  ///< memory order is the same as file order
    int first = 0;            ///< index of the group's first variable

    const Part& part() const { return boxes.front(); }
    std::int64_t halo_of(std::size_t m) const { return m + 2 < memory_axis.size() ? 0 : halo; }
    std::int64_t elements() const;  ///< elements of one variable, over all ranks
    std::int64_t local_elements()
        const;  ///< elements in this rank's array, halos and holes included
    std::int64_t bytes() const { return elements() * element_bytes(spec->type); }
    std::int64_t local_bytes() const { return local_elements() * element_bytes(spec->type); }
    /// Returns the indices in the file of this rank's elements, in memory order; -1 in a halo or
    /// hole.
    std::vector<std::int64_t> indices() const;
};

struct Variable {
    std::string name;
    int group = 0;
    int member = 0;  ///< index of the variable in the group
};

/// The form in which ranks hold a workload of lists: own: as the workload says; box: blocks of an
/// array of the same shape; flattened: lists over all dimensions.
enum class Share { own, box, flattened };

class Problem {
public:
    /// Throws UsageError if the grid does not fit the workload.
    Problem(Workload workload, const std::string& grid, int rank, int ranks,
            Share share = Share::own);
    Problem(const Problem&) = delete;  // groups point into the workload, which must not move
    Problem& operator=(const Problem&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    const Workload& workload() const { return workload_; }
    const std::vector<int>& grid() const { return grid_; }
    const std::vector<Group>& groups() const { return groups_; }
    const std::vector<Variable>& variables() const { return variables_; }
    const Group& group(const Variable& v) const { return groups_[v.group]; }
    Share share() const { return share_; }

    /// Returns the part of a group that a rank holds in a distribution of boxes.
    Part part_of(const Group& group, int rank) const;

    /// Returns the size in bytes of all variables in one step, over all ranks.
    std::int64_t step_bytes() const { return step_bytes_; }
    std::int64_t largest_variable_bytes() const;
    std::int64_t largest_part_bytes() const;  ///< of this rank

    /// Makes the fields. This is not done by the constructor, because memory must be warmed up
    /// before.
    void fill();

    /// Returns a variable's values on this rank in a step, in memory order. Values never change, so
    /// that no time is spent on them; instead, the variables of a group exchange their fields from
    /// step to step.
    const void* values(const Variable& v, int step) const {
        return memory_.get() + offset(v, step);
    }
    /// Returns the offset of these values in arrays of all fields.
    std::int64_t offset(const Variable& v, int step) const { return offsets_[field(v, step)]; }

    /// Returns the number of a variable's field in a step, which is an argument of field_value().
    std::uint32_t field(const Variable& v, int step) const {
        const Group& g = group(v);
        return static_cast<std::uint32_t>(g.first + (v.member + step) % g.spec->count);
    }

    /// Returns all fields of this rank, one after another.
    const std::byte* memory() const { return memory_.get(); }
    std::int64_t memory_bytes() const { return memory_bytes_; }

private:
    void hold(Group& group);
    std::vector<int> grid_position(int rank) const;  ///< index of a rank along each axis

    struct Free {
        void operator()(std::byte* p) const;
    };

    int rank_;
    int ranks_;
    Share share_;
    Workload workload_;
    std::vector<int> grid_;
    IndexMap map_;
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
