// One pass of a stream over a space of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/write/piece_packer.hpp"
#include "exchange/write/write_lane.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class StreamPass {
public:
    /// Prepares the pass. Before, all lanes must have begun it, and this rank must have joined them
    /// (WriteLane::begin_pass and join).
    StreamPass(Team& team, WriteLanes& lanes, const PiecePacker& packer, Storage& storage,
               StreamCounts& counts)
        : team_(team), lanes_(lanes), packer_(packer), storage_(storage), counts_(counts) {}

    /// Runs the pass. @note Collective
    Status run();

private:
    std::int64_t most_pieces();
    std::int64_t end(std::int64_t calls) const;
    void send_pieces(std::int64_t k);
    void finish_sends();
    void drain_own(std::int64_t k, std::int64_t calls);
    void receive_pieces(WriteLane& lane, std::int64_t k);
    Status write_piece(const WriteLane& lane, std::int64_t k);
    void enter_pieces(std::int64_t k);
    void pack_piece(WriteLane& lane, std::int64_t k);

    Team& team_;
    WriteLanes& lanes_;
    const PiecePacker& packer_;
    Storage& storage_;
    StreamCounts& counts_;
    std::int64_t reach_ = 1;  ///< largest number of pieces for which this rank waits at once
    Status status_;
};

}  // namespace thalweg::detail
