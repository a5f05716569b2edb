// Places of chunks that the model's thread has asked HDF5 for, so that another thread can read them
// without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "storage/netcdf4/chunk_reader.hpp"
#include "storage/posix/opened_file.hpp"

namespace thalweg::detail {

class KnownPlaces final : public ChunkReader::Finder {
public:
    KnownPlaces(const std::string& path, const OpenedFile& opened) : path_(path), opened_(opened) {}

    // Any thread may call the following functions.
    void add(const ChunkCache::Key& key, const StoredChunk& place) {
        constexpr std::size_t most = 1 << 16;
        const std::lock_guard lock(small_);
        // Forget all places: any that are missing later are looked up again.
        if (places_.size() >= most) places_.clear();
        places_[key] = place;
    }
    bool has(const ChunkCache::Key& key) const {
        const std::lock_guard lock(small_);
        return places_.contains(key);
    }
    void clear() {
        const std::lock_guard lock(small_);
        places_.clear();
    }

    // The following functions may be called by the thread that reads, or by another thread while
    // that one does not read.
    Status descriptor(int& fd) override {
        Status status = file_.open_again(opened_);
        fd = file_.fd();
        return status;
    }
    Status find(int, const Cell& cell, StoredChunk& place) override {
        const std::lock_guard lock(small_);
        const auto found = places_.find(cell.key);
        if (found == places_.end())
            return failure(TW_ESTATE, "{}: an unknown chunk", OfFile{path_});
        place = found->second;
        return {};
    }
    Status read_by_hdf5(int, const Cell&, char*) override {
        return failure(TW_ESTATE, "{}: only HDF5 can read it", OfFile{path_});
    }
    void close() { file_.close(); }

private:
    const std::string& path_;
    const OpenedFile& opened_;
    ReadFile file_{path_};
    mutable std::mutex small_;  ///< guards the members below
    std::map<ChunkCache::Key, StoredChunk> places_;
};

}  // namespace thalweg::detail
