// The part of MPI that the library uses, as a class that owns a communicator. Another class
// replaces it for a single rank, and in unit tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// Operations that combine words; `row` combines groups of them in different ways (see RowOfWords).
enum class Reduce { sum, min, max, bit_or, row };

/// Words that one reduction combines: some by bitwise or, some by the maximum, some by the sum.
struct RowOfWords {
    std::array<std::int64_t, 28> any{};
    std::array<std::int64_t, 12> most{};
    std::array<std::int64_t, 24> sums{};

    static constexpr std::size_t size = 64;
    std::span<std::int64_t> words() { return {any.data(), size}; }
};
static_assert(sizeof(RowOfWords) == RowOfWords::size * sizeof(std::int64_t));

/// Combines words with those of another rank; with Reduce::row, n is RowOfWords::size.
void combine(std::int64_t* into, const std::int64_t* from, std::size_t n, Reduce op);

/// A message to or from another rank.
struct Packet {
    int rank = 0;
    std::vector<char> bytes;
};

/// A large piece of memory, of this rank alone or seen by all ranks of a node.
class Memory {
public:
    virtual ~Memory() = default;
    char* data() const { return data_; }
    std::size_t size() const { return size_; }
    /// Touches the pages of a part. @return false if there is no memory for them
    virtual bool touch(std::size_t offset, std::size_t bytes) {
        (void)offset, (void)bytes;
        return true;
    }
    /// Maps the pages of a part, which other ranks touch, many at a time. Otherwise the first write
    /// to each is a page fault of its own, which costs several times as much.
    virtual void map(std::size_t offset, std::size_t bytes) { (void)offset, (void)bytes; }
    /// Length in bytes of the leading part whose pages are touched. In shared memory, each rank
    /// touches a share of it.
    std::size_t touched = 0;

protected:
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Allocates memory of this rank alone, zeroed, in huge pages where the system has them: touching
/// ordinary pages for the first time takes several times as long as copying into them.
/// @return null if there is not enough
std::unique_ptr<Memory> make_private_memory(std::size_t bytes);

/// Returns the error for memory that the ranks of a node cannot share. The text says if the cause
/// is that this process cannot open more files, which shared memory needs, or may be a limit on
/// its size.
Status no_shared_memory(std::string text = "cannot allocate memory shared by the ranks of a node");

class Comm {
public:
    virtual ~Comm() = default;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Returns the number of a rank for messages: its rank here, unless other numbers are set.
    int shown_rank(int rank) const { return shown_ranks_.empty() ? rank : shown_ranks_[rank]; }
    void show_ranks(std::vector<int> ranks) { shown_ranks_ = std::move(ranks); }
    /// Returns the communicator for use by other libraries; MPI_COMM_NULL if this build has no MPI.
    virtual MPI_Comm handle() const = 0;

    /// @note Collective, as are all functions below but the point-to-point ones. Functions that
    ///   allocate memory for data of other ranks throw std::bad_alloc on all ranks if one rank has
    ///   none.
    virtual void barrier() = 0;
    virtual void all_reduce(std::span<std::int64_t> values, Reduce op) = 0;
    /// Combines the values on the root only; those of other ranks do not change.
    virtual void reduce(std::span<std::int64_t> values, Reduce op, int root) = 0;
    /// Returns the sum of the values of the ranks before this one.
    virtual std::int64_t sum_before(std::int64_t value) = 0;
    virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
    /// Returns the bytes of each rank on the root; an empty list on other ranks.
    virtual std::vector<std::vector<char>> gather(std::span<const char> bytes, int root) = 0;
    /// Sends each packet to its rank and returns the packets received, ordered by sender. Costs
    /// messages only between ranks that have packets for each other.
    /// @param have  set to false on a rank that lacks memory for the packets; other ranks are not
    ///              informed
    virtual std::vector<Packet> exchange(const std::vector<Packet>& packets, bool& have) = 0;
    /// Makes a communicator of the same ranks with separate messages.
    virtual std::unique_ptr<Comm> duplicate() { return split(0, rank_); }
    /// Makes a communicator of the ranks of equal color; null for a negative color.
    virtual std::unique_ptr<Comm> split(int color, int key) = 0;
    /// Makes a communicator of the ranks that share memory with this one.
    virtual std::unique_ptr<Comm> split_shared() = 0;
    /// Returns the rank of each of these ranks in a communicator that contains them all. Local.
    virtual std::vector<int> ranks_in(const Comm& larger) const = 0;
    /// Allocates memory that all ranks share. The number of bytes is that of rank 0.
    /// @return null, on all ranks alike, if there is not enough
    virtual std::unique_ptr<Memory> share(std::size_t bytes) = 0;

    virtual MPI_Request start_send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual void finish(std::vector<MPI_Request>& requests) = 0;
    /// Waits for a message with this sender and tag, and receives it into `data`. Returns the size
    /// of the message.
    virtual std::size_t receive(void* data, std::size_t capacity, int from, int tag) = 0;
    /// Lets MPI work for a moment, so that the model's transfers progress while the library sleeps.
    virtual void progress() = 0;

    /// Broadcasts bytes and their number, in one message if they are few.
    void broadcast(std::vector<char>& bytes, int root);

    /// Tests if `mine` is true on all ranks. @note Collective
    bool all_have(bool mine);

protected:
    int rank_ = 0;
    int size_ = 1;
    std::vector<int> shown_ranks_;  ///< numbers for messages; empty: the ranks
};

/// Tests if MPI has been started and has not ended. Local.
bool mpi_is_running();

/// Duplicates the communicator. @note Collective over comm
std::unique_ptr<Comm> make_mpi_comm(MPI_Comm comm);
std::unique_ptr<Comm> make_serial_comm();
/// Makes a communicator of this process alone, whether MPI runs or not.
std::unique_ptr<Comm> make_own_comm();

/// Broadcasts the root's failure or, if it has none, its bytes; in one message if they are few.
/// @note Collective; the status is the same on every rank
Status broadcast_outcome(Comm& comm, const Status& mine, std::vector<char>& bytes, int root = 0);

/// Implements broadcast_outcome() with a given function that broadcasts the root's bytes.
Status outcome_of(const Comm& comm, const Status& mine, std::vector<char>& bytes, int root,
                  const std::function<void(std::vector<char>&)>& broadcast);

/// Returns the status of the lowest rank that failed, the same on every rank; the text names that
/// rank.
/// @note Collective
Status agree(Comm& comm, const Status& mine);

/// Compares the text of each rank with that of rank 0.
/// @param text     function that returns this rank's text
/// @param compare  function that compares: (text of rank 0, text of this rank) -> Status
/// @note Collective; the status is the same on every rank
template <class Text, class Compare>
Status compare_with_first(Comm& comm, Text&& text, Compare&& compare) {
    const std::string mine = text();
    std::vector<char> first(mine.begin(), mine.end());
    comm.broadcast(first, 0);
    return agree(comm, compare(std::string(first.begin(), first.end()), mine));
}

/// Returns TW_EMPI for a communicator that a session cannot use, or if MPI is not running. Local.
Status check_communicator(MPI_Comm comm);

/// Tests if two communicators have the same ranks in the same order. Local.
bool has_ranks_of(const Comm& comm, MPI_Comm other);

/// Gives up a communicator and all made from it: later, they are not freed if freeing them would
/// wait for other ranks.
void give_up(Comm& comm);
bool is_given_up(const Comm& comm);

}  // namespace thalweg::detail
