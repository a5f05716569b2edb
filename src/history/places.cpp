// SPDX-License-Identifier: Apache-2.0
#include "history/places.hpp"

#include <unordered_map>

namespace thalweg::history {

bool same_part(const Part& a, const Part& b) {
    return a.dims == b.dims && a.shape == b.shape && a.start == b.start && a.count == b.count &&
           a.first_listed == b.first_listed && a.listed == b.listed && a.indices == b.indices;
}

bool find_places(const Part& of, const Part& in, Integers& places, const Pick& pick) {
    const auto key_of = [&](const std::map<std::string, std::int64_t>& at) {
        std::int64_t key = 0;
        for (int d = 0; d < in.nd(); ++d) {
            const auto found = at.find(in.dims[d]);
            key = key * in.shape[d] + (found == at.end() ? 0 : found->second);
        }
        return key;
    };
    Integers keys;
    for_elements(of, [&](std::int64_t, const auto& at) {
        auto own = at;
        for (std::size_t i = 0; i < pick.dims.size(); ++i)
            own[pick.dims[i]] = pick.at[at.at(pick.dim) * std::ssize(pick.dims) + i];
        keys.push_back(key_of(own));
    });
    if (in.replicated) {
        places = std::move(keys);
        return true;
    }
    std::unordered_map<std::int64_t, std::int64_t> held;
    for (const std::int64_t key : keys) held.emplace(key, -1);
    for_elements(in, [&](std::int64_t i, const auto& at) {
        if (const auto found = held.find(key_of(at)); found != held.end()) found->second = i;
    });
    for (const std::int64_t key : keys) places.push_back(held.at(key));
    return std::ranges::find(places, -1) == places.end();
}

}  // namespace thalweg::history
