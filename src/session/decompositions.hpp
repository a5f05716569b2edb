// The decompositions of a session and their handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "decomposition/describe.hpp"

/// Handle of a decomposition. Handles are small and are kept until the session ends, so that the
/// use of a freed one is detected.
struct tw_decomposition_impl {
    tw_session session;
    std::shared_ptr<thalweg::detail::Declared> declared;  ///< null if the decomposition was freed
    /// Arrays to which tw_inq_decomposition has returned pointers.
    std::shared_ptr<const thalweg::detail::DecompositionArrays> described{};
    /// Made for a history, so its dimensions are not those of the model's other files.
    bool of_history = false;
};

namespace thalweg::detail {

class Decompositions {
public:
    /// Returns the latest decomposition with the same contents that this rank has declared before,
    /// or null. Because freeing is local, a rank may still have a decomposition that other ranks no
    /// longer have.
    /// @param same  function that tests if a known decomposition equals the one being declared
    template <class Same>
    std::shared_ptr<const Decomposition> find(std::uint64_t hash, Same&& same) {
        std::shared_ptr<const Decomposition> found;
        if (known_.size() > most_known_) {
            std::erase_if(known_, [](const auto& k) { return k.second.expired(); });
            most_known_ = std::max<std::size_t>(64, 2 * known_.size());
        }
        const auto [first, last] = known_.equal_range(hash);
        for (auto k = first; k != last; ++k)
            if (auto alive = k->second.lock(); alive && (!found || alive->serial > found->serial))
                if (same(*alive)) found = alive;
        return found;
    }
    /// Adds a decomposition that find() is to return.
    void add(std::uint64_t hash, const std::shared_ptr<const Decomposition>& made) {
        known_.emplace(hash, made);
    }
    /// Returns the number of the next decomposition, the same on every rank.
    int next_serial() { return ++declared_; }

    std::deque<tw_decomposition_impl> handles;

private:
    /// Decompositions in use, by a hash of their contents.
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const Decomposition>> known_;
    std::size_t most_known_ = 64;  ///< number of entries at which unused ones are removed
    int declared_ = 0;             ///< number of decompositions made so far
};

}  // namespace thalweg::detail
