// What every method under measurement can do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "measurement.hpp"
#include "problem.hpp"
#include "storage/throttle.hpp"

namespace thalweg::bench {

/// Seconds of the phases of one file on this rank (the library's: on its slowest rank).
struct Phases {
    double open = 0;   ///< create and define
    double put = 0;    ///< handing over
    double remap = 0;  ///< pack, move, swap
    double wait = 0;   ///< for other ranks or for room
    double write = 0;
    double close = 0;
};

/// What a method tells of the file that it closed last.
struct FileReport {
    Phases phases;
    std::int64_t writes = 0;     ///< calls that wrote, on this rank
    std::int64_t messages = -1;  ///< sent by this rank; negative: not known
    std::string service = "inline";
    std::string storage;  ///< what was used, where it differs from the method's entry
    std::string details;  ///< JSON text of the method's own, or empty
};

struct Context {
    MPI_Comm comm;
    const Problem& problem;
    const Options& options;
    int steps;
    std::string settings{};  ///< of this method, more than options.settings
};

/// The limit on one of the ranks where all write: the library's own code, so that all are held
/// alike.
inline detail::Throttle throttle_of(const Context& context) {
    return detail::Throttle(static_cast<double>(context.options.bandwidth) /
                            context.problem.ranks());
}

/// A method keeps what a model would keep over its run (buffers, plans, sessions) from file to
/// file. Failures are exceptions. @note All functions are collective.
class Method {
public:
    virtual ~Method() = default;
    virtual void open(const std::string& path) = 0;
    virtual void step(int step) = 0;
    virtual void close() = 0;
    /// Until files that were closed are complete.
    virtual void finish() {}
    virtual FileReport report() = 0;
};

/// Adds the time until its end to a phase.
class PhaseTimer {
public:
    explicit PhaseTimer(double& phase) : phase_(phase), start_(now()) {}
    ~PhaseTimer() { phase_ += now() - start_; }
    PhaseTimer(const PhaseTimer&) = delete;
    PhaseTimer& operator=(const PhaseTimer&) = delete;

private:
    double& phase_;
    double start_;
};

}  // namespace thalweg::bench
