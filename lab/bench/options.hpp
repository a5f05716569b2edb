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

/// A mistake of the user, which is the same on every rank. Rank 0 prints it, and all ranks exit
/// with status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Verify { none, first, all };
enum class Chunk { record, level, library };

/// Options that all measurements have in common and that methods read.
struct Options {
    std::string workload;
    std::vector<std::string> methods;
    int repetitions = 5;
    int warmup = 1;
    int steps = 0;  ///< 0: as many as are needed to write 200 MB

    std::string grid;  ///< process grid: "", "1d", "4x4"
    /// Factor for the horizontal sizes: 1 gives those of the paper; 0: the workload's default.
    double scale = 0;
    std::int64_t nx = 0;  ///< 0: the workload's own size
    std::int64_t ny = 0;
    std::int64_t nz = 0;
    int variables = 0;  ///< number of variables in the workload's main group

    std::string dir = ".";
    std::string json;
    std::string format = "cdf5";
    bool copy_puts = false;
    std::string settings;
    std::vector<std::pair<std::string, std::string>> hints;
    std::int64_t bandwidth = 0;  ///< bytes per second of all writers together; 0: no limit
    std::int64_t raw_piece = 0;  ///< bytes of each pwrite; 0: one pwrite for a step
    Chunk netcdf4_chunk = Chunk::record;
    int deflate = 0;  ///< level of deflate for the netCDF-4 methods
    bool shuffle = false;

    double prewarm_gb = -1;  ///< negative: 2, or twice the size of a repetition if this is more
    Verify verify = Verify::first;
    int settle_ms = 10;
    bool sync_between = false;
    bool durable = false;
    bool keep = false;
    bool progress = false;
    bool table = true;
};

/// Adds the options for a workload's size.
void add_workload_options(CLI::App& app, Options& options);

/// Adds the options of every measurement: files, settings, repetitions.
void add_measuring_options(CLI::App& app, Options& options);

enum class Parsed { run, done };

/// Parses a command line. If help was requested, `text` receives it. Throws UsageError.
Parsed parse(CLI::App& app, int argc, char** argv, std::string& text);

/// Parses the command line; the result is the same on every rank. For --help and --list, `text`
/// receives the output and the result is Parsed::done. Throws UsageError.
Parsed parse_options(int argc, char** argv, Options& options, std::string& text);

}  // namespace thalweg::bench
