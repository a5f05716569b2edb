// Tests attributes that differ between ranks: an error, or with attributes=first those of rank 0.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/restart/definitions.hpp"

using calls::session;

namespace {

std::string folder;
const int &rank = check::state.rank, &size = check::state.size;
constexpr std::int64_t nx = 5;

/// Returns a text that names rank r. Each rank puts its own names, types, numbers of values and
/// values.
std::string stamp(int r) {
    return "written on rank " + std::string(static_cast<std::size_t>(r) + 1, 'x');
}

int put_early(tw_file file) {
    int failed = tw_put_att_text(file, nullptr, "history", stamp(rank).c_str());
    const std::vector<double> range(static_cast<std::size_t>(rank) + 2, rank + 0.5);
    failed |= tw_put_att(file, "T", "range", rank == 0 ? TW_DOUBLE : TW_FLOAT, rank == 0 ? 2 : 1,
                         range.data());
    const std::int32_t number = rank;
    if (rank == 0) failed |= tw_put_att(file, nullptr, "zeroth", TW_INT, 1, &number);
    for (int i = 0; i < rank; ++i)
        failed |= tw_put_att(file, i % 2 == 0 ? "T" : "", ("of_" + std::to_string(i)).c_str(),
                             TW_INT, 1, &number);
    return failed;
}

int put_late(tw_file file, int which) {
    const std::string end = "closed at " + std::to_string(100 * which + rank);
    int failed = tw_put_att_text(file, "", "closed", end.c_str());
    const std::int32_t number = which + rank;
    failed |= tw_put_att(file, "T", "late", TW_INT, 1, &number);
    if (rank > 0) failed |= tw_put_att(file, "T", "too_late", TW_INT, 1, &number);
    return failed;
}

std::string text_of(int id, int variable, const char* name) {
    std::size_t n = 0;
    if (nc_inq_attlen(id, variable, name, &n) != NC_NOERR) return "(none)";
    std::string text(n, ' ');
    return nc_get_att_text(id, variable, name, text.data()) == NC_NOERR ? text : "(no text)";
}

/// Checks that the file has rank 0's attributes and no others, and that elements which no rank
/// holds have rank 0's fill value.
void expect(const std::string& path, int late, bool filled, int more_global = 0,
            int more_of_variable = 0) {
    MPI_Barrier(check::state.comm);
    if (rank == 0) {
        int id = -1, variable = -1, global = 0, own = 0, number = -1;
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "T", &variable) == NC_NOERR);
        CHECK(nc_inq_natts(id, &global) == NC_NOERR &&
              nc_inq_varnatts(id, variable, &own) == NC_NOERR);
        CHECK_TEXT(global == 2 + (late >= 0) + more_global, "{}: {}", path, global);
        CHECK_TEXT(own == 1 + (late >= 0) + filled + more_of_variable, "{}: {}", path, own);
        CHECK(text_of(id, NC_GLOBAL, "history") == stamp(0));
        CHECK(nc_get_att_int(id, NC_GLOBAL, "zeroth", &number) == NC_NOERR && number == 0);
        nc_type type = NC_NAT;
        std::size_t n = 0;
        double range[2] = {0, 0};
        CHECK(nc_inq_att(id, variable, "range", &type, &n) == NC_NOERR && type == NC_DOUBLE &&
              n == 2);
        CHECK(nc_get_att_double(id, variable, "range", range) == NC_NOERR && range[1] == 0.5);
        if (late >= 0) {
            CHECK(text_of(id, NC_GLOBAL, "closed") == "closed at " + std::to_string(100 * late));
            CHECK(nc_get_att_int(id, variable, "late", &number) == NC_NOERR && number == late);
        }
        if (filled) {
            std::vector<float> last(nx, 1);
            const std::size_t start[] = {0, static_cast<std::size_t>(size), 0},
                              count[] = {1, 1, nx};
            CHECK(nc_get_vara_float(id, variable, start, count, last.data()) == NC_NOERR);
            CHECK_TEXT(last == std::vector<float>(nx, -100), "{}", last[0]);
        }
        nc_close(id);
    }
    MPI_Barrier(check::state.comm);
}

/// Makes a decomposition with a row for each rank, and one row that no rank holds.
tw_decomposition decompose() {
    tw_decomposition d = nullptr;
    const std::int64_t shape[] = {size + 1, nx}, start[] = {rank, 0}, count[] = {1, nx};
    OK(tw_decompose(session, "y x", 1, shape, start, count, &d));
    return d;
}

void step(tw_file file) {
    const std::vector<float> values(nx, static_cast<float>(rank));
    OK(tw_put(file, "T", TW_FLOAT, values.data(), nx));
    OK(tw_end_step(file));
}

void new_file(tw_decomposition d, const std::string& settings, const std::string& path) {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), ("attributes=first; " + settings).c_str(), &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
    OK(put_early(file));
    const float fill = static_cast<float>(-100 - rank);
    OK(tw_put_att(file, "T", "_FillValue", TW_FLOAT, 1, &fill));
    step(file);
    OK(put_late(file, 1));
    step(file);
    OK(put_late(file, 2));
    OK(tw_close(&file));
    expect(path, 2, true);
}

void appended(tw_decomposition d, const std::string& settings, const std::string& path) {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), ("mode=append; attributes=first; " + settings).c_str(),
               &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
    const std::int32_t number = 7 + rank;
    OK(tw_put_att(file, "T", "appended", TW_INT, 1, &number));
    OK(tw_put_att_text(file, "", rank == 0 ? "by" : "by_others", stamp(rank).c_str()));
    step(file);
    OK(put_late(file, 3));
    OK(tw_close(&file));
    expect(path, 3, true, 1, 1);
    if (rank == 0) {
        int id = -1, got = 0;
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(text_of(id, NC_GLOBAL, "by") == stamp(0));
        CHECK(nc_get_att_int(id, 0, "appended", &got) == NC_NOERR && got == 7);
        nc_close(id);
    }
}

void restart(tw_decomposition d, const std::string& settings, const std::string& path) {
    tw_restart r = nullptr;
    std::vector<float> values(nx, static_cast<float>(rank));
    OK(tw_restart_new(session, ("durable=no; attributes=first; " + settings).c_str(), &r));
    OK(tw_restart_add(r, "T", TW_FLOAT, "y x", d, values.data(), nx, TW_REQUIRED));
    OK(tw_put_att_text(definitions_of(r), nullptr, "history", stamp(rank).c_str()));
    const double range[] = {rank + 0.5, rank + 0.5};
    OK(tw_put_att(definitions_of(r), "T", "range", TW_DOUBLE, rank == 0 ? 2 : 1, range));
    const std::int32_t number = 0;
    OK(tw_put_att(definitions_of(r), nullptr, rank == 0 ? "zeroth" : "others", TW_INT, 1, &number));
    OK(tw_restart_write(r, path.c_str()));
    expect(path, -1, false, 0);
    OK(tw_restart_read(r, path.c_str(), nullptr));
    OK(tw_restart_free(&r));
    if (size == 1) return;
    OK(tw_restart_new(session, ("durable=no; " + settings).c_str(), &r));
    OK(tw_restart_add(r, "T", TW_FLOAT, "y x", d, values.data(), nx, TW_REQUIRED));
    OK(tw_put_att_text(definitions_of(r), nullptr, "history", stamp(rank).c_str()));
    REFUSED(tw_restart_write(r, path.c_str()), TW_EMISMATCH, "attributes=first");
    OK(tw_restart_free(&r));
}

/// Tests the default setting, and what must be the same with any setting.
void refused(tw_decomposition d, const std::string& settings) {
    if (size == 1) return;
    const std::string path = folder + "/refused.nc";
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings.c_str(), &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
    OK(tw_put_att_text(file, "T", "history", stamp(rank).c_str()));
    REFUSED(
        tw_enddef(file), TW_EMISMATCH,
        "attribute of 'T' 'history' = \"written on rank xx\" on rank 1 (to write the attributes of "
        "rank 0, use attributes=first)");
    CHECK(tw_close(&file) == TW_EMISMATCH);

    OK(tw_create(session, path.c_str(), settings.c_str(), &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
    step(file);
    OK(put_late(file, 1));
    REFUSED(tw_close(&file), TW_EMISMATCH, "attributes=first");

    OK(tw_create(session, path.c_str(), ("attributes=first; " + settings).c_str(), &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
    OK(tw_def_var(file, rank == 1 ? "of_rank_1" : "of_all", TW_FLOAT, "time y x", d));
    OK(put_early(file));
    REFUSED(tw_enddef(file), TW_EMISMATCH, "'of_rank_1'");
    CHECK(tw_close(&file) == TW_EMISMATCH);

    REFUSED(
        tw_create(session, path.c_str(), rank == 1 ? "attributes=first" : "attributes=same", &file),
        TW_EMISMATCH, "the settings differ: attributes=same on rank 0");
    REFUSED(tw_create(session, path.c_str(), "attributes=any", &file), TW_ESETTING, "same|first");
}

void run(const std::string& session_settings, const std::vector<std::string>& settings) {
    calls::in_session("log=off; " + session_settings, [&] {
        tw_decomposition d = decompose();
        for (const std::string& one : settings) {
            const std::string path = folder + "/file.nc";
            new_file(d, one, path);
            if (one.find("netcdf4") == std::string::npos) appended(d, one, path);
            restart(d, one, folder + "/restart.nc");
            refused(d, one);
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("attributes");
    run("", {"service=inline", "service=inline; format=netcdf4", "service=inline; storage=" PNETCDF,
             "service=background", "service=background; format=netcdf4"});
    if (check::state.size > 1)
        run("servers=1", {"service=servers", "service=servers; format=netcdf4"});
    return check::verdict("attributes");
}
