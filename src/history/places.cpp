// SPDX-License-Identifier: Apache-2.0
#include "history/places.hpp"

#include <unordered_map>

namespace thalweg::history {

bool same_part(const Part& a, const Part& b) {
    return a.dims == b.dims && a.shape == b.shape && a.start == b.start && a.count == b.count &&
           a.first_listed == b.first_listed && a.listed == b.listed && a.indices == b.indices;
}

bool find_places(const Part& of, const Part& in, Integers& places) {
    const auto key_of = [&](const std::map<std::string, std::int64_t>& at) {
        std::int64_t key = 0;
        for (int d = 0; d < in.nd(); ++d) {
            const auto found = at.find(in.dims[d]);
            key = key * in.shape[d] + (found == at.end() ? 0 : found->second);
        }
        return key;
    };
    if (in.replicated) {
        for_elements(of, [&](std::int64_t, const auto& at) { places.push_back(key_of(at)); });
        return true;
    }
    std::unordered_map<std::int64_t, std::int64_t> held;
    for_elements(in, [&](std::int64_t i, const auto& at) { held[key_of(at)] = i; });
    bool all = true;
    for_elements(of, [&](std::int64_t, const auto& at) {
        const auto found = held.find(key_of(at));
        all &= found != held.end();
        places.push_back(all ? found->second : 0);
    });
    return all;
}

}  // namespace thalweg::history
