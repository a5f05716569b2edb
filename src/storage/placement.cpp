// SPDX-License-Identifier: Apache-2.0
#include "storage/placement.hpp"

#include <utility>

namespace thalweg::detail {

void bring_room(Comm& comm, int keeper, Placement* mine) {
    const std::int64_t wanted = mine != nullptr ? mine->room_wanted() : 0;
    std::int64_t all = wanted;
    comm.all_reduce({&all, 1}, Reduce::sum);
    if (all == 0) return;
    const std::int64_t before = comm.sum_before(wanted);
    std::int64_t at = comm.rank() == keeper ? mine->take_room(all) : 0;
    comm.broadcast(&at, sizeof at, keeper);
    if (wanted > 0) mine->give_room(at + before);
}

Status bring_placed(Comm& comm, int keeper, Placement* mine) {
    std::vector<char> placed;
    Status status = alone([&] {
        if (mine != nullptr) placed = mine->take_placed();
    });
    std::vector<std::vector<char>> rows;
    Status gathered = together([&] { rows = comm.gather(placed, keeper); });
    if (status.ok()) status = std::move(gathered);
    if (!status.ok() || comm.rank() != keeper) return status;
    return alone([&]() -> Status {
        for (const auto& row : rows)
            if (Status s = mine->add_placed(row); !s.ok()) return s;
        return {};
    });
}

}  // namespace thalweg::detail
