// From what a call asks for to the arrays: what is read, by whom, and the plans that are kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/scatter.hpp"
#include "reading/request.hpp"

namespace thalweg::detail {

/// What a call reads: a place for each part of each variable and record, in the order of the file;
/// and which of them each request takes.
struct ReadSelection {
    Space space;
    std::vector<PlaceSource> sources;  ///< of each place
    struct Run {
        std::size_t first = 0, count = 0;
    };
    std::vector<Run> places;  ///< of each request
};

/// What a rank makes of a call by itself, before all agree: later, others would wait for one that
/// had no memory for it.
struct ReadTask {
    ReadSelection selection;
    std::vector<std::int64_t> key;  ///< of its plan
    /// Of each place, if the plan is not there yet.
    std::vector<std::vector<WantedBox>> boxes;
    std::vector<Delivery> deliveries;
    std::vector<std::size_t> request_of;  ///< of each delivery
    std::vector<std::int64_t> misfits;    ///< of each request

    /// After the reading: values of each request that do not fit its type.
    void count_misfits();
};

class ReadPlans {
public:
    struct Plan {
        std::vector<std::int64_t> key;
        std::optional<bool> straight;      ///< whether it is read so, once that is known
        std::unique_ptr<Scatter> scatter;  ///< null until there is a use for it
    };

    explicit ReadPlans(ReadContext& file) : file_(file) {}
    /// Memory for the plans' descriptions.
    void reserve() { plans_.reserve(most); }

    /// @param ahead  whether it goes by way of what is read ahead. Local
    ReadTask prepare(std::span<const ReadRequest> requests, bool ahead) const;
    /// Where everything is to go that is asked for. Local
    void add_deliveries(std::span<const ReadRequest> requests, ReadTask& task) const;
    /// The plan of a task, which all ranks have or none. Valid until the next call.
    Plan& plan_for(ReadTask& task);
    /// The exchange of a plan; made when it is first needed. @note Collective
    Scatter* scatter_of(Plan& plan, ReadTask& task, Status& status);
    /// Reads. @param shelf  null: nothing is read ahead
    /// @return this rank's own failure @note Collective
    Status take(Plan& plan, ReadTask& task, const Shelf* shelf);

    void add_to(ReadFigures& figures) const;
    void clear() { plans_.clear(); }

private:
    /// As many kinds of variables, or of records, as a restart has.
    static constexpr std::size_t most = 16;

    std::vector<Plan>::const_iterator find(const std::vector<std::int64_t>& key) const;
    std::vector<WantedBox> wanted(const ReadRequest& request, bool with_halo) const;
    bool long_runs(const Space& space, std::span<const Delivery> deliveries) const;
    Status take_straight(ReadTask& task);

    ReadContext& file_;
    std::vector<Plan> plans_;  ///< the latest first
};

}  // namespace thalweg::detail
