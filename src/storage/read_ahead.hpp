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

/// Counts of bytes that were read ahead and then used, and of those that were not used.
struct AheadCounts {
    std::int64_t taken = 0;
    std::int64_t unused = 0;
};

class ReadAhead {
public:
    /// @param memory  memory of `bytes` bytes for this rank's pieces, which other ranks may read
    ReadAhead(Source& source, char* memory, std::int64_t bytes);
    /// Waits for the piece that is being read.
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// Starts the thread. Returns TW_ENOMEM if that is impossible.
    Status start();

    /// Waits for the piece that is being read. The thread begins no other before resume(), so the
    /// caller may use the source.
    void pause();
    void resume();
    /// Reads all pieces again, because the source was refreshed. Call between pause() and resume().
    void read_again();

    /**
     * Begins or continues a batch: the expected read of these variables and records.
     * @param asked  the user requested the read; else it is a guess
     * @param spare  drop the batch if others need its room
     * @return the number of its pieces so far
     */
    std::int64_t expect(const std::vector<PlaceSource>& sources, bool asked, bool spare);
    /// Returns the sources of the open batch; ranges that are added refer to them.
    const std::vector<PlaceSource>& expected() const { return open_->sources; }
    /// Adds a piece to the batch, if the source can prepare it for reading by the thread.
    /// @param ranges  returns the ranges to read, given the piece's address
    /// @return false if there is no room
    bool add(std::int64_t bytes, const std::function<std::vector<ReadRange>(char*)>& ranges);

    /// Returns the offset of a piece in the memory, valid until release(); -1: it was not read
    /// ahead.
    /// @param base  address at which the piece would begin in the caller's memory
    /// @param wait  wait for a piece that is expected and not yet read
    std::int64_t take(std::span<const ReadRange> ranges, const char* base, bool wait);
    /// Frees the memory of pieces that were taken.
    void release();
    /// Drops what is left of batches that were read: requested ones, and guesses of the same
    /// variables, except the given ones. Batches that were expected before them become spare.
    void forget(const std::vector<PlaceSource>& read,
                std::span<const std::vector<PlaceSource>> but);
    /// Tests if a read of other variables is expected.
    bool expects_others(const std::vector<PlaceSource>& sources) const;

    const AheadCounts& counts() const { return counts_; }

    /// A pause for the duration of a scope; does nothing if given null.
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
    /// A range of the memory; the blocks together cover all of it.
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
        std::int64_t added = 0;  ///< number of pieces added so far, including those that were taken
        std::list<Piece> pieces;
    };

    void run();
    Piece* next();
    std::list<Block>::iterator take_room(std::int64_t bytes);
    std::list<Block>::iterator find_room(std::int64_t bytes);
    void free(std::list<Block>::iterator block) noexcept;
    void drop(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock);

    Source& source_;
    char* memory_;
    std::list<Block> blocks_;  ///< sorted; two free blocks are never adjacent
    std::list<Batch> batches_;
    Batch* open_ = nullptr;          ///< batch to which add() adds
    const Batch* wanted_ = nullptr;  ///< batch for which a caller waits
    std::list<Piece> taken_;
    AheadCounts counts_;

    mutable std::mutex lock_;
    std::condition_variable changed_;
    bool paused_ = false, reading_ = false, stops_ = false;
    std::thread thread_;
};

}  // namespace thalweg::detail
