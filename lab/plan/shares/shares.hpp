// The work of an output step by method, as the library would lay it out, for any number of ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/shares/blocks.hpp"
#include "plan/shares/busy_writers.hpp"
#include "plan/shares/layouts.hpp"
#include "plan/shares/share_estimate.hpp"
#include "plan/shares/work.hpp"

namespace thalweg::planning {

class Shares {
public:
    explicit Shares(const Run& run);
    Shares(const Shares&) = delete;
    Shares& operator=(const Shares&) = delete;

    double bytes() const { return record_.space.bytes; }
    int variables() const { return record_.space.places.size(); }
    /// Returns the options of writing that the library chooses for this file system.
    const detail::FileSystemOptions& chosen() const { return layouts_.chosen(); }

    Work work_of(const Way& way) const;
    /// Returns the work of reading a step back, with as many readers as the library would choose.
    Work reading() const;

private:
    void add_held(const Way& way, Work& work) const;
    void add_direct(Work& work) const;
    void add_estimates(const MappedLayout& mapped, const BusyWriters& busy, std::int64_t piece,
                       Work& work) const;
    void go_by_variable(const Way& way, const MappedLayout& mapped, const BusyWriters& busy,
                        Work& work) const;
    double lanes(const MappedLayout& mapped, std::int64_t piece) const;

    const Run& run_;
    Holders holders_;
    RecordSpace record_;
    Layouts layouts_;
    Blocks blocks_;
    ShareEstimator estimator_;
};

}  // namespace thalweg::planning
