// One simulated run: ranks and servers that write a file, and the faults that they meet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace simulation {

/// A program of the model, its settings, and what goes wrong. All of it follows from the seed.
struct Scenario {
    std::uint64_t seed = 0;
    int ranks = 1, servers = 0;
    std::string session;  ///< settings of the session
    std::string file;     ///< settings of the file
    int ny = 1, nx = 1;
    int steps = 1;
    int appended = 0;  ///< steps that are appended to the closed file
    bool inline_service = false, checksums = false;
    bool reads = false;         ///< the ranks read the complete file
    int victim = -1;            ///< rank that dies; -1: none
    std::int64_t dies_at = -1;  ///< step of the scheduler
    std::int64_t ends_at = -1;  ///< step at which the others are killed
    std::string fault;          ///< description of what goes wrong

    explicit Scenario(std::uint64_t its_seed);
    int all() const { return ranks + servers; }
    std::string describe() const;
};

/// Results of a run for its judge, in memory that both processes share.
struct Report {
    std::int64_t promised = 0;  ///< number of records that calls have promised
    bool closed = false;        ///< all ranks have closed the file without an error
    bool reopened = false;      ///< the file was complete before it was appended to
    std::int64_t failed = 0;    ///< calls of the disk that failed
    std::int64_t steps = 0;
    std::uint64_t hash = 0;
    char wrong[2000] = "";  ///< description of a broken promise
};

enum class Exit { finished = 0, killed = 4, hangs = 5, endless = 6, aborted = 7 };

/// Runs a scenario in this process, which ends with an Exit.
/// @param folder  empty folder for the file a.nc
[[noreturn]] void run(const Scenario& scenario, const std::string& folder, Report& report);

/// Ends the process from within the simulation.
[[noreturn]] void end_job(const char* why);

/// Compares the file that a run has left with what was promised. @return description of what is
/// wrong; empty if all is right
std::string judge(const Scenario& scenario, const std::string& folder, Exit exit,
                  const Report& report);

int value_of(std::int64_t record, std::int64_t element);

/// Rank of the thread that is made next, outside the simulation; -1: threads are not simulated.
extern int rank_to_start;
/// Number of ranks and servers.
extern int ranks_of_run;

}  // namespace simulation
