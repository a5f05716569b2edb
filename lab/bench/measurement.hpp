// Clocks, barriers, processor time and memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::bench {

/// Returns the seconds on a clock that is the same for all ranks of a node. MPI_Wtime may start
/// separately on each rank.
double now();

/// Returns the processor seconds of all threads of this process.
double cpu_seconds();
/// Returns the number of voluntary context switches of all threads of this process.
std::int64_t voluntary_switches();

/// Returns the processor seconds of other processes on this machine, as far as they are known.
double cpu_seconds(const std::vector<pid_t>& processes);

/// Barriers and reductions in which ranks sleep. If there are more ranks than cores, a rank that
/// polls in MPI_Barrier would take the core from ranks that still write.
class RankGroup {
public:
    explicit RankGroup(MPI_Comm comm);
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    /// Waits for all ranks. Sleeps, except for a poll every `nap` microseconds.
    /// @note Collective
    void wait(unsigned nap = 200) const;

    /// Agrees on an instant a few milliseconds ahead, sleeps until then, and returns the instant,
    /// which is the same for all ranks of a node. Times are counted from this instant, even on
    /// ranks that get a core only later. Otherwise, with more ranks than cores, ranks would run one
    /// after another, and each would measure a short time.
    /// @note Collective
    double start() const;

    MPI_Comm comm() const { return comm_; }
    MPI_Comm node() const { return node_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    int nodes() const { return nodes_; }

    double max(double value) const;
    double sum(double value) const;
    /// Returns, on all ranks, the text of the first rank whose text is not empty; otherwise "".
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
    std::int64_t code = 0;    ///< resident pages of program code: mapped files of programs and
                              ///< libraries
    std::int64_t peak = 0;    ///< peak of resident memory since the last reset_peak()
    std::int64_t shared = 0;  ///< resident shared memory, without dividing pages among their users
    /// Resident shared memory, with each page divided by the number of its users.
    std::int64_t shared_share = 0;
};

/// Returns freed memory to the system, so that only memory in use is resident.
void trim_memory();

/// Resets the peak.
/// @return false if the system does not permit it, so that the peak is that of the whole run
bool reset_peak();

/// Returns the present memory.
/// @param with_shares  also compute shared_share, which takes some milliseconds
Memory memory_now(bool with_shares);

/// The increase of memory from `before` to the peak, without program code.
/// @param open memory, with shares, at a time when shared memory was in use, if known
struct Growth {
    std::int64_t whole = 0;  ///< bytes; a shared page counts fully
    std::int64_t fair = 0;   ///< bytes; a shared page counts as its fraction for each of its users
};
Growth growth(const Memory& before, const Memory& open, const Memory& after);

/// Makes fsync return at once, without effect.
void skip_fsync(bool skip);

}  // namespace thalweg::bench
