// Records that are put by a decomposition: how it holds the variable, and what a rank has of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "service/deferred.hpp"

namespace thalweg::detail {

/// How a decomposition holds a variable that may have been defined with another one.
struct Placed {
    int variable = 0;
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<int> order;
    std::vector<HeldBox> held;
    /// Two ranks that put a variable by the same key have parts of one whole. 0: nobody can tell.
    std::int64_t key = 0;

    static std::int64_t key_of(const Decomposition& decomposition) {
        return decomposition.replicated ? key_of_holder(0) : 2 * std::int64_t{decomposition.serial};
    }
    /// Of a variable that one rank has whole, and the others have nothing of.
    static std::int64_t key_of_holder(int rank) { return 2 * std::int64_t{rank} + 1; }
    static bool has_holder(std::int64_t key) { return key % 2 != 0; }
    static int holder_of(std::int64_t key) { return key / 2; }
};

/// All that a rank has of a record, or of a fixed-size variable (record 0), by a decomposition.
struct RecordPut {
    std::shared_ptr<const Placed> placed;
    std::int64_t record = 0;
    ArrayView view;
    bool deferred = false;  ///< the array stays as it is until the ranks meet
};

/// The same while it waits for the ranks to meet: the model's own array, or a copy.
struct RecordPart : RecordPut {
    Glimpse glimpse;        ///< of an array that is deferred
    std::int64_t room = 0;  ///< bytes that it would take in a queue, at most
};

}  // namespace thalweg::detail
