// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/chunk_batch.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/system/thread.hpp"

namespace thalweg::detail {

namespace {

/// Size of elements whose compression takes much longer than starting a thread.
constexpr std::int64_t least_of_thread = 128 << 10;

/// Threads that end before this object does.
struct Helpers {
    std::vector<std::thread> threads;
    ~Helpers() {
        for (std::thread& t : threads)
            if (t.joinable()) t.join();
    }
};

}  // namespace

char* ChunkBatch::add(int variable, std::int64_t record, std::int64_t number,
                      const std::vector<StoredFilter>& filters, std::int64_t bytes) {
    const std::size_t i = waiting_.size();
    if (data_.size() == i) data_.emplace_back();
    // Never shrink the vectors: growing them again would clear the memory, which takes time.
    data_[i].resize(std::max<std::size_t>(data_[i].size(), bytes));
    waiting_.push_back({variable, record, number, &filters, bytes});
    bytes_ += bytes;
    return data_[i].data();
}

bool ChunkBatch::has(int variable, std::int64_t record, std::int64_t first,
                     std::int64_t end) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
        return w.variable == variable && w.record == record && w.number >= first && w.number < end;
    });
}

/// Compresses chunks until all are compressed, or taken by other threads.
Status ChunkBatch::compress(Compressor& compressor) {
    return catch_errors([&] {
        for (std::size_t i; (i = next_.fetch_add(1)) < waiting_.size();) {
            Waiting& w = waiting_[i];
            std::vector<char>& data = data_[i];
            const FilteredChunk chunk = compressor.apply(*w.filters, data.data(), w.bytes);
            w.bytes = chunk.bytes;
            if (chunk.data == data.data()) continue;
            data.resize(std::max<std::size_t>(data.size(), chunk.bytes));
            std::copy_n(chunk.data, chunk.bytes, data.data());
        }
    });
}

Status ChunkBatch::compress_all() {
    const std::size_t threads = std::clamp<std::size_t>(
        std::min<std::size_t>(waiting_.size(), bytes_ / least_of_thread), 1, compressors_.size());
    next_ = 0;
    std::vector<Status> ended(threads);
    {
        Helpers helpers;
        helpers.threads.resize(threads);
        for (std::size_t i = 1; i < threads; ++i) {
            const auto run = [&, i] { ended[i] = compress(compressors_[i]); };
            // Without another thread, those that have started share the chunks.
            if (!start_thread(helpers.threads[i], run, "compresses chunks").ok()) break;
        }
        ended[0] = compress(compressors_[0]);
    }
    for (Status& status : ended)
        if (!status.ok()) return std::move(status);
    return {};
}

Status ChunkBatch::finish(const TakeChunk& take) {
    Status status = waiting_.empty() ? Status{} : compress_all();
    bytes_ = 0;
    const std::vector<Waiting> all = std::exchange(waiting_, {});
    for (std::size_t i = 0; i < all.size() && status.ok(); ++i)
        status =
            take(all[i].variable, all[i].record, all[i].number, {data_[i].data(), all[i].bytes});
    std::int64_t kept = 0;
    for (const std::vector<char>& data : data_) kept += std::ssize(data);
    // Chunks of different sizes at the same index can leave large memory at all indices.
    if (kept > 2 * most_) data_.clear();
    return status;
}

}  // namespace thalweg::detail
