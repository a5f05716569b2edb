// Clocks, barriers, processor time and memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace thalweg::bench {

/// Returns seconds on a clock that all ranks of a node share (MPI_Wtime may start separately on
/// each).
double now();

/// Returns the processor seconds of this process with its threads.
double cpu_seconds();
/// Returns the number of voluntary context switches of this process with its threads.
std::int64_t voluntary_switches();

/// Returns the processor seconds of another process on this machine; 0 if unknown.
double cpu_seconds(pid_t process);

/// Barriers and reductions in which ranks sleep: where ranks outnumber cores, a rank polling in
/// MPI_Barrier would take the core from ranks that still write.
class Meeting {
public:
    explicit Meeting(MPI_Comm comm);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    /// Waits for all ranks, asleep except for a poll every `nap` microseconds.
    /// @note Collective
    void wait(unsigned nap = 200) const;

    /// Agrees on an instant a few milliseconds ahead, sleeps until then, and returns it. It is the
    /// same for all ranks of a node. A rank's time counts from it even if the rank gets a core only
    /// later; otherwise, with more ranks than cores, ranks would run one after another, each with a
    /// short time of its own.
    /// @note Collective
    double start() const;

    MPI_Comm comm() const { return comm_; }
    MPI_Comm node() const { return node_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    int nodes() const { return nodes_; }

    double max(double value) const;
    double sum(double value) const;
    std::int64_t max(std::int64_t value) const;
    std::int64_t sum(std::int64_t value) const;
    /// Returns the largest sum of values over the ranks of a node.
    std::int64_t max_node_sum(std::int64_t value) const;
    /// Returns on every rank the text of the first rank that has one; else "".
    std::string first_text(std::string text) const;

private:
    MPI_Comm comm_;
    MPI_Comm node_;
    int rank_ = 0;
    int ranks_ = 1;
    int node_ranks_ = 1;
    int nodes_ = 1;
};

/// The memory of this process in bytes.
struct Memory {
    std::int64_t resident = 0;
    std::int64_t code = 0;    ///< resident pages of mapped files: programs, libraries
    std::int64_t peak = 0;    ///< peak of resident memory since the last reset_peak()
    std::int64_t shared = 0;  ///< resident shared memory; each page counts in full
    /// Resident shared memory; each page is divided by the number of its users.
    std::int64_t shared_share = 0;
};

/// Returns freed memory to the system, so that resident memory is memory in use.
void trim_memory();

/// Resets the peak.
/// @return false if the system does not permit it, so that the peak is that of the whole run
bool reset_peak();

/// Returns the present memory.
/// @param with_shares  also set shared_share, which takes some milliseconds
Memory memory_now(bool with_shares);

/// Returns the rise of memory from `before` to its peak, without program code.
/// @param open  if known, the memory in between, with shares, while the shared memory is in use
struct Growth {
    std::int64_t whole = 0;  ///< each shared page counts in full
    std::int64_t fair = 0;   ///< each shared page is divided by the number of its users
};
Growth growth(const Memory& before, const Memory& open, const Memory& after);

/// The fsync and fdatasync calls of this process so far; see fsync_count.cpp.
struct Fsyncs {
    std::int64_t calls = 0;
    double seconds = 0;
};
Fsyncs fsyncs();

/// Makes fsync return at once, without effect.
void skip_fsync(bool skip);

}  // namespace thalweg::bench
