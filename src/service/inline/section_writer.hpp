// Service inline: writes a space of the file with all ranks: together by an exchange, each rank its
// own boxes, or the writers from the copies of all. A plan is made for the decompositions by which
// the variables are put, and kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/write/direct.hpp"
#include "exchange/write/share_writer.hpp"
#include "exchange/write/write_pipeline.hpp"
#include "service/node_copies.hpp"
#include "service/queue/packed_boxes.hpp"
#include "service/service.hpp"
#include "storage/file_sections.hpp"

namespace thalweg::detail {

/// A record of a variable, or a fixed-size variable (record 0), of which every rank has put its
/// part.
struct WholePut {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t key = 0;               ///< key of the holding
    bool complete = false;              ///< all elements were put
    bool by_put = false;                ///< it was put by tw_put
    const WaitingPart* part = nullptr;  ///< this rank's part; null if it has none
};

class SectionWriter {
public:
    SectionWriter(FileContext& file, Target& target, Progress& progress, const NodeCopies& copies)
        : file_(file), target_(target), progress_(progress), copies_(copies) {}

    /// Makes a plan for the decompositions with which the variables were defined, if any has one.
    /// @param mine  this rank's own failure so far
    /// @note Collective; the status is the same on every rank
    Status begin(Status mine);
    /// Sets if the values of the next passes lie in copies.
    void use_copies(bool copied) { copied_ = copied; }
    /// Prepares a pass; every rank calls it before the agreement that must precede the pass.
    void prepare();
    /// Chooses the plan for the next passes, which write some puts: one that is kept, or a new one.
    /// @note Collective; the status is the same on every rank
    Status choose(std::span<const WholePut> puts);

    /// Begins a pass over one space of the file. Its places are skipped unless set() gives them
    /// another action.
    void begin_pass(bool records);
    /// Sets the action of a place.
    /// @param action  the same on every rank
    /// @param part    null: this rank has none
    void set(std::size_t place, Action action, const Part* part = nullptr) {
        actions_[place] = action;
        parts_[place] = part;
    }
    /// Tests if the storage fills a variable.
    bool fills(int variable) const { return target_.storage->fills(variable); }
    /// Returns the places of the next pass.
    std::span<const VariableSlot> places() const { return sections_.of(records_).places; }
    /**
     * Writes the space, unless every place is skipped.
     * @param record   number in the file; 0 for fixed-size variables
     * @param misfits  per variable
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status write(std::int64_t record, std::span<std::int64_t> misfits);
    /// Writes a part of a fixed-size variable, without the other ranks. Not within a pass.
    Status write_alone(const Part& part, std::span<std::int64_t> misfits);

    const FileSections& sections() const { return sections_; }
    void add_figures(FileFigures& figures) const;

private:
    struct Plan {
        Holdings holdings;  ///< holding of each variable in this plan
        std::unique_ptr<WritePipeline> stream;
        std::unique_ptr<Direct> direct;
        /// The values packed by ranks have long runs in the file; set when some are to be written.
        std::optional<bool> has_long_runs;
        std::vector<PackedBoxes> boxes;  ///< on writers: boxes of the ranks, with long runs
    };
    static void count(const Plan& plan, StreamCounts& all);
    Status make_plan(std::span<const WholePut> puts, Status mine);
    std::unique_ptr<Plan> change(std::span<const WholePut> puts) const;
    Status share_boxes(Plan& plan);
    Status write_copies(const Plan& plan, std::int64_t record);
    Status run_direct(Plan& plan, std::int64_t record, std::span<std::int64_t> misfits);

    FileContext& file_;
    Target& target_;
    Progress& progress_;
    const NodeCopies& copies_;
    FileSections sections_;
    /// Method direct: the layout of the writers that fill gaps.
    std::unique_ptr<Layout> layout_;
    std::vector<std::unique_ptr<Plan>> plans_;  ///< the current plan comes first
    std::optional<Direct> alone_;               ///< for write_alone()
    std::optional<ShareWriter> share_writer_;   ///< for write_copies(); set on writers
    bool can_copy_ = false;                     ///< writers may take values from copies
    bool copied_ = false;                       ///< the values of the next pass lie in copies
    StreamCounts earlier_;                      ///< counts of plans that were removed
    bool used_ = false;                         ///< a pass ran since the last agreement
    /// The pass writes the record variables; otherwise the fixed-size ones.
    bool records_ = false;
    std::vector<Action> actions_;  ///< actions of the current pass, one per place
    std::vector<const Part*> parts_;
};

}  // namespace thalweg::detail
