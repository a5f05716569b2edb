// The boxes in which a rank packs the variables of a file, told to the writers of its node once:
// its units then only name variables and where their data lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/holding.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The boxes of each variable, see Holding::packed.
class PackedBoxes {
public:
    PackedBoxes() = default;
    /// This rank's.
    explicit PackedBoxes(const Holdings& holdings);
    /// Another rank's, from its words(). `variables` give the shapes.
    PackedBoxes(const std::int64_t* words, std::span<const Variable> variables);

    std::vector<std::int64_t> words() const;

    std::span<const HeldBox> of(int variable) const { return views_[view_of_[variable]]; }

private:
    std::vector<std::int64_t> view_of_;  ///< those of one decomposition and order have the same
    std::vector<std::vector<HeldBox>> views_;
};

/// What held boxes have of a range of elements, as boxes of their own whose lists are counted in
/// ascending order of their indices.
std::vector<HeldBox> held_of_range(std::span<const HeldBox> held,
                                   std::span<const std::int64_t> shape, ElementRange range);

}  // namespace thalweg::detail
