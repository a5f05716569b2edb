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

/// The data that a call reads: a place for each part of each variable and record, in file order;
/// and the places of each request.
struct ReadSelection {
    Space space;
    std::vector<PlaceSource> sources;  ///< by place
    struct Run {
        std::size_t first = 0, count = 0;
    };
    std::vector<Run> places;  ///< by request
};

/// A rank's preparation of a call, before all ranks agree: later, others would wait for a rank that
/// had no memory for it.
struct ReadTask {
    ReadSelection selection;
    std::vector<std::int64_t> key;  ///< key of its plan
    /// Boxes wanted, by place, if the plan does not exist yet.
    std::vector<std::vector<WantedBox>> boxes;
    std::vector<Delivery> deliveries;
    std::vector<std::size_t> request_of;  ///< by delivery
    std::vector<std::int64_t> misfits;    ///< by request

    /// Counts, after the reading, the values of each request that do not fit its type.
    void count_misfits();
};

class ReadPlans {
public:
    struct Plan {
        std::vector<std::int64_t> key;
        std::optional<bool> straight;      ///< true: read without an exchange; unset: not known yet
        std::unique_ptr<Scatter> scatter;  ///< null until it is needed
    };

    explicit ReadPlans(ReadContext& file) : file_(file) {}
    /// Reserves memory for the plans' descriptions.
    void reserve() { plans_.reserve(most); }

    /// Prepares a call. Local.
    /// @param ahead  it may use data that were read ahead
    ReadTask prepare(std::span<const ReadRequest> requests, bool ahead) const;
    /// Adds the destinations of all requested data. Local.
    void add_deliveries(std::span<const ReadRequest> requests, ReadTask& task) const;
    /// Returns the plan of a task, which exists on all ranks or on none. Valid until the next call.
    Plan& plan_for(ReadTask& task);
    /// Returns the exchange of a plan, which is made when it is first needed.
    /// @note Collective
    Scatter* scatter_of(Plan& plan, ReadTask& task, Status& status);
    /// Reads.
    /// @param read_cache  null: nothing is read ahead
    /// @return this rank's own error
    /// @note Collective
    Status take(Plan& plan, ReadTask& task, const ReadCache* read_cache);

    void add_to(ReadFigures& figures) const;
    void clear() { plans_.clear(); }

private:
    /// As many as a restart has kinds of variables, or of records.
    static constexpr std::size_t most = 16;

    std::vector<Plan>::const_iterator find(const std::vector<std::int64_t>& key) const;
    std::vector<WantedBox> wanted(const ReadRequest& request, bool with_halo) const;
    bool long_runs(const Space& space, std::span<const Delivery> deliveries) const;
    Status take_straight(ReadTask& task);

    ReadContext& file_;
    std::vector<Plan> plans_;  ///< the latest first
};

}  // namespace thalweg::detail
