// The boxes in which a rank packs a file's variables. The writers of its node get them once: units
// then only name variables and the places of their data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/holding.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The packed boxes of each variable on one rank; see Holding::packed.
class PackedBoxes {
public:
    PackedBoxes() = default;
    /// Makes the boxes of this rank.
    explicit PackedBoxes(const Holdings& holdings);
    /// Makes the boxes of another rank from its words(). @param variables  give the shapes
    PackedBoxes(const std::int64_t* words, std::span<const Variable> variables);

    std::vector<std::int64_t> words() const;

    std::span<const HeldBox> of(int variable) const { return views_[view_of_[variable]]; }

private:
    /// Index of each variable's boxes, which equal decompositions share.
    std::vector<std::int64_t> view_of_;
    std::vector<std::vector<HeldBox>> views_;
};

}  // namespace thalweg::detail
