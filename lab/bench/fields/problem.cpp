// SPDX-License-Identifier: Apache-2.0
#include "fields/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>

namespace thalweg::bench {
namespace {

constexpr std::int64_t field_alignment = 64;

std::int64_t product(const std::vector<std::int64_t>& v) {
    return std::accumulate(v.begin(), v.end(), std::int64_t{1}, std::multiplies<>());
}

/// Divides [start, start + count) into `parts` parts, and reduces it to part `which`.
void keep_part(std::int64_t& start, std::int64_t& count, std::int64_t which, std::int64_t parts) {
    const std::int64_t low = count * which / parts;
    const std::int64_t high = count * (which + 1) / parts;
    start += low;
    count = high - low;
}

/// Calls f(position in memory, index in the file) for each element of a rank, in memory order; the
/// index is -1 in a halo or hole.
template <class F>
void for_each(const Group& g, F f) {
    if (g.list) return g.list->for_each(f);
    const std::size_t nd = g.shape.size();
    std::int64_t at = 0;
    if (nd == 0) return f(at, std::int64_t{0});
    std::vector<std::int64_t> stride(nd, 1), index(nd);
    for (std::size_t d = nd - 1; d-- > 0;) stride[d] = stride[d + 1] * g.shape[d + 1];
    for (const Part& box : g.boxes) {
        if (box.elements() == 0) continue;
        for (std::size_t m = 0; m < nd; ++m) index[m] = -g.halo_of(m);
        for (std::size_t m = nd; m > 0;) {
            std::int64_t element = 0;
            bool inside = true;
            for (std::size_t i = 0; i < nd; ++i) {
                const auto d = static_cast<std::size_t>(g.memory_axis[i]);
                inside = inside && index[i] >= 0 && index[i] < box.count[d];
                element += (box.start[d] + index[i]) * stride[d];
            }
            f(at++, inside ? element : -1);
            for (m = nd; m > 0; --m) {
                const std::int64_t halo = g.halo_of(m - 1);
                if (++index[m - 1] <
                    box.count[static_cast<std::size_t>(g.memory_axis[m - 1])] + halo)
                    break;
                index[m - 1] = -halo;
            }
        }
    }
}

}  // namespace

std::int64_t Part::elements() const { return product(count); }
std::int64_t Group::elements() const { return product(shape); }

std::int64_t Group::local_elements() const {
    if (list) return list->local_elements();
    std::int64_t all = 0;
    for (const Part& box : boxes) {
        std::int64_t n = 1;
        for (std::size_t m = 0; m < shape.size(); ++m)
            n *= box.count[static_cast<std::size_t>(memory_axis[m])] + 2 * halo_of(m);
        all += box.elements() == 0 ? 0 : n;
    }
    return all;
}

std::vector<std::int64_t> Group::indices() const {
    std::vector<std::int64_t> found;
    for_each(*this, [&](std::int64_t, std::int64_t index) { found.push_back(index); });
    return found;
}

void Problem::Free::operator()(std::byte* p) const { std::free(p); }

Problem::Problem(Workload workload, const std::string& grid, int rank, int ranks, Share share)
    : rank_(rank),
      ranks_(ranks),
      share_(share),
      workload_(std::move(workload)),
      grid_(process_grid(workload_, grid, ranks)) {
    if (share == Share::own && workload_.flattened) share_ = Share::flattened;
    if (!workload_.list.empty() && share_ != Share::box) {
        std::vector<std::int64_t> shape;
        for (const Dimension& d : workload_.dims) shape.push_back(d.length);
        map_ = generate_map(workload_.list, shape, rank, ranks, share_ == Share::flattened);
    }
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
        hold(g);
        const int group = static_cast<int>(groups_.size());
        const int width = spec.count > 99 ? 3 : 2;
        for (int i = 0; i < spec.count; ++i) {
            variables_.push_back({fmt::format("{}{:0{}}", spec.prefix, i + 1, width), group, i});
            offsets_.push_back(memory_bytes_);
            memory_bytes_ +=
                (g.local_bytes() + field_alignment - 1) / field_alignment * field_alignment;
        }
        step_bytes_ += g.bytes() * spec.count;
        groups_.push_back(std::move(g));
    }
    memory_bytes_ = std::max(memory_bytes_, field_alignment);
}

/// Sets what this rank holds of a group.
void Problem::hold(Group& g) {
    if (!map_.flattened.shape.empty() && share_ != Share::box) {
        if (g.shape.size() == map_.flattened.shape.size())
            g.list = share_ == Share::flattened ? map_.flattened : map_.shortest();
        else  // variables without levels
            g.list = List{g.shape, 0, 1, map_.shortest().indices};
        return;
    }
    if (workload_.block[0] == 0) {
        g.boxes = {part_of(g, rank_)};
        return;
    }
    const std::size_t y = g.shape.size() - 2, x = y + 1;
    const auto [height, width] = workload_.block;
    g.halo = 1;
    const std::int64_t across = g.shape[x] / width;
    for (std::int64_t b = rank_; b < across * (g.shape[y] / height); b += ranks_) {
        Part box{std::vector<std::int64_t>(g.shape.size(), 0), g.shape};
        box.start[y] = b / across * height;
        box.start[x] = b % across * width;
        box.count[y] = height;
        box.count[x] = width;
        g.boxes.push_back(std::move(box));
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
    if (memory_) return;
    memory_.reset(static_cast<std::byte*>(
        std::aligned_alloc(field_alignment, static_cast<std::size_t>(memory_bytes_))));
    if (!memory_) throw std::bad_alloc();
    for (const Variable& v : variables_) {
        const Group& g = group(v);
        const std::uint32_t f = field(v, 0);
        const auto write = [&]<class T>(T* out) {
            for_each(g, [&](std::int64_t at, std::int64_t index) {
                out[at] = index < 0 ? T(0) : field_number<T>(f, index);
            });
        };
        std::byte* const out = memory_.get() + offsets_[f];
        if (g.spec->type == Element::f4)
            write(reinterpret_cast<float*>(out));
        else
            write(reinterpret_cast<double*>(out));
    }
}

}  // namespace thalweg::bench
