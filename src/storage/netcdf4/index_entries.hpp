// The chunks of counted records that are not yet in HDF5's index. A writer counts records in any
// thread; a call of the model enters their chunks, as no thread of the library calls HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "storage/netcdf4/index.hpp"
#include "storage/netcdf4/place_log.hpp"

namespace thalweg::detail {

/// Counts complete records, and enters their chunks in HDF5's index at once or later. All functions
/// except enter() and finish() may be called by any thread.
class IndexEntries {
public:
    /// @param later  chunks are not entered by count() but by a later call of enter()
    /// @param durable  each change of the index is synced, as a power failure could otherwise
    ///                 damage records that were counted before
    IndexEntries(std::string path, const Definitions& definitions, bool later, bool durable)
        : path_(std::move(path)), definitions_(definitions), later_(later), always_(durable) {}

    /// Sets the number of records that the file has.
    void begin(std::int64_t records) { known_ = records; }
    /// Counts records and takes their chunks. If the chunks are to be entered later, logs them
    /// beside the file.
    /// @param take  take(from, to, chunks) appends the chunks of the newly counted records
    template <class Take>
    Status count(std::int64_t records, bool durable, Take&& take) {
        const std::lock_guard lock(mutex_);
        counted_ = records;
        durable_ = durable || always_;
        behind_ = true;
        const bool starts = later_ && !log_ && std::this_thread::get_id() != model_thread_;
        const std::size_t before = starts ? 0 : chunks_.size();
        if (starts) log_.emplace(path_, definitions_);
        take(known_, counted_, chunks_);
        known_ = std::max(known_, counted_);
        if (log_) log_->add(counted_, std::span(chunks_).subspan(before), durable);
        return {};
    }
    /// Enters the chunks in the index. After a failure the index is incomplete and is closed; later
    /// calls do nothing.
    Status enter(std::unique_ptr<Netcdf4Index>& index);
    /// Removes the log of a file whose index is complete.
    void finish() {
        if (log_) log_->remove();
    }

private:
    const std::string path_;
    const Definitions& definitions_;
    const bool later_, always_;
    const std::thread::id model_thread_ = std::this_thread::get_id();
    std::mutex mutex_;  ///< guards the members below
    /// Log of the chunks; exists once a thread other than the model's has counted records.
    std::optional<PlaceLog> log_;
    std::vector<PlacedChunk> chunks_;
    std::int64_t known_ = 0;    ///< number of records whose chunks were taken from the writers
    std::int64_t counted_ = 0;  ///< number of counted records
    bool durable_ = false, behind_ = false;
};

}  // namespace thalweg::detail
