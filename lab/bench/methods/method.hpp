// The methods of writing and reading: their interface and their table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <thalweg/thalweg.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fields/problem.hpp"
#include "measurement.hpp"
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
    double writes = 0;     ///< write calls of this rank
    double messages = -1;  ///< number of messages that this rank has sent; negative: unknown
    double queue_waits = -1, queue_wait_seconds = -1;  ///< negative: unknown
    std::string service = "inline";
    std::string storage, method;  ///< what the library has used; empty: as the table says
};

struct Context {
    MPI_Comm comm;
    const Problem& problem;
    const Options& options;
    int steps;
    std::string settings{};        ///< settings of the method
    tw_session session = nullptr;  ///< methods of the library end it
    std::byte* arrays[2]{};        ///< two sets of arrays for what is read, laid out as the fields
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
    /// Writes the record of a step, or reads it into one of the sets of arrays in turn.
    virtual void step(int step) = 0;
    virtual void close() = 0;
    /// Waits until closed files are complete.
    virtual void finish() {}
    virtual FileReport report() { return report_; }

protected:
    FileReport report_;
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

enum class FileKind { bytes, classic, netcdf4 };

struct MethodInfo {
    std::string name;
    std::string text;
    Mode mode;  ///< the measurement that knows it
    std::string storage;
    FileKind kind;
    bool library;  ///< the method uses Thalweg; all its classic files must have the same bytes
    std::unique_ptr<Method> (*make)(const Context&);  ///< null: no output or input
    std::string settings{};                           ///< in the form "name=value; ..."
    Share share = Share::own;
    bool usual = false;  ///< measured unless methods are named
};

const std::vector<MethodInfo>& all_methods();

/// Returns a list of all workloads and methods.
std::string listing();

/// Returns a method of a measurement. "record:threads=2:writers=4" is the method `record` with
/// these settings of the library. Throws UsageError if there is no such method.
MethodInfo find_method(Mode mode, const std::string& name);

}  // namespace thalweg::bench
