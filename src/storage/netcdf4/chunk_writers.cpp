// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunk_writers.hpp"

namespace thalweg::detail {

void ChunkWriters::choose(int rank, const StorageOptions& options, bool writer, bool whole) {
    root_ = options.keeper;
    keeper_ = rank == root_;
    apart_ = options.apart;
    several_ = whole && options.writers > 1;
    writer_ = options.writers > 1 ? writer : keeper_;
    beside_ = writer_ && !keeper_ && options.beside_keeper;
    all_beside_ = options.all_beside;
}

Status ChunkWriters::join(Comm& comm, ChunkPlacer& placer, ChunkStore& store) {
    if (are_collective()) {
        auto writers = comm.split(writer_ ? 0 : -1, keeper_ ? -1 : comm.rank());
        if (writers) store.join(std::move(writers));
    }
    if (!several_ || !apart_ || all_beside_ == 0) return {};
    SegmentName name;
    Status status = agree(comm, alone([&] {
                              Status made;
                              if (!keeper_) return made;
                              placer.use(PlaceTable::make(all_beside_, placer.end(), made));
                              if (made.ok()) name = placer.table()->name();
                              return made;
                          }));
    if (!status.ok()) return status;
    comm.broadcast(&name, sizeof name, root_);
    const int place = comm.sum_before(beside_ ? 1 : 0);
    if (!beside_) return {};
    (void)alone([&] {
        placer.use(PlaceTable::map(name, place, status));
        return status;
    });
    return {};
}

Status ChunkWriters::separate(Comm& comm, ChunkPlacer& placer, ChunkStore& store) {
    apart_ = true;
    store.leave();
    return join(comm, placer, store);
}

void ChunkWriters::rejoin(Comm& comm, ChunkPlacer& placer, ChunkStore& store) {
    if (!apart_) return;
    apart_ = false;
    placer.leave_table();
    (void)join(comm, placer, store);
}

}  // namespace thalweg::detail
