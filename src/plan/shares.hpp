// The work of an output step by method: how the library would lay it out, for any number of ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/grid.hpp"
#include "plan/looks.hpp"
#include "plan/way.hpp"

namespace thalweg::planning {

class Shares {
public:
    explicit Shares(const Run& run);
    Shares(const Shares&) = delete;
    Shares& operator=(const Shares&) = delete;

    double bytes() const { return record_.space.bytes; }
    int variables() const { return record_.space.places.size(); }
    /// Writers that the library chooses for this file system, and the alignment of their shares.
    const detail::WayOfWriting& chosen() const { return chosen_; }

    detail::Work work_of(const Way& way) const;
    /// Of reading a step back by as many readers as the library takes.
    detail::Work reading() const;

private:
    Laid lay_out(const Way& way) const;
    void lay_out_grid(const Way& way, int available, int spread,
                      detail::LayoutChoice& layout) const;
    int node_of_part(const detail::Grid& grid, int part) const;
    void add_held(const Way& way, detail::Work& work) const;
    void add_direct(detail::Work& work) const;
    void add_looks(const Laid& laid, std::int64_t piece, detail::Work& work) const;
    void go_by_variable(const Way& way, const Laid& laid, detail::Work& work) const;
    double lanes(const Laid& laid, std::int64_t piece) const;

    const Run& run_;
    Holders holders_;
    RecordSpace record_;
    detail::WayOfWriting chosen_;
    Looks looks_;
    int x_ = -1, y_ = -1;  ///< the horizontal dimensions, as `rows` and the like take them
};

}  // namespace thalweg::planning
