// What a rank holds of the variables of a file, told to the writers of its node once: its units
// then only name variables and where their data lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "definitions/definitions.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The held boxes of each variable, in the order in which their data lie one behind the other; a
/// list's elements lie by their positions in it, and these have no holes.
class Holdings {
public:
    Holdings() = default;
    /// Of this rank. A list with holes is counted anew, in ascending order of its indices.
    explicit Holdings(const Definitions& definitions);
    /// As another rank has told. `variables` give the shapes.
    Holdings(const std::int64_t* words, std::span<const Variable> variables);

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
