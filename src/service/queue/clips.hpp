// Cuts lists to boxes. Holdings that share a list share the result, too, and a unit part contains
// it only once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "decomposition/index_list.hpp"

namespace thalweg::detail {

class Clips {
public:
    /// Returns the part of a list that lies in a box; its positions are 0, 1, ... in ascending
    /// order of the indices.
    std::shared_ptr<const Listing> of(const std::shared_ptr<const Listing>& list, const Box& box) {
        std::vector<std::int64_t> key;
        for (const int d : list->dims) key.insert(key.end(), {d, box.low[d], box.count[d]});
        Clip& clip = made_[{list.get(), std::move(key)}];
        if (!clip.cut) clip = {list, list->within(box)};
        return clip.cut;
    }

    std::size_t size() const { return made_.size(); }
    void clear() { made_.clear(); }

private:
    struct Clip {
        /// `list` is kept so that no other list can get its address, which is the key of the cache.
        std::shared_ptr<const Listing> list, cut;
    };
    std::map<std::pair<const Listing*, std::vector<std::int64_t>>, Clip> made_;
};

}  // namespace thalweg::detail
