// history-bench: measures what a history costs, as multiples of the plain loop and of tw_put.
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plain.hpp"
#include "thalweg/thalweg.h"

namespace {

using history_bench::add_plainly;

tw_session session = nullptr;
int rank = 0, ranks = 1;

struct Options {
    int fields = 100, repetitions = 15;
    std::int64_t levels = 32, columns = 2880;  // elements of one rank
    std::string folder = ".";
};
Options options;

std::string usage() {
    return "usage: history-bench [options]\n"
           "  --fields N       3-D fields of float (100)\n"
           "  --levels N       Levels of a field (32)\n"
           "  --columns N      Columns of a rank (2880)\n"
           "  --repetitions N  Every repetition measures each row once (15)\n"
           "  --dir FOLDER     Folder for the files (the present one)\n";
}

bool parse_options(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        const long number = std::strtol(value.c_str(), nullptr, 10);
        if (name == "--dir")
            options.folder = value;
        else if (number < 1)
            return false;
        else if (name == "--fields")
            options.fields = static_cast<int>(number);
        else if (name == "--repetitions")
            options.repetitions = static_cast<int>(number);
        else if (name == "--levels")
            options.levels = number;
        else if (name == "--columns")
            options.columns = number;
        else
            return false;
    }
    return argc % 2 == 1;
}

void check(tw_status status) {
    if (status == TW_OK) return;
    std::fprintf(stderr, "history-bench: rank %d: %s\n", rank, tw_error_message(session));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Calls a function, and returns the seconds that the slowest rank needed.
template <class F>
double seconds(F&& act) {
    MPI_Barrier(MPI_COMM_WORLD);
    double time = -MPI_Wtime();
    act();
    time += MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return time;
}

std::int64_t resident_bytes() {
    std::int64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

std::int64_t elements() { return options.levels * options.columns; }
std::string name_of(int field) { return "field" + std::to_string(field); }

/// A history of all fields in one stream.
class Streams {
public:
    Streams(const std::string& name, const std::string& keys, const char* attributes,
            tw_decomposition cells) {
        const std::string text = "[[stream]]\nname = \"" + name +
                                 "\"\nfields = [\"*\"]\npath = \"" + options.folder + "/" + name +
                                 ".nc\"\n" + keys;
        check(tw_history_open(session, text.c_str(), "noleap", "2000-01-01", nullptr, &history_));
        fields_.resize(options.fields);
        for (int f = 0; f < options.fields; ++f)
            check(tw_history_field(history_, name_of(f).c_str(), TW_FLOAT, "level column", cells,
                                   attributes, &fields_[f]));
        const std::int64_t before = resident_bytes();
        check(tw_history_ready(history_));
        grown_ = resident_bytes() - before;
    }
    void begin() { check(tw_history_time(history_, 3600. * ++step_)); }
    void send(const std::vector<std::vector<float>>& data) {
        for (int f = 0; f < options.fields; ++f)
            check(tw_send(fields_[f], TW_FLOAT, data[f].data(), elements()));
    }
    void end() { check(tw_history_end_step(history_)); }
    void close() { check(tw_history_close(&history_)); }

    /// Measures tw_wants, in nanoseconds a call.
    double wants() const {
        constexpr int calls = 10'000'000;
        int wanted = 0;
        const double time = seconds([&] {
            for (int i = 0; i < calls; i += options.fields)
                for (const tw_field field : fields_) wanted += tw_wants(field);
        });
        return wanted < 0 ? 0 : 1e9 * time / calls;
    }
    /// Returns the growth of this process's memory as a fraction of what tw_history_memory states.
    double memory_share() const {
        std::int64_t stated = 0;
        check(tw_history_memory(history_, &stated, nullptr));
        return static_cast<double>(grown_) / static_cast<double>(stated);
    }

private:
    tw_history history_ = nullptr;
    std::vector<tw_field> fields_;
    int step_ = 0;
    std::int64_t grown_ = 0;
};

/// Writes the same records as the history does, but by tw_put.
class Puts {
public:
    explicit Puts(tw_decomposition cells) {
        check(tw_create(session, (options.folder + "/put.nc").c_str(), nullptr, &file_));
        check(tw_def_dim(file_, "time", TW_UNLIMITED));
        check(tw_def_dim(file_, "level", options.levels));
        check(tw_def_dim(file_, "column", options.columns * ranks));
        for (int f = 0; f < options.fields; ++f)
            check(tw_def_var(file_, name_of(f).c_str(), TW_FLOAT, "time level column", cells));
        check(tw_enddef(file_));
    }
    void record(const std::vector<std::vector<float>>& data) {
        for (int f = 0; f < options.fields; ++f)
            check(tw_put(file_, name_of(f).c_str(), TW_FLOAT, data[f].data(), elements()));
        check(tw_end_step(file_));
    }
    void close() { check(tw_close(&file_)); }

private:
    tw_file file_ = nullptr;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Times of a row, and those of the rows that it is compared with, measured in the same
/// repetitions.
struct Row {
    const char* name;
    const char* than;
    double goal;
    std::vector<double> times, ratios;
};

void print(const Row& row) {
    if (rank == 0)
        std::printf("%-34s %9.2f ms   %5.2f x %-10s (goal %.2f)\n", row.name,
                    1e3 * median(row.times), median(row.ratios), row.than, row.goal);
}

void measure() {
    const std::int64_t shape[2] = {options.levels, options.columns * ranks};
    const std::int64_t start[2] = {0, options.columns * rank};
    const std::int64_t count[2] = {options.levels, options.columns};
    tw_decomposition cells = nullptr;
    check(tw_decompose(session, "level column", 1, shape, start, count, &cells));
    std::vector<std::vector<float>> data(options.fields), holes;
    for (int f = 0; f < options.fields; ++f)
        for (std::int64_t i = 0; i < elements(); ++i)
            data[f].push_back(280 + static_cast<float>((i * 7 + f) % 100) / 8);
    holes = data;
    for (auto& field : holes)
        for (std::int64_t i = 0; i < elements(); ++i)
            if (i % 977 < 97) field[i] = 1e20F;
    std::vector<std::vector<double>> sums(options.fields, std::vector<double>(elements()));

    const std::string run = "every = \"run\"\n", step = "every = \"1 hour\"\n";
    constexpr int window = 3;  // steps of a mean
    Streams mean("mean", run, "", cells);
    Streams varying("varying", run, "missing=varying", cells);
    Streams deviations("std", run + "op = \"std\"\n", "", cells);
    Streams records("records", "every = \"" + std::to_string(window) + " hours\"\n", "", cells);
    Streams instants("instants", step + "op = \"instant\"\n", "", cells);
    Puts puts(cells);
    Row plain{"plain loop, double sum of floats", "plain", 1, {}, {}};
    Row of_mean{"mean", "plain", 1.1, {}, {}},
        of_varying{"mean, varying mask", "plain", 1.6, {}, {}};
    Row of_std{"std", "plain", 2.5, {}, {}}, of_put{"record by tw_put", "tw_put", 1, {}, {}};
    Row of_record{"record of a mean, tw_history_end_step", "tw_put", 1.15, {}, {}};
    Row of_both{"record of a mean, with tw_send", "loop + put", 1.15, {}, {}};
    Row of_instant{"record of instants, with tw_send", "tw_put", 1.15, {}, {}};
    for (int r = -2; r < options.repetitions; ++r) {
        const auto add = [&](Row& row, double time, double than) {
            if (r < 0) return;
            row.times.push_back(time);
            row.ratios.push_back(time / than);
        };
        const double loop = seconds([&] {
            for (int f = 0; f < options.fields; ++f)
                add_plainly(data[f].data(), elements(), sums[f].data());
        });
        add(plain, loop, loop);
        const auto sample = [&](Streams& streams, const auto& values, Row& row) {
            streams.begin();
            add(row, seconds([&] { streams.send(values); }), loop);
            streams.end();
        };
        sample(mean, data, of_mean);
        sample(varying, holes, of_varying);
        sample(deviations, data, of_std);
        const double put = seconds([&] { puts.record(data); });
        add(of_put, put, put);
        for (int i = 1; i < window; ++i) {
            records.begin();
            records.send(data);
            records.end();
        }
        records.begin();
        const double sends = seconds([&] { records.send(data); });
        const double record = seconds([&] { records.end(); });
        add(of_record, record, put);
        add(of_both, sends + record, loop + put);
        instants.begin();
        add(of_instant, seconds([&] {
                instants.send(data);
                instants.end();
            }),
            put);
    }
    const double wants = mean.wants(), memory = mean.memory_share();
    if (rank == 0)
        std::printf("%d ranks, %d fields of %lld elements a rank, medians of %d repetitions\n",
                    ranks, options.fields, static_cast<long long>(elements()), options.repetitions);
    for (const Row* row :
         {&plain, &of_mean, &of_varying, &of_std, &of_put, &of_record, &of_both, &of_instant})
        print(*row);
    if (rank == 0)
        std::printf("%-34s %9.2f ns   (goal 2)\n%-34s %9.4f x stated (goal 0.99 to 1.01)\n",
                    "tw_wants", wants, "memory of means", memory);
    for (Streams* streams : {&mean, &varying, &deviations, &records, &instants}) streams->close();
    puts.close();
    check(tw_free_decomposition(&cells));
    if (rank == 0)
        for (const char* name : {"mean", "varying", "std", "records", "instants", "put"})
            std::filesystem::remove(options.folder + "/" + name + ".nc");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool right = parse_options(argc, argv);
    if (right) {
        // With another service, both would only copy the record for a later write.
        check(tw_init(MPI_COMM_WORLD, "service=inline", &session));
        measure();
        check(tw_finalize(&session));
    } else if (rank == 0) {
        std::fputs(usage().c_str(), stderr);
    }
    MPI_Finalize();
    return right ? 0 : 2;
}
