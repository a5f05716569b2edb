// The part of MPI that the library uses, behind an owning class; a serial twin stands in for it
// where there is one rank (and in unit tests).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// Combines words; `row` each of them in its own way (see RowOfWords).
enum class Reduce { sum, min, max, bit_or, row };

/// Words that one reduction combines: by `or`, by their maximum, and by their sum.
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

/// Bytes to or from another rank.
struct Packet {
    int rank = 0;
    std::vector<char> bytes;
};

/// A large piece of memory: of this rank, or seen by all ranks of a node.
class Memory {
public:
    virtual ~Memory() = default;
    char* data() const { return data_; }
    std::size_t size() const { return size_; }

protected:
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Memory of this rank alone, zero, in huge pages where the system has them: touching ordinary
/// pages for the first time costs several times the copy into them. Null if there is none.
std::unique_ptr<Memory> make_private_memory(std::size_t bytes);
/// Lets the system take back such memory, whose contents nobody needs, when it is short of memory.
/// Until then, writing to it again costs no first touch.
void offer(const Memory& memory);

/// The error of memory that the ranks of a node cannot share; where this process may open no more
/// files, which shared memory takes, it says so.
Status no_shared_memory(std::string text = "cannot allocate memory shared by the ranks of a node");

class Comm {
public:
    virtual ~Comm() = default;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// The communicator for libraries that want one; MPI_COMM_NULL of the serial twin.
    virtual MPI_Comm handle() const = 0;

    /// @note Collective, as are all but the point-to-point functions. Those that take memory for
    /// what comes from others throw NoMemoryAnywhere on all ranks, if one has none.
    virtual void barrier() = 0;
    virtual void all_reduce(std::span<std::int64_t> values, Reduce op) = 0;
    /// The same for the root alone; elsewhere the values stay as they are.
    virtual void reduce(std::span<std::int64_t> values, Reduce op, int root) = 0;
    /// The sum of what the ranks before this one gave.
    virtual std::int64_t sum_before(std::int64_t value) = 0;
    virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
    /// What every rank gave, on the root; empty elsewhere.
    virtual std::vector<std::vector<char>> gather(std::span<const char> bytes, int root) = 0;
    /// Sends each packet to its rank and returns those that came, ordered by sender. Costs
    /// messages only between ranks that have something to say.
    /// @param have  becomes false on a rank without memory for it; others do not learn of that
    virtual std::vector<Packet> exchange(const std::vector<Packet>& packets, bool& have) = 0;
    std::vector<Packet> exchange(const std::vector<Packet>& packets);
    /// The same ranks, whose messages are apart from those of this one.
    virtual std::unique_ptr<Comm> duplicate() { return split(0, rank_); }
    /// Ranks of equal color form a new communicator; null for a negative color.
    virtual std::unique_ptr<Comm> split(int color, int key) = 0;
    /// The ranks that share memory with this one.
    virtual std::unique_ptr<Comm> split_shared() = 0;
    /// Returns the rank of each of these ranks in a communicator that has them all. Local.
    virtual std::vector<int> ranks_in(const Comm& larger) const = 0;
    /// Memory that all ranks see, allocated whole by rank 0, whose number of bytes counts. Null if
    /// the memory cannot be had, on all ranks alike.
    virtual std::unique_ptr<Memory> share(std::size_t bytes) = 0;

    virtual MPI_Request start_send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual void finish(std::vector<MPI_Request>& requests) = 0;
    /// Waits for a message of that sender and tag and receives it into `data`; returns its size.
    virtual std::size_t receive(void* data, std::size_t capacity, int from, int tag) = 0;
    /// Gives MPI the processor for a moment, so that transfers of the caller's go on while the
    /// library sleeps.
    virtual void progress() = 0;

    /// Few bytes take one message, as they travel with their number.
    void broadcast(std::vector<char>& bytes, int root);

    /// Whether all ranks have it. @note Collective
    bool all_have(bool mine);

protected:
    int rank_ = 0;
    int size_ = 1;
};

/// Duplicates the communicator. @note Collective over comm
std::unique_ptr<Comm> make_mpi_comm(MPI_Comm comm);
std::unique_ptr<Comm> make_serial_comm();
/// This process alone, whether MPI runs or not.
std::unique_ptr<Comm> make_own_comm();

/// Gives all ranks the root's failure or, if it has none, its bytes; in one message if they are
/// few. @note Collective; the status is the same on every rank
Status broadcast_outcome(Comm& comm, const Status& mine, std::vector<char>& bytes, int root = 0);

/// The status of the lowest rank that failed, the same on every rank, naming that rank; where there
/// is no memory for its text, the code alone. @note Collective
Status agree(Comm& comm, const Status& mine);

}  // namespace thalweg::detail
