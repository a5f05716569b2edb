// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>

#include "copy_block.hpp"

namespace thalweg::bench {
namespace {

constexpr std::int64_t field_alignment = 64;

std::int64_t product(const std::vector<std::int64_t>& v) {
    return std::accumulate(v.begin(), v.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + field_alignment - 1) / field_alignment * field_alignment;
}

/// Divides [start, start + count) into `parts` parts, and reduces it to part `which`.
void keep_part(std::int64_t& start, std::int64_t& count, std::int64_t which, std::int64_t parts) {
    const std::int64_t low = count * which / parts;
    const std::int64_t high = count * (which + 1) / parts;
    start += low;
    count = high - low;
}

template <class T>
void fill_field(const Group& g, std::uint32_t field, T* out) {
    const std::size_t nd = g.shape.size();
    if (nd == 0) {
        *out = field_number<T>(field, 0);
        return;
    }
    if (g.part.elements() == 0) return;
    const std::vector<std::int64_t> stride = row_major_strides(g.shape);
    // Go through the box in memory order; `at` is the row-major index in the whole array.
    std::vector<std::int64_t> count(nd), step(nd), index(nd, 0);
    std::int64_t base = 0;
    for (std::size_t m = 0; m < nd; ++m) {
        count[m] = g.part.count[g.memory_axis[m]];
        step[m] = stride[g.memory_axis[m]];
        base += g.part.start[m] * stride[m];
    }
    for (;;) {
        std::int64_t at = base;
        for (std::size_t m = 0; m + 1 < nd; ++m) at += index[m] * step[m];
        for (std::int64_t i = 0; i < count[nd - 1]; ++i)
            *out++ = field_number<T>(field, at + i * step[nd - 1]);
        std::size_t m = nd - 1;
        while (m > 0 && ++index[m - 1] == count[m - 1]) index[--m] = 0;
        if (m == 0) return;
    }
}

}  // namespace

std::int64_t Part::elements() const { return product(count); }
std::int64_t Group::elements() const { return product(shape); }

void Problem::Free::operator()(std::byte* p) const { std::free(p); }

Problem::Problem(const Options& options, int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      workload_(find_workload(options)),
      grid_(process_grid(workload_, options.grid, ranks)) {
    for (const VariableGroup& spec : workload_.groups) {
        Group g;
        g.spec = &spec;
        g.first = static_cast<int>(variables_.size());
        g.replicated = spec.file_order.empty();
        g.same_order = spec.file_order == spec.memory_order;
        for (const std::string& name : spec.file_order)
            for (const Dimension& d : workload_.dims)
                if (d.name == name) g.shape.push_back(d.length);
        for (const std::string& name : spec.memory_order) {
            const auto at = std::find(spec.file_order.begin(), spec.file_order.end(), name);
            g.memory_axis.push_back(static_cast<int>(at - spec.file_order.begin()));
        }
        g.part = part_of(g, rank);

        const int group = static_cast<int>(groups_.size());
        const int width = spec.count > 99 ? 3 : 2;
        for (int i = 0; i < spec.count; ++i) {
            variables_.push_back({fmt::format("{}{:0{}}", spec.prefix, i + 1, width), group, i});
            offsets_.push_back(memory_bytes_);
            memory_bytes_ += aligned(g.local_bytes());
        }
        step_bytes_ += g.bytes() * spec.count;
        groups_.push_back(std::move(g));
    }
}

std::vector<int> Problem::grid_position(int rank) const {
    std::vector<int> position(grid_.size());
    const auto take = [&](std::size_t axis) {
        position[axis] = rank % grid_[axis];
        rank /= grid_[axis];
    };
    take(workload_.fastest);
    for (std::size_t a = 0; a < grid_.size(); ++a)
        if (a != workload_.fastest) take(a);
    return position;
}

Part Problem::part_of(const Group& g, int rank) const {
    Part part{std::vector<std::int64_t>(g.shape.size(), 0), g.shape};
    if (g.replicated) return part;

    // Returns the file dimension that an axis divides; -1 if there is none.
    const auto cut_by = [&](std::size_t axis) {
        const auto& order = g.spec->file_order;
        for (const std::string& name : workload_.axes[axis]) {
            const auto at = std::find(order.begin(), order.end(), name);
            if (at != order.end()) return static_cast<int>(at - order.begin());
        }
        return -1;
    };
    // If the group lacks some axes, `spare` ranks still have the same block, which they divide.
    const std::vector<int> position = grid_position(rank);
    std::int64_t spare = 1, which = 0;
    int first_cut = -1;
    for (std::size_t a = 0; a < grid_.size(); ++a) {
        const int d = cut_by(a);
        if (d < 0) {
            which += position[a] * spare;
            spare *= grid_[a];
            continue;
        }
        keep_part(part.start[d], part.count[d], position[a], grid_[a]);
        if (first_cut < 0) first_cut = d;
    }
    if (spare > 1) {
        if (first_cut < 0) first_cut = 0;
        keep_part(part.start[first_cut], part.count[first_cut], which, spare);
    }
    return part;
}

std::int64_t Problem::largest_variable_bytes() const {
    std::int64_t most = 0;
    for (const Group& g : groups_) most = std::max(most, g.bytes());
    return most;
}

std::int64_t Problem::largest_part_bytes() const {
    std::int64_t most = 0;
    for (const Group& g : groups_) most = std::max(most, g.local_bytes());
    return most;
}

void Problem::fill() {
    const std::int64_t bytes = std::max(memory_bytes_, field_alignment);
    memory_.reset(static_cast<std::byte*>(
        std::aligned_alloc(field_alignment, static_cast<std::size_t>(bytes))));
    if (!memory_) throw std::bad_alloc();
    for (const Variable& v : variables_) {
        const Group& g = group(v);
        std::byte* out = memory_.get() + offsets_[g.first + v.member];
        const std::uint32_t f = field(v, 0);
        if (g.spec->type == Element::f4)
            fill_field(g, f, reinterpret_cast<float*>(out));
        else
            fill_field(g, f, reinterpret_cast<double*>(out));
    }
}

std::uint32_t Problem::field(const Variable& v, int step) const {
    const Group& g = group(v);
    return static_cast<std::uint32_t>(g.first + (v.member + step) % g.spec->count);
}

const void* Problem::values(const Variable& v, int step) const {
    return memory_.get() + offsets_[field(v, step)];
}

}  // namespace thalweg::bench
