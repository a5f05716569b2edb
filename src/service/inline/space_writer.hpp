// Service inline: all ranks together write a space of the file, by the exchange or each its own
// boxes. A plan is made for the decompositions by which the variables are put, and kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/direct.hpp"
#include "exchange/stream.hpp"
#include "service/batch.hpp"
#include "service/service.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

class SpaceWriter {
public:
    SpaceWriter(FileContext& file, Target& target) : file_(file), target_(target) {}

    /// A variable, and how all ranks hold it in the pass to come.
    struct Chosen {
        int variable = 0;
        std::int64_t key = 0;  ///< of the holding; the same on every rank
        /// Null: as it was defined, or this rank holds nothing.
        std::shared_ptr<const Holding> holding;
    };

    /// Plans for the decompositions with which the variables were defined, if any has one.
    /// @param mine  this rank's own failure so far
    /// @note Collective; the status is the same on every rank
    Status begin(Status mine);
    /// Called by every rank before the agreement that must precede the next pass.
    void prepare();
    /// The plan for the next passes: one that is kept, or a new one.
    /// @note Collective; the status is the same on every rank
    Status choose(std::span<const Chosen> chosen);

    /// Memory for begin_pass(), which then does not need the reserve. @throw std::bad_alloc
    void make_room();
    /// The pass to come moves one space of the file; nothing is to be done with its places until
    /// set() says otherwise.
    void begin_pass(bool records);
    /// @param action  the same on every rank
    /// @param part    null: this rank has none
    void set(std::size_t place, Action action, const Part* part = nullptr) {
        actions_[place] = action;
        parts_[place] = part;
    }
    /// The places of the pass to come.
    std::span<const Place> places() const { return spaces_.of(records_).places; }
    /**
     * Moves the space, unless every place is skipped.
     * @param record   of the file; of fixed-size variables 0
     * @param misfits  per variable
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status write(std::int64_t record, std::span<std::int64_t> misfits);

    const Spaces& spaces() const { return spaces_; }
    void add_figures(FileFigures& figures) const;

private:
    struct Plan {
        Holdings holdings;  ///< in use
        std::unique_ptr<Stream> stream;
        std::unique_ptr<Direct> direct;
    };
    void count(const Plan& plan);
    Status make_plan(std::span<const Chosen> chosen, Status mine);
    std::unique_ptr<Plan> change(std::span<const Chosen> chosen) const;
    Status run_direct(Plan& plan, std::int64_t record, std::span<std::int64_t> misfits);

    FileContext& file_;
    Target& target_;
    Spaces spaces_;
    std::unique_ptr<Layout> layout_;            ///< with direct: who fills what no rank holds
    std::vector<std::unique_ptr<Plan>> plans_;  ///< the one in use comes first
    StreamCounts earlier_;                      ///< of plans that are gone
    double direct_seconds_ = 0;                 ///< of these, too
    bool used_ = false;                         ///< since the last agreement
    bool records_ = false;                      ///< the pass moves the record variables
    std::vector<Action> actions_;               ///< of the pass, per place
    std::vector<const Part*> parts_;
};

}  // namespace thalweg::detail
