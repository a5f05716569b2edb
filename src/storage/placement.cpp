// SPDX-License-Identifier: Apache-2.0
#include "storage/placement.hpp"

namespace thalweg::detail {

void bring_places(Comm& comm, int header_writer, Placement* mine) {
    std::vector<char> placed;
    if (mine != nullptr) placed = mine->take_placed();
    const std::int64_t wanted = mine != nullptr ? mine->room_wanted() : 0;
    std::int64_t all[] = {wanted, std::ssize(placed)};
    comm.all_reduce(all, Reduce::sum);
    if (all[0] > 0) {
        const std::int64_t before = comm.sum_before(wanted);
        std::int64_t at = comm.rank() == header_writer ? mine->take_room(all[0]) : 0;
        comm.broadcast(&at, sizeof at, header_writer);
        if (wanted > 0) mine->give_room(at + before);
    }
    if (all[1] == 0) return;
    for (const auto& row : comm.gather(placed, header_writer)) mine->add_placed(row);
}

Status place_chunks(Comm& comm, int header_writer, Placement& mine, Status status) {
    for (bool waits = true; waits;) {
        bool moved = false;
        if (status.ok()) status = mine.settle(moved);
        bring_places(comm, header_writer, &mine);
        std::int64_t words[] = {mine.settled() < mine.packed() ? 1 : 0, status.ok() ? 0 : 1};
        comm.all_reduce(words, Reduce::max);
        waits = words[0] != 0 && words[1] == 0;
    }
    return status;
}

}  // namespace thalweg::detail
