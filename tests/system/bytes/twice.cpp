// Tests variables that have a dimension twice, such as a covariance, in records that are put by
// their numbers, continued files and restarts, and what is refused. property.cpp writes and reads
// others.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <netcdf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

using Numbers = std::vector<std::int64_t>;
using Values = std::vector<double>;

std::string folder;
const int &rank = check::state.rank, &size = check::state.size;
constexpr std::int64_t n = 11;

/// Returns a value that differs from that of the mirrored element.
double cov(std::int64_t record, std::int64_t i, std::int64_t j) {
    return static_cast<double>(10000 * record + 100 * i + j);
}

/// This rank's rows or columns of (n, n).
struct Part {
    Numbers start{0, 0}, count{n, n};
    tw_decomposition handle = nullptr;

    explicit Part(int along) {
        start[static_cast<std::size_t>(along)] = n * rank / size;
        count[static_cast<std::size_t>(along)] = n * (rank + 1) / size - n * rank / size;
        const Numbers shape{n, n};
        OK(tw_decompose(session, "n n", 1, shape.data(), start.data(), count.data(), &handle));
    }
    ~Part() { OK(tw_free_decomposition(&handle)); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    Values values(std::int64_t record) const {
        Values v;
        for (std::int64_t i = start[0]; i < start[0] + count[0]; ++i)
            for (std::int64_t j = start[1]; j < start[1] + count[1]; ++j)
                v.push_back(cov(record, i, j));
        return v;
    }
};

int put(tw_file file, const char* name, const Values& v) {
    return tw_put(file, name, TW_DOUBLE, v.data(), static_cast<std::int64_t>(v.size()));
}

void expect(const std::string& path, std::int64_t records) {
    MPI_Barrier(check::state.comm);
    if (rank == 0) {
        int id = -1, variable = -1, nd = 0, dims[4] = {-1, -1, -1, -1};
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "cov", &variable) == NC_NOERR);
        CHECK(nc_inq_var(id, variable, nullptr, nullptr, &nd, dims, nullptr) == NC_NOERR);
        const int first = records > 0 ? 1 : 0;
        CHECK(nd == first + 2 && dims[first] == dims[first + 1]);
        const std::int64_t rows = records > 0 ? records : 1;
        Values got(static_cast<std::size_t>(rows * n * n), -1);
        CHECK(nc_get_var_double(id, variable, got.data()) == NC_NOERR);
        Values wanted;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j) wanted.push_back(cov(r, i, j));
        CHECK_TEXT(got == wanted, path);
        nc_close(id);
    }
    MPI_Barrier(check::state.comm);
}

/// Puts another part in the next record, and in that of a continued file.
void parts_of_records(const std::string& settings) {
    const std::string path = folder + "/cov.nc";
    const Part rows(0), columns(1);
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings.c_str(), &file));
    OK(tw_def_var(file, "cov", TW_DOUBLE, "time n n", rows.handle));
    OK(put(file, "cov", rows.values(0)));
    OK(tw_end_step(file));
    const Values second = columns.values(1);
    OK(tw_put_record(file, "cov", columns.handle, 1, TW_DOUBLE, second.data(),
                     static_cast<std::int64_t>(second.size())));
    OK(tw_close(&file));
    expect(path, 2);
    OK(tw_open(session, path.c_str(), ("mode=append; " + settings).c_str(), &file));
    OK(tw_def_var(file, "cov", TW_DOUBLE, "time n n", columns.handle));
    OK(put(file, "cov", columns.values(2)));
    OK(tw_end_step(file));
    OK(tw_close(&file));
    expect(path, 3);
}

/// Reads a restart by names, and by position into a variable with the dimensions (b, a).
void restarts() {
    const std::string path = folder + "/restart.nc";
    const Part rows(0);
    tw_restart r = nullptr;
    Values v = rows.values(0);
    const auto size_of = [](const Values& of) { return static_cast<std::int64_t>(of.size()); };
    OK(tw_restart_new(session, "durable=no", &r));
    OK(tw_restart_add(r, "cov", TW_DOUBLE, "n n", rows.handle, v.data(), size_of(v), TW_REQUIRED));
    OK(tw_restart_write(r, path.c_str()));
    expect(path, 0);
    v.assign(v.size(), -1);
    OK(tw_restart_read(r, path.c_str(), nullptr));
    CHECK(v == rows.values(0));
    OK(tw_restart_free(&r));

    // Memory order (a, b), registered as (b, a): b is the file's first n, and divided.
    const Numbers shape{n, n}, start{0, rows.start[0]}, count{n, rows.count[0]};
    tw_decomposition turned = nullptr;
    OK(tw_decompose(session, "a b", 1, shape.data(), start.data(), count.data(), &turned));
    Values wanted, got;
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = start[1]; i < start[1] + count[1]; ++i)
            wanted.push_back(cov(0, i, j));
    got.assign(wanted.size(), -1);
    OK(tw_restart_new(session, "durable=no", &r));
    OK(tw_restart_add(r, "cov", TW_DOUBLE, "b a", turned, got.data(), size_of(got),
                      TW_BY_POSITION));
    OK(tw_restart_read(r, path.c_str(), nullptr));
    CHECK(got == wanted);
    OK(tw_restart_free(&r));
    OK(tw_free_decomposition(&turned));
}

void refused() {
    const std::string path = folder + "/refused.nc";
    const Part rows(0);
    tw_decomposition other = nullptr;
    const Numbers shape{n, n}, unlike{n, n + 1}, none{0, 0};
    REFUSED(tw_decompose(session, "n n", 1, unlike.data(), none.data(), none.data(), &other),
            TW_ESHAPE, "'n' is named twice in 'n n', with lengths 11 and 12");
    REFUSED(tw_decompose_list(session, "n n", shape.data(), "n", 0, none.data(), TW_LIST_UNIQUE,
                              &other),
            TW_EEXISTS, "which a list cannot have");
    OK(tw_decompose(session, "n m", 1, shape.data(), none.data(), none.data(), &other));
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), "method=tiles; tiles=1x2; files=tiles; service=inline",
                 &file));
    CHECK(tw_def_var(file, "v", TW_DOUBLE, "n n", other) == TW_ESHAPE);
    CHECK(tw_def_var(file, "v", TW_DOUBLE, "n m", rows.handle) != TW_OK);
    CHECK(tw_def_var(file, "v", TW_DOUBLE, "time time n n", rows.handle) == TW_EFORMAT);
    CHECK(tw_def_var(file, "v", TW_DOUBLE, "n n n", rows.handle) == TW_ESHAPE);
    OK(tw_def_var(file, "cov", TW_DOUBLE, "time n n", rows.handle));
    if (size > 1) REFUSED(tw_enddef(file), TW_ESETTING, "variable 'cov' has dimension 'n' twice");
    (void)tw_close(&file);
    OK(tw_free_decomposition(&other));
}

void run(const std::string& session_settings, const std::vector<std::string>& settings) {
    calls::in_session("log=off; " + session_settings, [&] {
        for (const std::string& one : settings) parts_of_records(one);
        restarts();
        refused();
    });
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("twice");
    run("node_size=2", {"method=record", "method=direct", "method=tiles", "service=background"});
    if (check::state.size > 1) run("servers=1", {"service=servers"});
    return check::verdict("twice");
}
