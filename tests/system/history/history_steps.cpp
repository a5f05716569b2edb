// Tests unusual steps: two records that are due in one step, windows without samples, times and
// decompositions that differ between ranks, a close within a step, a file that cannot be created,
// and the time of a history in the summary.
//
// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

using calls::session;
using namespace histories;

namespace {

constexpr double hour = 1. / 24, filled = 1e20;
const int &rank = check::state.rank, &size = check::state.size;

const char* const hourly = "every = \"1 hour\"\nfields = [\"T\"]\nweights = \"count\"\n";

void two_records_in_a_step() {
    const std::string path = fresh_folder() + "/s.nc";
    {
        Fields f(stream_of("s", path, hourly));
        OK(tw_history_ready(f.history));
        f.step(hour, 1);
        OK(f.time(1.8 * hour));  // nothing is sent for the second hour
        OK(tw_history_end_step(f.history));
        f.step(3 * hour, 5);
    }
    expect(path, {1, filled, 5});
    if (size == 1) return;
    {
        Fields f(stream_of("s", path, hourly));
        OK(tw_history_ready(f.history));
        f.step(hour, 1);
        f.step(1.8 * hour, 2);
        OK(f.time(3 * hour));
        if (rank == 0) OK(Fields::send(f.t, 5));
        REFUSED(tw_history_end_step(f.history), TW_EMISSING, "'T'");
        f.step(4 * hour, 7);
    }
    expect(path, {1, 7});
}

/// Tests a field without time that is not sent in the first step.
void field_without_time_that_is_not_sent() {
    const std::string path = fresh_folder() + "/s.nc";
    {
        Fields f(stream_of("s", path, "every = \"once\"\nfields = [\"T\", \"U\"]\n"));
        OK(tw_history_ready(f.history));
        OK(f.time(1));
        OK(Fields::send(f.t, 7));
        OK(tw_history_end_step(f.history));
    }
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    for (const auto& [name, right] : {std::pair{"T", 7.}, {"U", filled}}) {
        std::vector<double> values(size), fill(1, filled);
        OK(tw_get(file, name, nullptr, 0, TW_DOUBLE, values.data(), size));
        CHECK(values == std::vector<double>(size, right));
        const int code = tw_get_att(file, name, "_FillValue", TW_DOUBLE, 1, fill.data());
        CHECK(right == filled ? code == TW_OK && fill[0] == filled : code != TW_OK);
    }
    OK(tw_close(&file));
}

/// Tests samples that are sent box by box in a step which crosses boundaries, with a weight of the
/// model and a field of weights; and a step of which a rank sends only a part.
void boxes_over_boundaries() {
    const std::string folder = fresh_folder();
    const std::int64_t shape = 2 * size, start[2] = {rank, rank + size}, count[2] = {1, 1};
    tw_decomposition boxes = nullptr;
    OK(tw_decompose(session, "x", 2, &shape, start, count, &boxes));
    tw_history h = nullptr;
    tw_field t = nullptr, w = nullptr;
    const std::string keys = "every = \"1 hour\"\nfields = [\"T\"]\n";
    const std::string config =
        stream_of("plain", folder + "/plain.nc", keys) +
        stream_of("weighed", folder + "/weighed.nc", keys + "weight = \"W\"\n") +
        stream_of("max", folder + "/max.nc",
                  "every = \"2 hours\"\nfields = [\"T\"]\nop = \"max\"\n");
    OK(tw_history_open(session, config.c_str(), "noleap", "2000-01-01", nullptr, &h));
    OK(tw_history_field(h, "T", TW_DOUBLE, "x", boxes, "missing=varying; missing_value=-9", &t));
    OK(tw_history_field(h, "W", TW_DOUBLE, "x", boxes, "", &w));
    OK(tw_history_ready(h));
    const auto step = [&](double seconds, double value, double weight, bool all = true) {
        OK(tw_history_time(h, seconds));
        for (const int box : {0, 1}) OK(tw_send_block(w, box, TW_DOUBLE, &weight, 1));
        const double second = value + 100;
        OK(tw_send_block(t, 1, TW_DOUBLE, &second, 1));
        if (all) OK(tw_send_block(t, 0, TW_DOUBLE, &value, 1));
    };
    step(2400, 1, 1);
    OK(tw_history_end_step(h));
    step(8400, 4, 2);  // 1200 s in the first hour, all of the second, 1200 s in the third
    OK(tw_history_end_step(h));
    for (const auto& [seconds, value] : {std::pair{10800, 10}, {18000, 6}, {21600, 8}}) {
        step(seconds, value, 1);
        OK(tw_history_end_step(h));
    }
    step(28800, 6, 1, rank > 0);  // rank 0 lacks a box: two hours are lost
    REFUSED(tw_history_end_step(h), TW_EMISSING, "1 of its 2 boxes");
    step(32400, 3, 1);
    OK(tw_history_end_step(h));
    OK(tw_history_close(&h));
    const auto pairs = [&](const std::vector<double>& records) {
        std::vector<double> all;
        for (const double value : records)
            for (int i = 0; i < 2 * size; ++i) all.push_back(i < size ? value : value + 100);
        return all;
    };
    CHECK(Contents(folder + "/plain.nc").values == pairs({2, 4, 8, 6, 6, 8, 3}));
    CHECK(Contents(folder + "/weighed.nc").values == pairs({2.5, 4, 7, 6, 6, 8, 3}));
    CHECK(Contents(folder + "/max.nc").values == pairs({1, 10, 8}));
    OK(tw_free_decomposition(&boxes));
}

void filter_without_a_sample() {
    const std::string folder = fresh_folder();
    {
        Fields f(stream_of("noon", folder + "/noon.nc",
                           "every = \"6 hours\"\nhours = [\"12:00\"]\nfields = [\"T\"]\n") +
                 stream_of("all", folder + "/all.nc", "every = \"6 hours\"\nfields = [\"U\"]\n"));
        OK(tw_history_ready(f.history));
        for (int i = 1; i <= 3; ++i) f.step(0.25 * i, i, i);
    }
    expect(folder + "/noon.nc", {filled, 2, filled});
    expect(folder + "/all.nc", {1, 2, 3}, "U");
}

void decompositions() {
    const std::string folder = fresh_folder();
    // Rank 0 holds the same elements of both fields, the others do not.
    const std::int64_t shape = 4 * size, a = 4 * rank, na = 4, start = a + (rank > 1 ? 1 : 0),
                       end = a + 4 + (rank > 0 && rank < size - 1 ? 1 : 0), count = end - start;
    tw_decomposition first = nullptr, second = nullptr;
    OK(tw_decompose(session, "x", 1, &shape, &a, &na, &first));
    OK(tw_decompose(session, "x", 1, &shape, &start, &count, &second));
    tw_history h = nullptr;
    tw_field t = nullptr, u = nullptr;
    const std::string config =
        stream_of("t", folder + "/t.nc", "every = \"1 day\"\nfields = [\"T\"]\n") +
        stream_of("u", folder + "/u.nc", "every = \"1 day\"\nfields = [\"U\"]\n");
    OK(tw_history_open(session, config.c_str(), "noleap", "2000-01-01", nullptr, &h));
    OK(tw_history_field(h, "T", TW_DOUBLE, "x", first, "", &t));
    OK(tw_history_field(h, "U", TW_DOUBLE, "x", second, "", &u));
    OK(tw_history_ready(h));
    const std::vector<double> values(shape, 4);
    OK(tw_history_time(h, 86400));
    OK(tw_send(t, TW_DOUBLE, values.data(), na));
    OK(tw_send(u, TW_DOUBLE, values.data(), count));
    OK(tw_history_end_step(h));
    OK(tw_history_close(&h));
    OK(tw_free_decomposition(&first));
    OK(tw_free_decomposition(&second));
    CHECK(Contents(folder + "/u.nc", "U").values == values);
}

void times_that_differ() {
    const std::string path = fresh_folder() + "/s.nc";
    Fields f(stream_of("s", path, "every = \"1 day\"\nfields = [\"T\"]\nweights = \"count\"\n"));
    CHECK(f.time(1) == TW_ESTATE && tw_history_end_step(f.history) == TW_ESTATE);
    OK(tw_history_ready(f.history));
    CHECK(f.time(20) == TW_EARG);  // the model can pass the right time after this
    f.step(1, 1);
    CHECK(tw_history_end_step(f.history) == TW_ESTATE);
    // A rank whose tw_history_time has failed takes part when the others write a record.
    if (rank == size - 1) {
        CHECK(f.time(20) == TW_EARG);
    } else {
        OK(f.time(2));
        OK(Fields::send(f.t, 2));
    }
    REFUSED(tw_history_end_step(f.history), TW_EARG, "covers the whole window");
    CHECK(tw_history_end_step(f.history) == TW_ESTATE);
    CHECK(tw_history_close(&f.history) == (size > 1 ? TW_EMISMATCH : TW_OK));
    expect(path, {1});
}

void closing_in_a_step() {
    const std::string path = fresh_folder() + "/s.nc";
    {
        Fields f(stream_of("s", path, "every = \"run\"\nfields = [\"T\"]\n"));
        OK(tw_history_ready(f.history));
        f.step(1, 1);
        OK(f.time(2));
        OK(Fields::send(f.t, 3));
    }
    expect(path, {2});
}

void file_that_cannot_be_made() {
    const std::string folder = fresh_folder() + "/sub", path = folder + "/s.nc";
    if (rank == 0) std::ofstream(folder) << "in the way";
    MPI_Barrier(MPI_COMM_WORLD);
    {
        Fields f(stream_of("s", path, "every = \"1 day\"\nfields = [\"T\"]\n"));
        OK(tw_history_ready(f.history));
        OK(f.time(1));
        OK(Fields::send(f.t, 1));
        CHECK(tw_history_end_step(f.history) != TW_OK);
        if (rank == 0) std::filesystem::remove(folder);
        MPI_Barrier(MPI_COMM_WORLD);
        f.step(2, 2);
        f.step(3, 3);
    }
    expect(path, {2, 3});
}

void settings_of_a_variable() {
    for (const char* keys : {"quantize = \"foo\"", "chunks = \"x=banana\""}) {
        Fields f(stream_of(
            "s", "s.nc",
            std::string("every = \"1 day\"\nfields = [\"T\"]\nfile = { format = \"netcdf4\" "
                        "}\n[stream.field.T]\n") +
                keys + "\n"));
        REFUSED(tw_history_ready(f.history), TW_ESETTING, "stream 's': variable 'T'");
    }
}

/// Tests that names in a file which the history uses itself, or twice, are found before the first
/// step.
void names_in_a_file() {
    const auto refuse = [](const std::string& keys, const char* field, const char* text,
                           std::int64_t length = 3) {
        Fields f("[history]\n" + keys + "\n" +
                     stream_of("s", "s.nc", "every = \"1 day\"\nfields = [\"*\"]\n"),
                 "coordinates=c", field);
        const std::vector<double> c(length, 1);
        OK(tw_history_coordinate(f.history, "c", "c", nullptr,
                                 tw_dense(TW_DOUBLE, c.data(), length), "units=1"));
        REFUSED(tw_history_ready(f.history), TW_ESETTING, text);
    };
    refuse("", "time", "variable 'time': its files have another variable of this name");
    refuse("", "time_bnds", "variable 'time_bnds': its files");
    refuse("time = \"x\"", "T", "the history itself uses the dimension 'x'");
    refuse("time = \"c\"", "T", "variable 'c'");
    refuse("bounds_dim = \"c\"", "T", "the history itself uses the dimension 'c'");
    refuse("", "a/b", "'a/b' is not a valid netCDF name");
}

/// Elements without a result get a fill value, and the file names it.
void fill_without_missing_values() {
    const std::string path = fresh_folder() + "/s.nc";
    {
        Fields f("[history]\nunsent = \"error\"\n" +
                 stream_of("s", path,
                           "every = \"1 day\"\nfields = [\"T\"]\nop = \"std\"\nddof = 1\n"
                           "weights = \"count\"\n"));
        OK(tw_history_ready(f.history));
        f.step(1, 5);
    }
    expect(path, {filled});
    tw_file file = nullptr;
    double value = 0;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    OK(tw_get_att(file, "T", "_FillValue", TW_DOUBLE, 1, &value));
    OK(tw_close(&file));
    CHECK(value == filled);
}

/// Returns the history's own time on this rank from the summary.
double history_seconds() {
    const char* json = nullptr;
    OK(tw_summary(session, TW_SUMMARY_JSON, &json));
    return nlohmann::json::parse(json)["rank_seconds"][rank]["history"];
}

/// Tests that waiting for another rank is time of the history, not of other calls.
void time_in_the_summary() {
    Fields f(stream_of("s", fresh_folder() + "/s.nc", "every = \"1 day\"\nfields = [\"T\"]\n"));
    OK(tw_history_ready(f.history));
    f.step(1, 1);
    const double before = history_seconds();
    CHECK(before > 0);
    OK(f.time(2));
    OK(Fields::send(f.t, 1));
    OK(Fields::send(f.u, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) usleep(400000);
    OK(tw_history_end_step(f.history));
    CHECK(history_seconds() - before > (rank > 0 ? 0.3 : 0.));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    two_records_in_a_step();
    field_without_time_that_is_not_sent();
    boxes_over_boundaries();
    filter_without_a_sample();
    decompositions();
    times_that_differ();
    closing_in_a_step();
    file_that_cannot_be_made();
    settings_of_a_variable();
    fill_without_missing_values();
    names_in_a_file();
    time_in_the_summary();
    OK(tw_finalize(&session));
    return check::verdict("history_steps");
}
