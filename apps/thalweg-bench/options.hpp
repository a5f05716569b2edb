// The command line of thalweg-bench.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace thalweg::bench {

/// A mistake of the user that every rank sees alike: rank 0 prints it and all ranks leave with 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Verify { none, first, all };
enum class Chunk { record, level, library };

/// What all measurements have in common, and what the methods read.
struct Options {
    std::string workload;
    std::vector<std::string> methods;
    int repetitions = 5;
    int warmup = 1;
    int steps = 0;  ///< 0: as many as move 200 MB

    std::string grid;     ///< "", "1d", "4x4": the process grid
    double scale = 0;     ///< of the horizontal sizes; 1: the paper's; 0: the workload's default
    std::int64_t nx = 0;  ///< 0: the workload's own
    std::int64_t ny = 0;
    std::int64_t nz = 0;
    int variables = 0;  ///< of the workload's main group

    std::string dir = ".";
    std::string json;
    std::string format = "cdf5";
    bool copy_puts = false;
    std::string settings;
    std::vector<std::pair<std::string, std::string>> hints;
    std::int64_t bandwidth = 0;  ///< bytes a second of all writers; 0: no limit
    std::int64_t raw_piece = 0;  ///< 0: one pwrite a step
    Chunk netcdf4_chunk = Chunk::record;
    int deflate = 0;  ///< of the netCDF-4 methods
    bool shuffle = false;

    double prewarm_gb = -1;  ///< negative: 2, or twice what a repetition writes
    Verify verify = Verify::first;
    int settle_ms = 10;
    bool sync_between = false;
    bool durable = false;
    bool keep = false;
    bool progress = false;
    bool table = true;
};

/// Adds what sizes a workload.
void add_workload_options(CLI::App& app, Options& options);

/// Adds what every measurement takes: files, settings, how to measure.
void add_measuring_options(CLI::App& app, Options& options);

enum class Parsed { run, done };

/// Reads a command line; `text` receives the help if that was asked for. Throws UsageError.
Parsed parse(CLI::App& app, int argc, char** argv, std::string& text);

/// Reads the command line; every rank gets the same answer. Text that the user asked for (--help,
/// --list) is put into `text`, and the answer is Parsed::done. Throws UsageError.
Parsed parse_options(int argc, char** argv, Options& options, std::string& text);

}  // namespace thalweg::bench
