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

/// Seconds that a file takes in each phase, on this rank; for the library, on the slowest rank.
struct Phases {
    double open = 0;   ///< creating the file and defining its variables
    double put = 0;    ///< calls that pass data
    double remap = 0;  ///< packing, moving, reordering
    double wait = 0;   ///< waiting for other ranks, or for space
    double write = 0;
    double close = 0;
};

/// A method's report on the file that it has closed last.
struct FileReport {
    Phases phases;
    std::int64_t writes = 0;     ///< write calls of this rank
    std::int64_t messages = -1;  ///< number of messages that this rank has sent; negative: unknown
    std::string service = "inline";
    std::string storage;  ///< storage that was used, if it is not that in the table of methods
    std::string details;  ///< JSON text of the method; may be empty
};

struct Context {
    MPI_Comm comm;
    const Problem& problem;
    const Options& options;
    int steps;
    std::string settings{};  ///< settings of this method, in addition to options.settings
};

/// Returns this rank's limit on the rate of writing, if all ranks write. It is the library's own
/// code, so that all methods are limited alike.
inline detail::Throttle throttle_of(const Context& context) {
    return detail::Throttle(static_cast<double>(context.options.bandwidth) /
                            context.problem.ranks());
}

/// A method, with the state that a model would keep from one file to the next, such as buffers,
/// plans and sessions. Errors are exceptions.
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

/// Measures the duration of a scope, and adds it to a phase.
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
