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

/// Bytes that were read ahead and used, and bytes that were read ahead in vain.
struct AheadCounts {
    std::int64_t taken = 0;
    std::int64_t unused = 0;
};

class ReadAhead {
public:
    /// @param memory  `bytes` of it, for this rank's pieces; other ranks may read there
    ReadAhead(Source& source, char* memory, std::int64_t bytes);
    /// Waits for the piece that is being read.
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// Starts the thread. Returns TW_ENOMEM if that is impossible.
    Status start();

    /// Waits for the piece that is being read. Until resume() none is begun, and the caller may use
    /// the source.
    void pause();
    void resume();
    /// Reads all pieces again, as the source was refreshed. Call while paused.
    void read_again();

    /**
     * Begins or continues a batch: the expected read of these variables and records.
     * @param asked  the user requested it; else it is a guess
     * @param spare  drop it if there is no room for others
     * @return the number of its pieces so far
     */
    std::int64_t expect(const std::vector<PlaceSource>& sources, bool asked, bool spare);
    /// Returns the parts of the batch; ranges that are added point to them.
    const std::vector<PlaceSource>& expected() const { return open_->sources; }
    /// Adds a piece to the batch, unless the source is not prepared for reading by the thread.
    /// @param ranges  returns the ranges to read, given the piece's address
    /// @return false if there is no room
    bool add(std::int64_t bytes, const std::function<std::vector<ReadRange>(char*)>& ranges);

    /// Returns the offset of a piece in the memory, valid until release(); -1: it is not there.
    /// @param base  address at which the piece would begin in the caller's memory
    /// @param wait  wait for a piece that is expected and not yet read
    std::int64_t take(std::span<const ReadRange> ranges, const char* base, bool wait);
    /// Frees the memory of pieces that were taken.
    void release();
    /// Drops the rest of batches that were read: requested ones, and guesses of the same variables,
    /// except the given ones. Batches expected before them become spare.
    void forget(const std::vector<PlaceSource>& read,
                std::span<const std::vector<PlaceSource>> but);
    /// Tests if anything of other variables is expected.
    bool expects_others(const std::vector<PlaceSource>& sources) const;

    const AheadCounts& counts() const { return counts_; }

    /// Pauses for a scope; does nothing if given null.
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
    /// A part of the memory; all blocks together are the whole.
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
        std::int64_t added = 0;  ///< number of pieces so far, including those that were taken
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
    std::list<Block> blocks_;  ///< no two free blocks are adjacent
    std::list<Batch> batches_;
    Batch* open_ = nullptr;          ///< batch that add() adds to
    const Batch* wanted_ = nullptr;  ///< batch that a caller waits for
    std::list<Piece> taken_;
    AheadCounts counts_;

    mutable std::mutex lock_;
    std::condition_variable changed_;
    bool paused_ = false, reading_ = false, stops_ = false;
    std::thread thread_;
};

}  // namespace thalweg::detail
