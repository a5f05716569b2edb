// A small file to be continued: T(time, x) and h(x), two elements of x on each rank.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_FILE_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_FILE_HPP

#include <netcdf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

namespace append_file {

using namespace calls;  // NOLINT: the session and the macros that check calls

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

/// Compares the file, as read by serial netCDF, with expected values.
/// @param records  for each record of T, the step whose values it must have
/// @param h        step whose values the fixed-size variable h must have
/// @return a description of the first difference; "" if there is none
inline std::string look(const std::vector<int>& records, int h) {
    int id = 0, t = 0, hid = 0, dim = 0;
    if (const int code = nc_open(path.c_str(), NC_NOWRITE, &id); code != NC_NOERR)
        return nc_strerror(code);
    std::size_t n = 0;
    nc_inq_varid(id, "T", &t);
    nc_inq_varid(id, "h", &hid);
    nc_inq_unlimdim(id, &dim);
    nc_inq_dimlen(id, dim, &n);
    std::string wrong;
    if (n != records.size()) wrong = check::text("%zu records, not %zu", n, records.size());
    const auto length = static_cast<std::size_t>(2 * ranks());
    std::vector<float> got(length);
    for (std::size_t r = 0; r <= n && wrong.empty(); ++r) {
        const std::size_t start[2] = {r, 0}, count[2] = {1, length};
        const int record = r < n ? records[r] : h;
        if (r < n)
            nc_get_vara_float(id, t, start, count, got.data());
        else
            nc_get_var_float(id, hid, got.data());
        for (std::size_t i = 0; i < length; ++i)
            if (got[i] != value(record, static_cast<std::int64_t>(i)))
                wrong = check::text("record %zu, element %zu is %g", r, i, double(got[i]));
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

#endif
