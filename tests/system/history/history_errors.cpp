// Tests wrong calls of histories, on all ranks or on one: collective calls return the same error on
// all ranks, and the model can continue. Also tests that a step without a record makes no call of
// MPI.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <sys/resource.h>

#include <limits>
#include <tuple>

#include "fields.hpp"
#include "support/count_mpi.h"

using calls::session;
using namespace histories;

namespace {

const int &rank = check::state.rank, &size = check::state.size;

const std::string daily =
    "[[stream]]\nname = \"s\"\nevery = \"1 day\"\nfields = [\"T\", \"U\"]\npath = \"errors.nc\"\n";

void opening() {
    tw_history h = nullptr;
    const auto open = [&](const char* config, const char* calendar, const char* start) {
        return tw_history_open(session, config, calendar, start, nullptr, &h);
    };
    REFUSED(open("[[stream]]\nname = \"s\"\nevry = \"1 day\"\n", "noleap", "2000-01-01"),
            TW_ESETTING, "did you mean 'every'?");
    CHECK(h == nullptr);
    REFUSED(open(daily.c_str(), "mayan", "2000-01-01"), TW_EARG, "mayan");
    REFUSED(open(daily.c_str(), "noleap", "2000-02-29"), TW_EARG, "2000-02-29");
    REFUSED(open(daily.c_str(), "standard", "0000-01-01"), TW_EARG, "0000-01-01");
    OK(open(daily.c_str(), "noleap", "0000-01-01"));
    OK(tw_history_close(&h));
    REFUSED(open("nowhere.toml", "noleap", "2000-01-01"), TW_ESETTING, "nowhere.toml");
    REFUSED(open(nullptr, "noleap", "2000-01-01"), TW_EARG, "missing");
    if (size > 1)
        REFUSED(open(daily.c_str(), "noleap", rank == 0 ? "2000-01-01" : "2000-01-02"),
                TW_EMISMATCH, "");
    CHECK(tw_history_close(&h) == TW_EHANDLE);
}

void declaring() {
    {
        Fields f(daily);
        tw_field other = nullptr;
        CHECK(tw_history_field(f.history, "T", TW_DOUBLE, "x", f.decomposition, "", &other) ==
              TW_EEXISTS);
        CHECK(tw_history_field(f.history, "V", TW_DOUBLE, "y", f.decomposition, "", &other) ==
              TW_ESHAPE);
        CHECK(tw_history_field(f.history, "V", TW_DOUBLE, "z", nullptr, "", &other) ==
              TW_ENOTFOUND);
        CHECK(tw_history_field(f.history, "V", TW_CHAR, "x", f.decomposition, "", &other) ==
              TW_ETYPE);
        for (const char* wrong : {"missing=some", "missing=1", "kind=banana", "nothing"})
            CHECK(tw_history_field(f.history, "V", TW_DOUBLE, "x", f.decomposition, wrong,
                                   &other) == TW_EARG);
        CHECK(f.time(1) == TW_ESTATE);
        OK(tw_history_ready(f.history));
        CHECK(tw_history_field(f.history, "V", TW_DOUBLE, "x", f.decomposition, "", &other) ==
              TW_ESTATE);
        REFUSED(tw_history_ready(f.history), TW_ESTATE, "");
    }
    {
        Fields f("[[stream]]\nname = \"s\"\nevery = \"1 day\"\nfields = [\"T\", \"nothing\"]\n");
        REFUSED(tw_history_ready(f.history), TW_ESETTING, "nothing");
    }
    if (size > 1) {
        Fields f(daily, rank == 1 ? "missing=varying" : "units=K");
        REFUSED(tw_history_ready(f.history), TW_EMISMATCH, "differ");
    }
}

void stepping() {
    Fields f(daily);
    OK(tw_history_ready(f.history));
    CHECK(Fields::send(f.t) == TW_ESTATE);
    CHECK(tw_history_end_step(f.history) == TW_ESTATE);
    OK(f.time(0.5));
    CHECK(f.time(0.6) == TW_ESTATE);
    OK(f.time(0.5));
    CHECK(tw_wants(f.t) == 1 && tw_wants(nullptr) == 0);
    OK(Fields::send(f.t));
    CHECK(Fields::send(f.t) == TW_ESTATE);
    const float single = 1;
    const double two[2] = {1, 2}, negative = -1;
    CHECK(tw_send(f.u, TW_FLOAT, &single, 1) == TW_ETYPE);
    CHECK(tw_send(f.u, TW_DOUBLE, two, 2) == TW_ESHAPE);
    CHECK(tw_send(f.u, TW_DOUBLE, nullptr, 1) == TW_EARG);
    CHECK(tw_send_array(f.u, tw_dense(TW_DOUBLE, two, 1), &negative) == TW_EARG);
    CHECK(tw_send_block(f.u, 1, TW_DOUBLE, two, 1) == TW_EBOUNDS);
    OK(tw_send_block(f.u, 0, TW_DOUBLE, two, 1));
    CHECK(tw_send_block(f.u, 0, TW_DOUBLE, two, 1) == TW_ESTATE);
    tw_restart restart = nullptr;
    OK(tw_restart_new(session, nullptr, &restart));
    REFUSED(tw_history_save(f.history, restart), TW_ESTATE, "step");
    OK(tw_restart_free(&restart));
    OK(tw_history_end_step(f.history));
    CHECK(f.time(0.5) == TW_EARG);
    CHECK(f.time(0.25) == TW_EARG);
    OK(f.time(1));
    OK(Fields::send(f.t, 3));
    OK(Fields::send(f.u, 3));
    OK(tw_history_end_step(f.history));
    tw_history copy = f.history;
    OK(tw_history_close(&f.history));
    CHECK(tw_history_time(copy, 1e6) == TW_ECLOSED);
    CHECK(Fields::send(f.t) == TW_ECLOSED && tw_wants(f.t) == 0);
    const Contents file("errors.nc", "U");
    CHECK(file.values == std::vector<double>(size, 2));
}

/// Tests results beyond the file's type: they become fill values, and each rank gets the error.
void out_of_range() {
    std::string text;
    for (const char* type : {"double", "float", "same"})
        text += std::string("[[stream]]\nname = \"") + type + "\"\nevery = \"1 day\"\ntype = \"" +
                type + "\"\npath = \"range_" + type + ".nc\"\nfields = [\"I\"]\nop = \"sum\"\n" +
                "field.M = { of = \"T\", op = \"mean\" }\n";
    Fields f(text);
    tw_field whole = nullptr;
    OK(tw_history_field(f.history, "I", TW_INT, "x", f.decomposition, "", &whole));
    OK(tw_history_ready(f.history));
    const std::int32_t most = std::numeric_limits<std::int32_t>::max();
    for (const double time : {0.5, 1.}) {
        OK(f.time(time));
        OK(Fields::send(f.t, rank == size - 1 ? 1e308 : 1));
        OK(tw_send(whole, TW_INT, &most, 1));
        if (time < 1) OK(tw_history_end_step(f.history));
    }
    REFUSED(tw_history_end_step(f.history), TW_ERANGE, "out of range");
    OK(tw_history_close(&f.history));
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& [path, sum, mean] :
         {std::tuple{"range_double.nc", 2. * most, infinity},
          {"range_float.nc", static_cast<double>(2.F * static_cast<float>(most)), 1e20F},
          {"range_same.nc", -2147483647., infinity}}) {
        const Contents sums(path, "I"), means(path, "M");
        CHECK_TEXT(sums.values == std::vector<double>(size, sum), "{}: {}", path,
                   sums.values.front());
        CHECK_TEXT(means.values.front() == (size > 1 ? 1 : mean) && means.values.back() == mean,
                   "{}: {}", path, means.values.back());
    }
}

void not_alike() {
    {
        Fields f("[history]\nunsent = \"error\"\n" + daily);
        OK(tw_history_ready(f.history));
        OK(f.time(1));
        REFUSED(tw_history_end_step(f.history), TW_EMISSING, "'T', 'U'");
    }
    if (size == 1) return;
    Fields f(daily);
    OK(tw_history_ready(f.history));
    OK(f.time(1));
    OK(Fields::send(f.t));
    if (rank != 1) OK(Fields::send(f.u));
    REFUSED(tw_history_end_step(f.history), TW_EMISSING, "'U'");
    OK(f.time(2));
    const double value = 1, weight = rank == 1 ? 1 : 2;
    OK(tw_send_array(f.t, tw_dense(TW_DOUBLE, &value, 1), &weight));
    OK(Fields::send(f.u));
    REFUSED(tw_history_end_step(f.history), TW_EMISMATCH, "'T'");
    // after the error, the model can continue
    OK(f.time(3));
    OK(Fields::send(f.t, 5));
    OK(Fields::send(f.u, 5));
    OK(tw_history_end_step(f.history));
    OK(tw_history_close(&f.history));
    const Contents file("errors.nc");
    CHECK(file.values == std::vector<double>(size, 5) && file.time == std::vector<double>{2.5});
}

void silent_steps() {
    Fields f(daily);
    OK(tw_history_ready(f.history));
    f.step(1 / 24., 1, 1);  // in the first step, the ranks agree on its length
    const int before = count_mpi().collectives;
    for (int i = 2; i < 24; ++i) f.step(i / 24., i, i);
    CHECK_TEXT(count_mpi().collectives == before, "{} calls of MPI",
               count_mpi().collectives - before);
    std::int64_t now = 0, most = 0;
    OK(tw_history_memory(f.history, &now, &most));
    CHECK(now == 16 && most == 16);
}

/// Tests that a file that cannot be written is an error of each of its records and of the close,
/// although the history frees their values.
void failed_writes() {
    Fields f(daily + "op = \"instant\"\n");
    OK(tw_history_ready(f.history));
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    for (const int day : {1, 2, 3, 4}) {
        OK(f.time(day));
        OK(Fields::send(f.t, day));
        if (day < 4) OK(Fields::send(f.u, day));
        rlimit small = before;
        small.rlim_cur = 100;
        if (day > 1) setrlimit(RLIMIT_FSIZE, &small);
        const int code = tw_history_end_step(f.history);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK_TEXT(code == (day == 1 ? TW_OK : TW_EIO), "day {}: {}", day, calls::text());
    }
    REFUSED(tw_history_close(&f.history), TW_EIO, "File too large");
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    opening();
    declaring();
    stepping();
    out_of_range();
    not_alike();
    silent_steps();
    failed_writes();
    OK(tw_finalize(&session));
    return check::verdict("history_errors");
}
