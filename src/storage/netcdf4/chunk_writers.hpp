// The ranks that write whole chunks, and how they get space for them. Writers that wait for each
// other request it in collective calls. Otherwise the writers on the keeper's node share a table in
// memory, which contains the end of the file; a writer that cannot map this table requests space
// from the keeper.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/netcdf4/chunk_store.hpp"

namespace thalweg::detail {

class ChunkWriters {
public:
    /// @param rank    this rank
    /// @param writer  this rank writes
    /// @param whole   some variables are written in whole chunks
    void choose(int rank, const StorageOptions& options, bool writer, bool whole);

    bool keeper() const { return keeper_; }
    /// Tests if the writers do not wait for each other.
    bool apart() const { return apart_; }
    /// Tests if the writers request space in collective calls.
    bool are_collective() const { return several_ && !apart_; }

    /// Connects the writers, so that they can get space in the file.
    /// @return the same on every rank
    /// @note Collective
    Status join(Comm& comm, ChunkPlacer& placer, ChunkStore& store);
    /// Connects them in the other way; see Storage::separate(). @note Collective
    Status separate(Comm& comm, ChunkPlacer& placer, ChunkStore& store);
    void rejoin(Comm& comm, ChunkPlacer& placer, ChunkStore& store);

private:
    int root_ = 0;  ///< rank of the keeper
    bool keeper_ = false, writer_ = false, beside_ = false, apart_ = false;
    bool several_ = false;         ///< several writers write whole chunks
    std::int64_t all_beside_ = 0;  ///< number of writers that share memory with the keeper
};

}  // namespace thalweg::detail
