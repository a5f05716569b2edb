// Makes the library's layouts for a run, with writers on the run's nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "layout/grid.hpp"
#include "layout/writers.hpp"
#include "plan/shares/holders.hpp"
#include "plan/shares/mapped_layout.hpp"

namespace thalweg::planning {

class Layouts {
public:
    Layouts(const Run& run, const Holders& holders);

    /// Returns the options of writing that the library chooses for this file system.
    const detail::FileSystemOptions& chosen() const { return chosen_; }
    MappedLayout of(const Way& way) const;

private:
    void cut_grid(const Way& way, int available, int spread, detail::LayoutChoice& layout) const;
    int node_of_part(const detail::Grid& grid, int part) const;

    const Run& run_;
    const Holders& holders_;
    detail::FileSystemOptions chosen_;
    int x_ = -1, y_ = -1;  ///< numbers of the horizontal dimensions, which some methods divide
};

}  // namespace thalweg::planning
