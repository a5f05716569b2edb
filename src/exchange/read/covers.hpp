// The elements of a space that the ranks of each node read together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "comm/team.hpp"
#include "exchange/pieces.hpp"

namespace thalweg::detail {

/// Boxes of each place.
using PlaceBoxes = std::vector<std::vector<HeldBox>>;

/// The cover of this node (each element that its ranks want, once), and the covers of other nodes.
/// Used only if there are several nodes.
class Covers {
public:
    explicit Covers(const FileSection& space) : space_(space) {}

    /**
     * Unites the boxes that the ranks of this node want; each rank gets the result.
     * @param wanted  per place, the boxes that this rank wants
     * @note Collective
     */
    Status gather(Team& team, const std::vector<std::vector<WantedBox>>& wanted);
    /**
     * Sends each reader, once, the elements of its share that other nodes want.
     * @param met  receives the readers from whose shares this node wants elements
     * @note Collective
     */
    Status exchange(Team& team, const Layout& layout, const std::vector<int>& readers,
                    std::set<int>& met);

    const std::vector<HeldBox>& own(std::size_t place) const { return own_[place]; }
    /// Tests if this node wants any element of a piece.
    bool meets(Extent piece) const { return meets(own_, piece); }

    /// Tests if other nodes want any element of this reader's share.
    bool any_remote() const { return !remote_.empty(); }
    bool meets(int node, Extent piece) const {
        return !remote_[node].empty() && meets(remote_[node], piece);
    }
    /// Packs the parts of a piece that another node wants, densely, in the order of places_in and
    /// for_parts.
    /// @param from  address of the piece
    void pack(int node, Extent piece, const char* from, std::vector<char>& message) const;

private:
    std::vector<HeldBox> near(const Share& share, std::size_t place) const;
    std::vector<Packet> tell(const Topology& topology, const Layout& layout,
                             const std::vector<int>& readers, std::set<int>& met) const;
    bool meets(const PlaceBoxes& boxes, Extent piece) const;

    const FileSection& space_;
    PlaceBoxes own_;
    /// For each other node, the boxes that it wants of this reader's share; empty on ranks that are
    /// not readers.
    std::vector<PlaceBoxes> remote_;
};

}  // namespace thalweg::detail
