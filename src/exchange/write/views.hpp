// The elements of a file's variables that ranks hold, in the order of the file, and the writers in
// whose shares they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "comm/team.hpp"
#include "exchange/holding.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The elements that the ranks hold of all variables with one decomposition and one order of
/// dimensions.
struct View {
    const Holding* holding;
    std::vector<std::int64_t> shape;
    std::map<int, std::vector<HeldBox>> remote{};  ///< boxes of other nodes in this writer's share
};

class Views {
public:
    /// Groups the variables into views. The definitions and holdings must outlive this object.
    Views(const Definitions& definitions, const Holdings& holdings, Order order);

    /**
     * Sends each writer, once, the boxes that ranks of other nodes have in its share, so that it
     * can unpack their messages. Only ranks with elements in its share send.
     * @param writers  world rank of each of the layout's writers
     * @param met      one bit for each writer; set for writers in whose share some rank of this
     *                 node holds elements
     * @return this rank's own failure
     * @note Collective
     */
    Status exchange(Team& team, const Layout& layout, const std::vector<int>& writers,
                    std::span<const FileSection> sections, std::span<std::int64_t> met);

    const View& of(int variable) const { return views_[view_of_[variable]]; }
    const Variable& variable(int at) const { return definitions_.variables[at]; }
    Order order() const { return order_; }
    /// Returns the fill value of each variable, in the given byte order.
    std::span<const FillValue> fills() const { return fills_; }

private:
    /// Indices of each view's places in a space.
    using Places = std::vector<std::vector<std::size_t>>;

    std::map<int, std::vector<HeldBox>> find_near(const Layout& layout,
                                                  std::span<const FileSection> sections,
                                                  std::span<const Places> places, int view) const;

    const Definitions& definitions_;
    Order order_;
    std::vector<View> views_;   ///< views; each has the same index on all ranks
    std::vector<int> view_of_;  ///< index of each variable's view
    std::vector<FillValue> fills_;
};

}  // namespace thalweg::detail
