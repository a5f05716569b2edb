// What the ranks of each node want together of a space that is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "comm/team.hpp"
#include "exchange/parts.hpp"

namespace thalweg::detail {

/// Boxes of each place.
using PlaceBoxes = std::vector<std::vector<HeldBox>>;

/// Only where there are several nodes.
class Covers {
public:
    explicit Covers(const Space& space) : space_(space) {}

    /**
     * What the ranks of this node want together, known to all of them.
     * @param wanted  per place, what this rank wants
     * @note Collective
     */
    Status gather(Team& team, const std::vector<std::vector<WantedBox>>& wanted);
    /**
     * A reader must know what other nodes want of its share: told once, to the readers met and to
     * no one else.
     * @param met  receives the readers that this node meets
     * @note Collective
     */
    Status exchange(Team& team, const Layout& layout, const std::vector<int>& readers,
                    std::set<int>& met);

    const std::vector<HeldBox>& own(std::size_t place) const { return own_[place]; }
    /// Whether this node wants any of a piece.
    bool meets(Extent piece) const { return meets(own_, piece); }
    /// Whether its parts of a piece would be more than the piece, as they have elements more than
    /// once.
    bool exceeds(Extent piece) const;

    /// Whether other nodes want any of this reader's share.
    bool any_remote() const { return !remote_.empty(); }
    bool meets(int node, Extent piece) const {
        return !remote_[node].empty() && meets(remote_[node], piece);
    }
    /// What another node wants of a piece: dense parts, in the order of for_places and for_parts;
    /// all of it if that is less.
    /// @param from  where the piece lies
    void pack(int node, Extent piece, const char* from, std::vector<char>& message) const;

private:
    std::vector<HeldBox> near(const Share& share, std::size_t place) const;
    std::vector<Packet> tell(const Topology& topology, const Layout& layout,
                             const std::vector<int>& readers, std::set<int>& met) const;
    bool meets(const PlaceBoxes& boxes, Extent piece) const;

    const Space& space_;
    PlaceBoxes own_;
    bool overlaps_ = false;  ///< whether it may have elements more than once
    /// Per node: what other nodes want of this reader's share; empty for others.
    std::vector<PlaceBoxes> remote_;
};

}  // namespace thalweg::detail
