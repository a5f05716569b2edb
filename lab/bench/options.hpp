// The command line of thalweg-bench.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace thalweg::bench {

/// A mistake of the user, which is the same on every rank. Rank 0 prints it, and all ranks exit
/// with status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Mode { write, read, prefetch, overlap, irregular, pio, history };
enum class Verify { none, first, all };

/// The options of all measurements. The comments say which of them use an option.
struct Options {
    Mode mode = Mode::write;
    std::string workload;
    std::vector<std::string> methods;  ///< names of methods or of ways; empty: the usual ones
    int repetitions = 5;
    int warmup = 1;
    int steps = 0;  ///< 0: as many as the workload has, or as are needed to write 200 MB

    std::string grid;  ///< process grid: "", "1d", "4x4"
    /// Factor for the horizontal sizes: 1 gives those of the paper; 0: the workload's default.
    double scale = 0;
    std::int64_t nx = 0, ny = 0, nz = 0;  ///< lengths; 0: the workload's own
    int variables = 0;  ///< number of variables in the workload's main group; 0: the workload's own
    std::int64_t elements =
        0;  ///< irregular, pio: elements of a variable of lists; 0: usual number

    std::string dir = ".";
    std::string json;
    std::string format = "cdf5";
    bool copy_puts = false;
    std::string settings;
    int deflate = 0;  ///< level of deflate of netCDF-4 files
    bool shuffle = false;
    std::int64_t bandwidth = 0;  ///< bytes per second of all writers together; 0: no limit

    int ranks = 0;  ///< overlap: ranks of the model; the others are servers
    std::vector<std::string> services, peers;  ///< overlap
    std::vector<std::string> computing;        ///< overlap, prefetch: sleep, arithmetic
    /// overlap, pio: seconds of computing in a step; negative: those of the workload's pace
    double compute_seconds = -1;
    double proportion = 1;              ///< prefetch: computing, as a multiple of reading inline
    std::int64_t serial_bandwidth = 0;  ///< overlap: as bandwidth, if there is a single writer

    std::vector<std::string> maps;  ///< irregular: names of maps to generate

    double prewarm_gb = -1;  ///< negative: 2, or twice the size of a repetition if this is more
    Verify verify = Verify::first;
    bool durable = false;
    bool table = true;
    bool list = false;  ///< print the workloads and methods, and measure nothing
};

/// Parses a command line; the result is the same on every rank. Throws UsageError.
/// @return a text to print instead of measuring; usually empty
std::string parse_options(int argc, char** argv, Options& options);

}  // namespace thalweg::bench
