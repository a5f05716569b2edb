// Plans of reads: the data to read for the requests, the ranks that read them, and the arrays that
// receive them. Plans are kept for reuse.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/read/scatter.hpp"
#include "reading/request.hpp"

namespace thalweg::detail {

/// The data that a call reads. There is a place for each part of each variable in each record, in
/// file order; each request has the indices of its places.
struct ReadSelection {
    FileSection space;
    std::vector<PlaceSource> sources;  ///< source of each place
    struct Run {
        std::size_t first = 0, count = 0;
    };
    std::vector<Run> places;  ///< places of each request
};

/// The preparation of a call on one rank. It is made before the ranks agree, so that a lack of
/// memory for it becomes an error on all ranks.
struct ReadTask {
    ReadSelection selection;
    std::vector<std::int64_t> key;  ///< key of the plan to use
    /// Boxes that are needed of each place; set if the plan does not exist yet.
    std::vector<std::vector<WantedBox>> boxes;
    std::vector<Delivery> deliveries;
    std::vector<std::size_t> request_of;  ///< index of each delivery's request
    std::vector<std::int64_t> misfits;    ///< number of misfits of each request

    /// After reading, adds to each request the number of values that did not fit its type.
    void count_misfits();
};

class ReadPlans {
public:
    struct Plan {
        std::vector<std::int64_t> key;
        /// True if ranks read without an exchange; unset if this is not decided yet.
        std::optional<bool> straight;
        std::unique_ptr<Scatter> scatter;  ///< null before it is needed
    };

    explicit ReadPlans(ReadContext& file) : file_(file) {}

    /// Prepares a call that reads. Local. @param ahead  data that were read ahead may be used
    ReadTask prepare(std::span<const ReadRequest> requests, bool ahead) const;
    /// Adds the destinations in the arrays of all requested data. Local.
    void add_deliveries(std::span<const ReadRequest> requests, ReadTask& task) const;
    /// Returns the plan for a task, or makes it. All ranks have this plan, or none has. Valid until
    /// the next call of this function.
    Plan& plan_for(ReadTask& task);
    /// Returns the exchange of a plan; makes it if there is none.
    /// @note Collective
    Scatter* scatter_of(Plan& plan, ReadTask& task, Status& status);
    /// Reads the data of a task.
    /// @param read_cache  data that were read ahead; null: none
    /// @return this rank's own error
    /// @note Collective
    Status take(Plan& plan, ReadTask& task, const ReadCache* read_cache);

    void add_to(ReadFigures& figures) const;
    void clear() { plans_.clear(); }

private:
    /// Largest number of plans that are kept. It is enough for the kinds of variables in a restart
    /// or of records.
    static constexpr std::size_t most = 16;

    std::vector<Plan>::const_iterator find(const std::vector<std::int64_t>& key) const;
    std::vector<WantedBox> wanted(const ReadRequest& request, bool with_halo) const;
    bool long_runs(const FileSection& space, std::span<const Delivery> deliveries) const;
    Status take_straight(ReadTask& task);

    ReadContext& file_;
    std::vector<Plan> plans_;  ///< most recently used plan first
};

}  // namespace thalweg::detail
