// A rank's part of an index space as plain arrays, for tw_inq_decomposition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "thalweg/decomposition.h"

namespace thalweg::detail {

/// The texts and arrays to which a tw_decomposition_info points.
class DecompositionArrays {
public:
    explicit DecompositionArrays(std::shared_ptr<const Decomposition> decomposition);
    DecompositionArrays(const DecompositionArrays&) = delete;
    DecompositionArrays& operator=(const DecompositionArrays&) = delete;

    const tw_decomposition_info& info() const { return info_; }
    /// Tests if these arrays describe a given decomposition. They do not if tw_pad or tw_fill_halo
    /// has replaced it.
    bool describe(const Decomposition& decomposition) const {
        return decomposition_.get() == &decomposition;
    }

private:
    std::shared_ptr<const Decomposition> decomposition_;
    std::string dims_;
    std::vector<std::int64_t> start_, count_, indices_;
    tw_decomposition_info info_{};
};

}  // namespace thalweg::detail
