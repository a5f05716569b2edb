// One rank of a case of the engine's test: a thread that puts random batches, or serves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dataset/part_puts.hpp"
#include "service/engine_case.hpp"
#include "service/resources.hpp"

namespace thalweg::detail {

class Rank {
public:
    /// @param port  connection to the servers; null if there are none
    Rank(const Case& c, std::uint64_t seed, std::unique_ptr<Comm> comm, ServerConnection* port,
         std::shared_ptr<std::vector<char>> bytes);

    void run();
    /// Puts variable 0 by tw_put, which is collective because a step exceeds the staging memory.
    /// Puts the other variables by records.
    void run_immediate();
    void close();
    PartPuts& parts() { return *parts_; }
    Service& service() { return *service_; }
    bool is_first() const { return team_->rank() == 0; }
    const Expected& expected() const { return expected_; }

private:
    /// A decomposition of a variable; null if rank 0 has the whole variable.
    struct Made {
        std::shared_ptr<const Decomposition> decomposition;
        Dealt dealt;
    };
    enum class Who { all, all_but_one, one };

    void define();
    void open();
    Made make(const Variable& v, Dealt dealt);
    Made made_for(const Variable& v, std::int64_t halo = 0, bool hole = false);
    Made usual_of(int i, const Variable& v);
    void step();
    void step_alike();
    void end_step(bool ends);
    int variables() const { return static_cast<int>(case_.plan.definitions.variables.size()); }
    std::vector<double> values_at(int i, std::span<const std::int64_t> elements,
                                  std::int64_t version) const;
    void put(int i, const Variable& v, bool deferred);
    void put_box(int i, const Variable& v, int who, std::int64_t record);
    void put_record(int i, const Variable& v, std::int64_t record, const Made& made,
                    Who who = Who::all);
    void put_part(int i, const Variable& v, std::int64_t record, const Made& made);
    void put_whole(int i, const Variable& v, std::int64_t record);
    void put_box_of(int i, const Variable& v, std::int64_t record, const Box& box);
    void note(int i, const Variable& v, std::int64_t record,
              std::span<const std::int64_t> elements);
    void note_box(const Variable& v, std::int64_t record);

    const Case& case_;
    Random random_;  ///< gives the same numbers on all ranks
    std::unique_ptr<Team> team_;
    std::unique_ptr<Resources> resources_;
    std::unique_ptr<FileContext> file_;
    Target target_;
    std::unique_ptr<Batch> batch_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<PartPuts> parts_;
    std::vector<Made> held_;                 ///< decomposition of each variable, for tw_put
    std::vector<std::vector<double>> kept_;  ///< arrays of deferred puts, which must stay in place
    Expected expected_;
    std::vector<std::vector<Made>> usual_;  ///< decompositions that are used again, by variable
    int serial_ = 0;                        ///< number of the latest decomposition
    std::int64_t version_ = 0;
    bool boxed_ = false;
    bool counts_ = false;  ///< the step counts as a record, although the file has boxes
};

/// Runs all ranks of a case, each on a thread, while the servers work.
void run_ranks(const Case& c, std::uint64_t seed, std::shared_ptr<std::vector<char>> bytes,
               const std::function<void(Rank&)>& act);

}  // namespace thalweg::detail
