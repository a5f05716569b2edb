// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

namespace pio_bench {
namespace {

double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    double pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Adds the time of an action to a sum.
template <class Action>
void timed(double& sum, Action action) {
    const double start = MPI_Wtime();
    action();
    sum += MPI_Wtime() - start;
}

std::string path_of(const Context& context, const Row& row, int step) {
    return context.options.folder + "/pio-bench." + row.method +
           (step < 0 ? "" : "." + std::to_string(step)) + ".nc";
}

void compute(const Context& context) {
    std::this_thread::sleep_for(std::chrono::duration<double>(context.options.compute));
}

// Measures one file with all steps, in one session.
Sample one_file(const Context& context, Method& method, const Row& row) {
    Sample s;
    double closing = 0, computing = 0;
    method.begin();
    MPI_Barrier(context.comm);
    timed(s.decompose, [&] { method.decompose(); });
    timed(s.open, [&] { method.open(path_of(context, row, -1)); });
    MPI_Barrier(context.comm);
    const double start = MPI_Wtime();
    for (int step = 0; step < context.workload.steps; ++step) {
        timed(s.calls, [&] { method.step(step); });
        timed(computing, [&] { compute(context); });
    }
    timed(closing, [&] {
        method.close();
        method.wait();
    });
    s.closed = MPI_Wtime() - start - computing;
    return s;
}

// Measures one file for each step. Each file has its own initialization and end of the library.
Sample many_files(const Context& context, Method& method, const Row& row) {
    Sample s;
    double computing = 0;
    MPI_Barrier(context.comm);
    const double start = MPI_Wtime();
    for (int step = 0; step < context.workload.steps; ++step) {
        timed(s.calls, [&] {
            method.begin();
            timed(s.decompose, [&] { method.decompose(); });
            timed(s.open, [&] { method.open(path_of(context, row, step)); });
            method.step(0);
            method.close();
            method.free_decompositions();
            method.end();
        });
        timed(computing, [&] { compute(context); });
    }
    method.wait();
    s.closed = MPI_Wtime() - start - computing;
    s.decompose /= context.workload.steps;
    s.open /= context.workload.steps;
    return s;
}

Sample slowest(const Context& context, const Sample& mine) {
    const double in[] = {mine.decompose, mine.open, mine.calls, mine.closed, resident_bytes()};
    double out[5];
    MPI_Allreduce(in, out, 5, MPI_DOUBLE, MPI_MAX, context.comm);
    return {out[0], out[1], out[2], out[3], out[4]};
}

bool same_bytes(const std::string& a, const std::string& b) {
    std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
    return first && second &&
           std::equal(std::istreambuf_iterator<char>(first), {},
                      std::istreambuf_iterator<char>(second), {});
}

std::string last_path(const Context& context, const Row& row) {
    return path_of(context, row, context.workload.file_per_step ? context.workload.steps - 1 : -1);
}

void check_file(const Context& context, Method& method, Row& row, const Row& first) {
    const std::string path = last_path(context, row);
    struct stat info {};
    if (stat(path.c_str(), &info) == 0) row.file_bytes = info.st_size;
    if (!context.options.verify || !method.writes()) return;
    std::int64_t wrong =
        method.verify(path, context.workload.file_per_step ? 1 : context.workload.steps);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, context.comm);
    row.wrong = wrong;
    if (&row != &first && context.rank == 0)
        row.same = same_bytes(path, last_path(context, first)) ? 1 : 0;
}

void remove_files(const Context& context, const Row& row) {
    MPI_Barrier(context.comm);
    for (int step = -1; context.rank == 0 && step < context.workload.steps; ++step)
        std::remove(path_of(context, row, step).c_str());
    MPI_Barrier(context.comm);
}

}  // namespace

std::vector<Row> measure(const Context& context) {
    const Options& options = context.options;
    std::vector<Row> rows;
    std::vector<std::unique_ptr<Method>> methods;
    for (const std::string& name : options.methods) {
        rows.push_back({name, {}});
        methods.push_back(make_method(name, context));
    }
    const bool many = context.workload.file_per_step;
    for (int repetition = -options.warmup; repetition < options.repetitions; ++repetition) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            Method& method = *methods[i];
            const Sample mine =
                many ? many_files(context, method, rows[i]) : one_file(context, method, rows[i]);
            const Sample sample = slowest(context, mine);
            if (repetition == -options.warmup) rows[i].first_decompose = sample.decompose;
            if (repetition >= 0) rows[i].samples.push_back(sample);
            if (many) {  // verify() works only for a single file
                method.begin();
                method.decompose();
            }
            if (repetition == 0) check_file(context, method, rows[i], rows.front());
            method.free_decompositions();
            method.end();
        }
        for (const Row& row : rows) remove_files(context, row);
    }
    return rows;
}

}  // namespace pio_bench
