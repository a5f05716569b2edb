// A small file to be continued: T(time, x) and h(x), two elements of x on each rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

namespace append_file {

using namespace calls;  // NOLINT: for session, text() and the like

inline tw_decomposition line = nullptr;  // two elements per rank
inline std::string folder, path;

inline int rank() { return check::state.rank; }
inline int ranks() { return check::state.size; }
inline void together() { MPI_Barrier(check::state.comm); }

template <class Do>
void on_rank_0(Do&& act) {
    together();
    if (rank() == 0) act();
    together();
}

inline float value(int record, std::int64_t i) { return static_cast<float>(1000 * record + i); }

inline int put(tw_file file, const char* name, int record) {
    const float values[2] = {value(record, 2 * rank()), value(record, 2 * rank() + 1)};
    return tw_put(file, name, TW_FLOAT, values, 2);
}

inline void decompose() {
    const std::int64_t shape = 2 * ranks(), start = 2 * rank(), count = 2;
    OK(tw_decompose(session, "x", 1, &shape, &start, &count, &line));
}

inline void step(tw_file file, int record) {
    OK(put(file, "T", record));
    OK(tw_end_step(file));
}

inline void define(tw_file file) {
    OK(tw_def_var(file, "T", TW_FLOAT, "time x", line));
    OK(tw_def_var(file, "h", TW_FLOAT, "x", line));
}

/// Makes a file with three records. "h" has the values of record 9.
inline void make(const char* settings = "format=cdf2") {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings, &file));
    define(file);
    OK(tw_put_att_text(file, "", "history", "first run"));
    OK(put(file, "h", 9));
    for (int r = 0; r < 3; ++r) step(file, r);
    OK(tw_close(&file));
}

inline tw_file append(const char* settings = "mode=append") {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), settings, &file));
    return file;
}

/// Tests that a file cannot be continued in another format, or with a storage that cannot write it.
inline void refuse_others(const std::string& format, const std::string& other,
                          const std::string& storage) {
    tw_file file = nullptr;
    REFUSED(tw_open(session, path.c_str(), ("mode=append; format=" + other).c_str(), &file),
            TW_ESETTING, "setting format is " + other + ", but the file has format " + format);
    file = append(("mode=append; storage=" + storage).c_str());
    define(file);
    REFUSED(tw_enddef(file), TW_ESETTING, "storage=" + storage + " cannot write format " + format);
    CHECK(tw_close(&file) == TW_ESETTING);
}

inline void check_nc(int code, int source_line) {
    CHECK_TEXT(code == NC_NOERR, "line {}: {}", source_line, nc_strerror(code));
}
#define NC(call) check_nc(call, __LINE__)

inline int number_of(int id, const char* variable) {
    int v = -1;
    NC(nc_inq_varid(id, variable, &v));
    return v;
}

/// Calls look(id) with the file, which netCDF-C has opened on rank 0.
template <class Look>
void inside(Look&& look) {
    on_rank_0([&] {
        int id = 0;
        NC(nc_open(path.c_str(), NC_NOWRITE, &id));
        look(id);
        NC(nc_close(id));
    });
}

inline std::size_t length() { return static_cast<std::size_t>(2 * ranks()); }

/// Returns a record of T.
inline std::vector<float> record_of(int id, std::size_t record) {
    std::vector<float> found(length());
    const std::size_t start[2] = {record, 0}, count[2] = {1, length()};
    NC(nc_get_vara_float(id, number_of(id, "T"), start, count, found.data()));
    return found;
}

/// Makes the same file as make(), by netCDF-C. `more` is called twice: with `put` false it defines
/// further objects, with `put` true it puts their data.
template <class More>
void make_by_netcdf(More&& more, int mode = NC_NETCDF4, std::size_t pad = 0,
                    std::size_t align = 4) {
    on_rank_0([&] {
        int id = 0, dims[2] = {}, t = 0, h = 0;
        NC(nc_create(path.c_str(), NC_CLOBBER | mode, &id));
        NC(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
        NC(nc_def_dim(id, "x", length(), &dims[1]));
        NC(nc_def_var(id, "T", NC_FLOAT, 2, dims, &t));
        NC(nc_def_var(id, "h", NC_FLOAT, 1, &dims[1], &h));
        more(id, t, h, false);
        NC(nc__enddef(id, pad, align, 0, align));
        std::vector<float> values(length());
        for (const int r : {0, 1, 2, 9}) {
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = value(r, static_cast<std::int64_t>(i));
            const std::size_t start[2] = {static_cast<std::size_t>(r), 0}, count[2] = {1, length()};
            NC(r == 9 ? nc_put_var_float(id, h, values.data())
                      : nc_put_vara_float(id, t, start, count, values.data()));
        }
        more(id, t, h, true);
        NC(nc_close(id));
    });
}

/// Compares the file, as read by serial netCDF, with expected values.
/// @param records  for each record of T, the step whose values it must have
/// @param h        step whose values the fixed-size variable h must have
/// @return a description of the first difference; "" if there is none
inline std::string look(const std::vector<int>& records, int h) {
    int id = 0, dim = 0;
    if (const int code = nc_open(path.c_str(), NC_NOWRITE, &id); code != NC_NOERR)
        return nc_strerror(code);
    std::size_t n = 0;
    nc_inq_unlimdim(id, &dim);
    nc_inq_dimlen(id, dim, &n);
    std::string wrong;
    if (n != records.size()) wrong = check::text("{} records, not {}", n, records.size());
    std::vector<float> got(length());
    for (std::size_t r = 0; r <= n && wrong.empty(); ++r) {
        const int record = r < n ? records[r] : h;
        if (r < n)
            got = record_of(id, r);
        else
            nc_get_var_float(id, number_of(id, "h"), got.data());
        for (std::size_t i = 0; i < length(); ++i)
            if (got[i] != value(record, static_cast<std::int64_t>(i)))
                wrong = check::text("record {}, element {} is {}", r, i, double(got[i]));
    }
    nc_close(id);
    return wrong;
}

inline void expect_file(int line_number, const std::vector<int>& records, int h) {
    on_rank_0([&] {
        const std::string wrong = look(records, h);
        ++check::state.checks;
        if (!wrong.empty()) check::fail(__FILE__, line_number, wrong);
    });
}

}  // namespace append_file
