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
        std::int64_t key = 0;            ///< see Placed; the same on every rank
        const Placed* placed = nullptr;  ///< null: as it was defined, or this rank holds nothing
    };

    /// Plans for the decompositions with which the variables were defined, if any has one.
    /// @note Collective; the status is the same on every rank
    Status begin();
    /// Called by every rank before the agreement that must precede the next pass.
    void prepare();
    /// The plan for the next passes: one that is kept, or a new one.
    /// @note Collective; the status is the same on every rank
    Status choose(std::span<const Chosen> chosen);
    /**
     * Moves one space of the file.
     * @param record   of the file; of fixed-size variables 0
     * @param actions  per place, the same on every rank
     * @param arrays   per place, null where this rank has none
     * @param misfits  per variable
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status write(bool records, std::int64_t record, std::span<const Action> actions,
                 std::span<const ArrayView* const> arrays, std::span<std::int64_t> misfits);

    const Spaces& spaces() const { return spaces_; }
    /// By which key a variable was defined.
    std::int64_t declared(int variable) const { return declared_[variable]; }
    void add_figures(FileFigures& figures) const;

private:
    struct Plan {
        Definitions definitions;         ///< with the decompositions in use
        std::vector<std::int64_t> keys;  ///< of each variable
        std::unique_ptr<Stream> stream;
        std::unique_ptr<Direct> direct;
    };
    Status make_plan(std::span<const Chosen> chosen);
    std::unique_ptr<Plan> change(std::span<const Chosen> chosen) const;
    Status run_direct(Plan& plan, bool records, std::int64_t record,
                      std::span<const Action> actions, std::span<const ArrayView* const> arrays,
                      std::span<std::int64_t> misfits);

    FileContext& file_;
    Target& target_;
    Spaces spaces_;
    std::unique_ptr<Layout> layout_;  ///< with direct: who fills what no rank holds
    std::vector<std::int64_t> declared_;
    std::vector<std::unique_ptr<Plan>> plans_;  ///< the one in use comes first
    StreamCounts earlier_;                      ///< of plans that are gone
    double direct_seconds_ = 0;                 ///< of these, too
    bool used_ = false;                         ///< since the last agreement
};

}  // namespace thalweg::detail
