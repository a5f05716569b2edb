// Chunks that wait until there are enough of them to be compressed by several threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "storage/chunked/filters.hpp"

namespace thalweg::detail {

/// Receives a filtered chunk, with its variable, its (first) record and its number. The data are
/// valid only during the call.
using TakeChunk = std::function<Status(int variable, std::int64_t record, std::int64_t number,
                                       const FilteredChunk& chunk)>;

class ChunkBatch {
public:
    /// @param threads  number of threads that compress, including the caller
    /// @param most     size in bytes of the elements after which the batch is full
    ChunkBatch(int threads, std::int64_t most) : most_(most), compressors_(threads) {}

    /// Adds a chunk and returns memory for its elements.
    /// @param filters  must remain valid until finish()
    char* add(int variable, std::int64_t record, std::int64_t number,
              const std::vector<StoredFilter>& filters, std::int64_t bytes);
    /// Tests if the chunks should be compressed before another one is added.
    bool is_full() const { return bytes_ >= most_; }
    /// Tests if the batch contains chunks of a variable and a record with numbers from `first` to
    /// `end` - 1.
    bool has(int variable, std::int64_t record, std::int64_t first, std::int64_t end) const;
    /// Compresses the chunks and passes them on, in the order in which they were added. The batch
    /// is empty afterwards, even after an error.
    Status finish(const TakeChunk& take);

private:
    struct Waiting {
        int variable;
        std::int64_t record, number;
        const std::vector<StoredFilter>* filters;
        std::int64_t bytes;
    };

    std::int64_t most_;
    std::vector<Waiting> waiting_;
    /// For each chunk its elements, later the filtered chunk. The memory is kept for later batches,
    /// as long as it is not much larger than a full batch.
    std::vector<std::vector<char>> data_;
    std::vector<Compressor> compressors_;  ///< one for each thread
    std::int64_t bytes_ = 0;               ///< size of the elements
    std::atomic<std::size_t> next_{0};     ///< index of the next chunk to compress

    Status compress(Compressor& compressor);
    Status compress_all();
};

}  // namespace thalweg::detail
