// Plans of reads, from the requests to the arrays: what is read, and by whom. Plans are kept for
// reuse.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/scatter.hpp"
#include "reading/request.hpp"

namespace thalweg::detail {

/// The data that a call reads: a place for each part of each variable and record, in file order,
/// and the indices of the places of each request.
struct ReadSelection {
    Space space;
    std::vector<PlaceSource> sources;  ///< by place
    struct Run {
        std::size_t first = 0, count = 0;
    };
    std::vector<Run> places;  ///< by request
};

/// The preparation of a call on one rank. It is made before all ranks agree; if memory were lacking
/// later, the others would wait for this rank.
struct ReadTask {
    ReadSelection selection;
    std::vector<std::int64_t> key;  ///< key of the plan to use
    /// Boxes wanted of each place, if the plan does not exist yet.
    std::vector<std::vector<WantedBox>> boxes;
    std::vector<Delivery> deliveries;
    std::vector<std::size_t> request_of;  ///< by delivery
    std::vector<std::int64_t> misfits;    ///< by request

    /// Adds to each request, after reading, the number of values that did not fit its type.
    void count_misfits();
};

class ReadPlans {
public:
    struct Plan {
        std::vector<std::int64_t> key;
        /// True: read without an exchange; unset: not decided yet.
        std::optional<bool> straight;
        std::unique_ptr<Scatter> scatter;  ///< null until it is needed
    };

    explicit ReadPlans(ReadContext& file) : file_(file) {}
    /// Reserves memory for the list of plans.
    void reserve() { plans_.reserve(most); }

    /// Prepares a call. Local. @param ahead  data that were read ahead may be used
    ReadTask prepare(std::span<const ReadRequest> requests, bool ahead) const;
    /// Adds the destinations of all requested data. Local.
    void add_deliveries(std::span<const ReadRequest> requests, ReadTask& task) const;
    /// Returns the plan of a task, which exists on all ranks or on none. Valid until the next call.
    Plan& plan_for(ReadTask& task);
    /// Returns the exchange of a plan, which is made when it is first needed.
    /// @note Collective
    Scatter* scatter_of(Plan& plan, ReadTask& task, Status& status);
    /// Reads the data of a task.
    /// @param read_cache  null: nothing was read ahead
    /// @return this rank's own error
    /// @note Collective
    Status take(Plan& plan, ReadTask& task, const ReadCache* read_cache);

    void add_to(ReadFigures& figures) const;
    void clear() { plans_.clear(); }

private:
    /// Number of plans that are kept: enough for the kinds of variables in a restart, or of
    /// records.
    static constexpr std::size_t most = 16;

    std::vector<Plan>::const_iterator find(const std::vector<std::int64_t>& key) const;
    std::vector<WantedBox> wanted(const ReadRequest& request, bool with_halo) const;
    bool long_runs(const Space& space, std::span<const Delivery> deliveries) const;
    Status take_straight(ReadTask& task);

    ReadContext& file_;
    std::vector<Plan> plans_;  ///< the plan used last comes first
};

}  // namespace thalweg::detail
