// The interface of the methods under measurement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "measurement.hpp"
#include "problem.hpp"
#include "storage/throttle.hpp"

namespace thalweg::bench {

/// Seconds that one file takes in each phase, on this rank (with the library: on its slowest rank).
struct Phases {
    double open = 0;   ///< creating the file and defining its variables
    double put = 0;    ///< calls that pass data
    double remap = 0;  ///< packing, moving, reordering
    double wait = 0;   ///< waiting for other ranks or for room
    double write = 0;
    double close = 0;
};

/// A method's report on the file that it closed last.
struct FileReport {
    Phases phases;
    std::int64_t writes = 0;     ///< write calls of this rank
    std::int64_t messages = -1;  ///< number of messages sent by this rank; negative: unknown
    std::string service = "inline";
    std::string storage;  ///< storage that was used, if it differs from the method's entry
    std::string details;  ///< JSON text of the method, or empty
};

struct Context {
    MPI_Comm comm;
    const Problem& problem;
    const Options& options;
    int steps;
    std::string settings{};  ///< settings of this method besides options.settings
};

/// Returns a rank's limit on bandwidth when all write: the library's own code, so that all methods
/// are limited alike.
inline detail::Throttle throttle_of(const Context& context) {
    return detail::Throttle(static_cast<double>(context.options.bandwidth) /
                            context.problem.ranks());
}

/// A method with the state that a model would keep from file to file (buffers, plans, sessions).
/// Errors are exceptions.
/// @note All functions are collective
class Method {
public:
    virtual ~Method() = default;
    virtual void open(const std::string& path) = 0;
    virtual void step(int step) = 0;
    virtual void close() = 0;
    /// Waits until closed files are complete.
    virtual void finish() {}
    virtual FileReport report() = 0;
};

/// Adds the duration of a scope to a phase.
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
