// SPDX-License-Identifier: Apache-2.0
#include "history/selection/part.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "session/session.hpp"

namespace thalweg::history {

Status part_of(tw_decomposition decomposition, Part& part) {
    tw_decomposition_info info;
    if (const tw_status code = tw_inq_decomposition(decomposition, &info); code != TW_OK)
        return failure(code, "the decomposition cannot be used: {}", tw_strerror(code));
    part = {};
    part.dims = split_dims(info.dims);
    part.shape.assign(info.shape, info.shape + info.ndims);
    part.boxes = info.nblocks;
    const std::int64_t numbers = static_cast<std::int64_t>(info.nblocks) * info.ndims;
    part.start.assign(info.start, info.start + numbers);
    part.count.assign(info.count, info.count + numbers);
    part.first_listed = info.first_listed;
    part.listed = info.nlisted;
    part.indices.assign(info.indices, info.indices + info.n);
    return {};
}

Part replicated_part(Names dims, Integers shape) {
    Part part;
    part.replicated = true;
    part.boxes = 1;
    part.start.assign(shape.size(), 0);
    part.count = shape;
    part.dims = std::move(dims);
    part.shape = std::move(shape);
    return part;
}

tw_status declare(tw_session session, const Part& part, tw_decomposition* decomposition) {
    *decomposition = nullptr;
    if (part.replicated) return TW_OK;
    const std::string dims = joined_names(part.dims);
    tw_status status = TW_OK;
    if (part.listed == 0) {
        status = tw_decompose(session, dims.c_str(), part.boxes, part.shape.data(),
                              part.start.data(), part.count.data(), decomposition);
    } else {
        const auto first = part.dims.begin() + part.first_listed;
        const std::string listed = joined_names({first, first + part.listed});
        status = tw_decompose_list(session, dims.c_str(), part.shape.data(), listed.c_str(),
                                   std::ssize(part.indices), part.indices.data(), TW_LIST_UNIQUE,
                                   decomposition);
    }
    if (*decomposition != nullptr) (*decomposition)->of_history = true;
    return status;
}

int place_of(const std::string& dim, const Names& dims) {
    const auto found = std::ranges::find(dims, dim);
    return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

bool is_subset(const Names& some, const Names& all) {
    return std::ranges::all_of(some, [&](const auto& name) { return place_of(name, all) >= 0; });
}

Integers lengths_of(const Names& some, const Names& dims, const Integers& shape) {
    Integers lengths;
    for (const std::string& dim : some) lengths.push_back(shape[place_of(dim, dims)]);
    return lengths;
}

Integers dense_steps(const Integers& count, std::int64_t size) {
    Integers step(count.size(), size);
    for (std::size_t d = count.size(); d-- > 1;) step[d - 1] = step[d] * count[d];
    return step;
}

Integers steps_along(const Names& dims, const Names& of, const Integers& shape) {
    const Integers dense = dense_steps(shape);
    Integers steps;
    for (const std::string& dim : dims) {
        const int place = place_of(dim, of);
        steps.push_back(place < 0 ? 0 : dense[place]);
    }
    return steps;
}

bool replace_dim(Part& part, const std::string& dim, const std::string& name, std::int64_t length) {
    const int d = place_of(dim, part.dims);
    if (part.lists(d)) return false;
    for (int b = 0; b < part.boxes && part.listed == 0; ++b) {
        const std::span<std::int64_t> counts(&part.count[b * part.nd()], part.nd());
        std::int64_t& start = part.start[b * part.nd() + d];
        const bool empty = volume(counts) == 0;
        if (!empty && (start != 0 || counts[d] != part.shape[d])) return false;
        start = 0;
        counts[d] = empty ? 0 : length;
    }
    part.dims[d] = name;
    part.shape[d] = length;
    return true;
}

std::int64_t dot(const Integers& at, const Integers& steps) {
    return std::inner_product(at.begin(), at.end(), steps.begin(), std::int64_t{0});
}

void for_elements(const Part& part,
                  const std::function<void(std::int64_t, const Integers&)>& visit) {
    Integers at(part.shape.size());
    std::int64_t element = 0;
    const auto along = [&](const auto& self, int d, const std::int64_t* start,
                           const std::int64_t* count) -> void {
        if (d == part.nd()) return visit(element++, at);
        if (part.listed > 0 && d == part.first_listed) {
            for (std::int64_t index : part.indices) {
                for (int i = part.listed; i-- > 0; index /= part.shape[d + i])
                    at[d + i] = index % part.shape[d + i];
                self(self, d + part.listed, start, count);
            }
            return;
        }
        const std::int64_t n = part.listed > 0 ? part.shape[d] : count[d];
        for (std::int64_t i = 0; i < n; ++i) {
            at[d] = part.listed > 0 ? i : start[d] + i;
            self(self, d + 1, start, count);
        }
    };
    for (int b = 0; b < std::max(part.boxes, part.listed > 0 ? 1 : 0); ++b)
        along(along, 0, part.start.data() + b * part.nd(), part.count.data() + b * part.nd());
}

bool find_places(const Part& of, const Part& in, Integers& places, const Pick& pick) {
    const Integers own = steps_along(of.dims, in.dims, in.shape);
    const Integers picked = steps_along(pick.dims, in.dims, in.shape);
    const int new_dim = place_of(pick.dim, of.dims);
    for_elements(of, [&](std::int64_t, const Integers& at) {
        std::int64_t place = dot(at, own);
        for (std::int64_t i = 0; i < std::ssize(picked); ++i)
            place += picked[i] * pick.at[at[new_dim] * std::ssize(picked) + i];
        places.push_back(place);
    });
    if (in.replicated) return true;
    std::unordered_map<std::int64_t, std::int64_t> held;
    for (const std::int64_t place : places) held.emplace(place, -1);
    const Integers steps = dense_steps(in.shape);
    for_elements(in, [&](std::int64_t i, const Integers& at) {
        if (const auto found = held.find(dot(at, steps)); found != held.end()) found->second = i;
    });
    for (std::int64_t& place : places) place = held.at(place);
    return std::ranges::find(places, -1) == places.end();
}

}  // namespace thalweg::history
