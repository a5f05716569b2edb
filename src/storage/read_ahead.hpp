// Reads pieces of a file before they are requested, on a thread, into memory that is kept.
//
// A batch is the expected data of one read, cut in pieces. The thread reads batch after batch,
// piece after piece, in the expected order. A piece is identified by its ranges of the file, so a
// request for other ranges finds nothing. A piece that fails is not kept: the request reads it
// again, and returns the error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "storage/source.hpp"

namespace thalweg::detail {

/// Bytes that were read ahead and then used, and bytes that were read ahead in vain.
struct AheadCounts {
    std::int64_t taken = 0;
    std::int64_t unused = 0;
};

class ReadAhead {
public:
    /// @param memory  memory of size `bytes` for this rank's pieces; other ranks may read it
    ReadAhead(RangeReader& source, char* memory, std::int64_t bytes);
    /// Waits for the piece that is being read.
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// Starts the thread that reads ahead. Returns TW_ENOMEM if that is impossible.
    Status start();

    /// Waits for the piece that is being read. No other piece is begun before resume(), so the
    /// caller may use the source.
    void pause();
    void resume();
    /// Reads all pieces again because the source was refreshed. Must be called between pause() and
    /// resume().
    void read_again();

    /**
     * Begins or continues a batch: the pieces for one expected read of these variables and records.
     * @param asked  the user has requested this read; otherwise it is a guess
     * @param spare  the batch may be dropped if other batches need its memory
     * @return number of pieces in the batch so far
     */
    std::int64_t expect(const std::vector<PlaceSource>& sources, bool asked, bool spare);
    /// Returns the sources of the open batch. Ranges that are added to it must refer to these
    /// objects.
    const std::vector<PlaceSource>& expected() const { return open_->sources; }
    /// Adds a piece to the open batch, if the source can prepare it for the thread that reads
    /// ahead.
    /// @param ranges  function that returns the ranges to read for a given address of the piece
    /// @return false if there is no memory for it
    bool add(std::int64_t bytes, const std::function<std::vector<ReadRange>(char*)>& ranges);

    /// Returns the offset of a piece in the memory, valid until release(); -1 if the piece was not
    /// read ahead.
    /// @param base  address at which the piece would begin in the caller's memory
    /// @param wait  if the piece is expected but not read yet, wait for it
    std::int64_t take(std::span<const ReadRange> ranges, const char* base, bool wait);
    /// Frees the memory of all pieces that take() has returned.
    void release();
    /// Drops the batch of a read that is over, and guesses of the same variables except the batches
    /// `but`. Batches that were expected before the one that was read become spare.
    void forget(const std::vector<PlaceSource>& read,
                std::span<const std::vector<PlaceSource>> but);
    /// Tests if a read of other variables than these is expected.
    bool expects_others(const std::vector<PlaceSource>& sources) const;

    const AheadCounts& counts() const { return counts_; }

    /// Pauses reading ahead for the duration of a scope. Does nothing if given null.
    class Pause {
    public:
        explicit Pause(ReadAhead* ahead) : ahead_(ahead) {
            if (ahead_ != nullptr) ahead_->pause();
        }
        ~Pause() {
            if (ahead_ != nullptr) ahead_->resume();
        }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        ReadAhead* ahead_;
    };

private:
    /// A range of the memory. The blocks together cover all of the memory.
    struct Block {
        std::int64_t at = 0, bytes = 0;
        bool used = false;
    };
    struct Piece {
        enum State { waiting, reading, ready, failed };
        std::list<Block>::iterator block;
        std::vector<ReadRange> ranges;
        State state = waiting;
    };
    struct Batch {
        std::vector<PlaceSource> sources;
        bool asked = false, spare = false;
        std::int64_t added = 0;  ///< number of pieces added so far, including those already taken
        std::list<Piece> pieces;
    };

    void run();
    Piece* next();
    std::list<Block>::iterator take_room(std::int64_t bytes);
    std::list<Block>::iterator find_room(std::int64_t bytes);
    void free(std::list<Block>::iterator block) noexcept;
    void drop(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock);

    RangeReader& source_;
    char* memory_;
    std::list<Block> blocks_;  ///< sorted by position; two free blocks are never adjacent
    std::list<Batch> batches_;
    Batch* open_ = nullptr;          ///< batch to which add() adds pieces
    const Batch* wanted_ = nullptr;  ///< batch for which a caller waits
    std::list<Piece> taken_;
    AheadCounts counts_;

    mutable std::mutex lock_;
    std::condition_variable changed_;
    bool paused_ = false, reading_ = false, stops_ = false;
    std::thread thread_;
};

}  // namespace thalweg::detail
