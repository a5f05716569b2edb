// The method without an exchange: every rank writes its own boxes (CMAQ's "pnetCDF").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/team.hpp"
#include "definitions/definitions.hpp"
#include "exchange/packers.hpp"
#include "exchange/parts.hpp"
#include "storage/storage.hpp"

namespace thalweg {

class Direct {
public:
    /// @param budget  bytes of buffer; a space that needs more goes in rounds
    Direct(Team& team, Packers& packers, const Definitions& definitions, Order order,
           std::int64_t budget);

    /**
     * Writes this rank's boxes of the places whose action is `data`. Elements that no rank holds,
     * and places to be filled, must have been written before.
     * @note Collective if the storage is
     */
    Status run(const Space& space, std::int64_t base, std::int64_t record,
               std::span<const Action> actions, std::span<const ArrayView* const> arrays,
               Storage& storage, std::span<std::int64_t> misfits);

    double pack_seconds() const { return pack_seconds_; }

private:
    /// A box of a place that fits the buffer.
    struct Part {
        std::size_t place;
        int block;
        Box box;    ///< in file order
        Box whole;  ///< the held box it was cut from
        std::int64_t bytes;
    };
    std::vector<Part> cut(const Space& space, std::span<const Action> actions,
                          std::span<const ArrayView* const> arrays) const;

    Team& team_;
    Packers& packers_;
    const Definitions& definitions_;
    Order order_;
    std::int64_t budget_;
    std::vector<std::vector<HeldBox>> held_;  ///< of each variable
    std::unique_ptr<Memory> buffer_;          ///< kept
    double pack_seconds_ = 0;
};

}  // namespace thalweg
