// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "compare/cost.hpp"
#include "progress.hpp"

namespace thalweg::app {

namespace {

/// Tests if the size of a file in bytes fits into 64 bits.
bool has_size(const CompareOptions& o) {
    std::int64_t bytes = sizeof(float);
    for (const std::int64_t n :
         {o.shape[0], o.shape[1], o.shape[2], std::int64_t(o.fields), std::int64_t(o.steps)})
        if (__builtin_mul_overflow(bytes, n, &bytes)) return false;
    return true;
}

double median(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/// The times of one method.
struct Row {
    std::string method;
    double whole = 0;                ///< seconds of the first file
    std::vector<double> steps, cpu;  ///< seconds and CPU seconds, one entry for each repetition

    double step() const { return median(steps); }
    double least() const { return *std::min_element(steps.begin(), steps.end()); }
    double most() const { return *std::max_element(steps.begin(), steps.end()); }
};

/// Returns a conclusion from the table, in sentences.
std::string conclusion(const std::vector<Row>& rows) {
    const Row& plain = rows.front();
    double spread = 0;
    for (const Row& row : rows) spread = std::max(spread, row.most() / row.least() - 1);
    const auto faster = [](const Row& a, const Row& b) { return a.step() < b.step(); };
    const Row& best = *std::min_element(rows.begin() + 1, rows.end(), faster);
    return fmt::format(
        "In a run that goes on, a step through '{}' takes {:.2f} times as long as plain writes of "
        "the same bytes, which leave them in no useful order; the repetitions of a method differ "
        "by up to {:.0f} %, so smaller differences between methods mean nothing here.",
        best.method, best.step() / plain.step(), spread * 100);
}

void print(const CompareOptions& options, const FileTrial& trial, const std::vector<Row>& rows) {
    const auto mega = static_cast<double>(trial.step_bytes()) / 1e6;
    fmt::print("{:.0f} MB a step, {} steps a file, {} ranks; medians of {} files of each method\n",
               mega, options.steps, trial.ranks(), options.repetitions);
    fmt::print("{:<10} {:>8} {:>8} {:>8} {:>7} {:>6} {:>7} {:>10}\n", "", "step s", "least", "most",
               "MB/s", "ratio", "CPU s", "first file");
    for (const Row& row : rows)
        fmt::print("{:<10} {:>8.4f} {:>8.4f} {:>8.4f} {:>7.0f} {:>6.2f} {:>7.3f} {:>+10.3f}\n",
                   row.method, row.step(), row.least(), row.most(), mega / row.step(),
                   row.step() / rows.front().step(), median(row.cpu),
                   row.whole - options.steps * row.step());
    fmt::print(
        "step, least, most: seconds of the slowest rank; ratio: to plain writes; CPU: of all ranks "
        "for a step;\nfirst file: seconds that the first file of a run takes beyond its steps, "
        "with starting the library.\n{}\n",
        conclusion(rows));
    std::fflush(stdout);
}

}  // namespace

int compare(const CompareOptions& options) {
    if (!has_size(options)) throw std::runtime_error("a file would have more than 2^63 bytes");
    const FileTrial trial(options);
    std::vector<Row> rows(1);
    rows.front().method = plain_writes;
    for (const std::string& method : options.methods) rows.push_back({method, 0, {}, {}});
    int status = 0;
    {
        Progress progress(static_cast<std::int64_t>(rows.size()) * (options.repetitions + 1),
                          trial.rank());
        std::optional<std::uint64_t> expected;
        for (Row& row : rows) {
            row.whole = trial.first_file(row.method).whole;
            progress.add(1, row.method);
            if (trial.rank() != 0 || row.method == plain_writes) continue;
            const std::uint64_t hash = trial.hash();
            if (!expected) expected = hash;
            if (hash == *expected) continue;
            fmt::print(stderr, "thalweg: the file of method {} differs from that of {}\n",
                       row.method, options.methods.front());
            status = 1;
        }
        Session io = comparing_session();
        for (int round = 0; round < options.repetitions; ++round)
            for (Row& row : rows) {
                const FileCost cost = trial.next_file(io, row.method);
                row.steps.push_back(cost.step);
                row.cpu.push_back(cost.cpu);
                progress.add(1, row.method);
            }
        io.finalize();
    }
    if (trial.rank() == 0) {
        trial.remove();
        print(options, trial, rows);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

}  // namespace thalweg::app
