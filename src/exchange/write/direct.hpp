// The method without an exchange: every rank writes its own boxes (CMAQ's "pnetCDF").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "comm/team.hpp"
#include "definitions/definitions.hpp"
#include "exchange/pack/packers.hpp"
#include "exchange/part.hpp"
#include "exchange/pieces.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Direct {
public:
    /// @param budget  bytes of the buffer; spaces that need more are written in rounds
    Direct(Team& team, Packers& packers, const Definitions& definitions, Order order,
           std::int64_t budget);

    /**
     * Writes this rank's boxes of the places whose action is Action::data. Elements that no rank
     * holds, and places to be filled, must have been written before.
     * @note Collective if the storage is
     */
    Status run(const FileSection& space, std::int64_t base, std::int64_t record,
               std::span<const Action> actions, std::span<const Part* const> parts,
               Storage& storage, std::span<std::int64_t> misfits);

    /// Writes the padding after odd-sized variables whose action is Action::data. It belongs to no
    /// box. Local.
    Status write_padding(const FileSection& space, std::int64_t base, std::int64_t record,
                         std::span<const Action> actions, Storage& storage) const;

    double pack_seconds() const { return pack_seconds_; }

private:
    struct Round;
    struct Piece;
    template <class Visit>
    void for_boxes(const FileSection& space, std::span<const Action> actions,
                   std::span<const Part* const> parts, Visit&& visit) const;
    bool fits(const Round& round, std::int64_t bytes) const;
    void pack(Round& round, const VariableSlot& place, const Part& part, const Piece& piece,
              std::span<std::int64_t> misfits);
    Status write(Round& round, Storage& storage);

    Team& team_;
    Packers& packers_;
    const Definitions& definitions_;
    Order order_;
    std::int64_t budget_;
    std::unique_ptr<Memory> buffer_;  ///< kept from run to run
    double pack_seconds_ = 0;
};

}  // namespace thalweg::detail
