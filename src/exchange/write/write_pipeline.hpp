// The engine: streams a space of the file, in pieces, from the ranks that hold it to the writers.
//
// Every writer's share is a stream of pieces; a few slots of node-shared memory per stream hold the
// pieces on their way. All ranks of the writer's node pack their elements of a piece directly into
// its slot. When all have packed, the writer writes the piece, and the slot is free for a later
// one. The ranks of another node first combine their elements of a piece in an outgoing slot of
// their node. One of these ranks sends the slot, and the writer unpacks it into the piece's slot.
//
// Buffers: [model array] -> slot (shared, file order and byte order) -> file
//      or: [model array] -> outgoing slot -> message -> receive buffer -> slot -> file
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/pack/packers.hpp"
#include "exchange/part.hpp"
#include "exchange/write/views.hpp"
#include "exchange/write/write_lane.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class WritePipeline {
public:
    /**
     * Plans the exchange of all variables of a file.
     * @param writers  world rank of each of the layout's writers
     * @param sections   the file's sections
     * @param arena    memory of the node, `options.budget` bytes or more
     * @param status   this rank's own failure so far; becomes that of all ranks
     * @note Collective
     */
    static std::unique_ptr<WritePipeline> make(Team& team, Packers& packers, Memory& arena,
                                               const Layout& layout,
                                               const std::vector<int>& writers,
                                               const Definitions& definitions,
                                               const Holdings& holdings,
                                               std::span<const FileSection> sections, Order order,
                                               const StreamOptions& options, Status& status);

    /// Prepares a pass. Between this call and the pass, all ranks must have waited for each other,
    /// by an agreement or otherwise, because ranks leave a pass while others are still in it.
    void prepare();

    /**
     * Writes one space. All ranks pass the same actions, and each rank the parts that it has.
     * @param base     byte of the file at which the space begins
     * @param actions  for each place; elements of places with `fill`, and those with `data` that no
     *                 rank holds, get the fill value
     * @param parts    per place, null where this rank has none
     * @param misfits  per variable, counts this rank's values that do not fit its type
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status run(const FileSection& space, std::int64_t base, std::int64_t record,
               std::span<const Action> actions, std::span<const Part* const> parts,
               Storage& storage, std::span<std::int64_t> misfits);

    const StreamCounts& counts() const { return counts_; }

private:
    WritePipeline(Team& team, Packers& packers, const Layout& layout,
                  const Definitions& definitions, const Holdings& holdings, Order order)
        : team_(team), packers_(packers), layout_(layout), views_(definitions, holdings, order) {}
    void add_lanes(const std::vector<int>& writers, std::span<const std::int64_t> met);
    Status place_lanes(Memory& arena, std::span<const FileSection> sections,
                       const StreamOptions& options, Status mine);
    void touch_slots(Memory& arena, std::span<const FileSection> sections) const;

    Team& team_;
    Packers& packers_;
    const Layout& layout_;
    Views views_;
    WriteLanes lanes_;
    StreamCounts counts_;
};

}  // namespace thalweg::detail
