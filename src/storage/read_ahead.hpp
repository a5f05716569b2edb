// Reads pieces of a file before they are asked for, on a thread, into memory that is kept.
//
// A batch is what one read will ask for, cut in pieces. The thread reads batch after batch, piece
// after piece, in the order in which they were expected. A piece is known by what it takes of the
// file, so that another wish than the expected one just finds nothing. A failed piece is not kept:
// who asks for it reads it again, and meets the failure.
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

/// Bytes that were read ahead and taken, and those that were read ahead in vain.
struct AheadCounts {
    std::int64_t taken = 0;
    std::int64_t unused = 0;
};

class ReadAhead {
public:
    /// @param memory  `bytes` of them, for this rank's pieces alone; others may read there
    ReadAhead(Source& source, char* memory, std::int64_t bytes);
    /// Waits for the piece that is under way.
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// TW_ENOMEM where there can be no thread.
    Status start();

    /// Waits for the piece that is under way. Until resume() no other is begun, and the source is
    /// the caller's.
    void pause();
    void resume();
    /// The source was refreshed: what was read before it is read again. While paused.
    void read_again();

    /**
     * Begins a batch, or goes on with it: what will be read of these variables and records.
     * @param asked  by the user; else a guess
     * @param spare  whether it gives way where there is no room for others
     * @return the number of pieces that it has already
     */
    std::int64_t expect(const std::vector<PlaceSource>& sources, bool asked, bool spare);
    /// What the batch is of: ranges that are added point at these parts.
    const std::vector<PlaceSource>& expected() const { return open_->sources; }
    /// Adds a piece to it, unless the source is not prepared to have the thread read it.
    /// @param ranges  tells what is to be read to the place that it is given
    /// @return false if there is no room
    bool add(std::int64_t bytes, const std::function<std::vector<ReadRange>(char*)>& ranges);

    /// Where a piece lies, counted from the beginning of the memory, until release(); -1: it is not
    /// there.
    /// @param base  the piece would begin there in the caller's memory
    /// @param wait  whether to wait for a piece that is expected and not yet read
    std::int64_t take(std::span<const ReadRange> ranges, const char* base, bool wait);
    /// Frees the memory of what was taken.
    void release();
    /// Drops what is left of batches that were read: what was asked for, and guesses of the same
    /// variables, but for these. What should have been read before them gives way from now on.
    void forget(const std::vector<PlaceSource>& read,
                std::span<const std::vector<PlaceSource>> but);
    /// Whether anything of other variables is expected.
    bool expects_others(const std::vector<PlaceSource>& sources) const;

    const AheadCounts& counts() const { return counts_; }

    /// Paused for a scope; of null, nothing.
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
    /// The memory, from its beginning to its end.
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
        std::int64_t added = 0;  ///< pieces so far, those that were taken included
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
    std::list<Block> blocks_;  ///< no two free ones touch
    std::list<Batch> batches_;
    Batch* open_ = nullptr;          ///< what add() adds to
    const Batch* wanted_ = nullptr;  ///< somebody waits for it
    std::list<Piece> taken_;
    AheadCounts counts_;

    mutable std::mutex lock_;
    std::condition_variable changed_;
    bool paused_ = false, reading_ = false, stops_ = false;
    std::thread thread_;
};

}  // namespace thalweg::detail
