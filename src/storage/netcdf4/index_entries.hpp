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

/// The functions may be called in any thread, except for enter() and finish().
class IndexEntries {
public:
    /// @param later  a later call of enter() follows each count()
    /// @param durable  every change of the index is synced: otherwise lost power could harm what
    /// was counted before
    IndexEntries(std::string path, const Definitions& definitions, bool later, bool durable)
        : path_(std::move(path)), definitions_(definitions), later_(later), always_(durable) {}

    /// Sets the number of records that the file has.
    void begin(std::int64_t records) { known_ = records; }
    /// Counts records and takes their chunks, and logs these if they are entered later.
    /// @param take  take(from, to, chunks) appends the chunks of records that are counted now
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
    /// Enters the chunks in the index. After a failure the index is incomplete, so it is closed:
    /// no later call may count records.
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
    /// Exists once a thread of the library has counted records.
    std::optional<PlaceLog> log_;
    std::vector<PlacedChunk> chunks_;
    std::int64_t known_ = 0;    ///< number of records whose chunks were taken
    std::int64_t counted_ = 0;  ///< number of counted records
    bool durable_ = false, behind_ = false;
};

}  // namespace thalweg::detail
