// Tests restarts of models that have one work array for all fields: fields that are copied when
// they are registered, and read one by one; and files of other programs, with other names of
// dimensions.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/restart/definitions.hpp"

namespace {

using calls::session;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t ni = 7;
constexpr std::int64_t land = 2;  // number of rows at the end that no rank holds
const char* const names[] = {"uvel", "vvel", "iceumask", "stress"};

/// The rows of this rank, with a halo of one element along both dimensions.
struct Model {
    std::int64_t nj = 0, first = 0, rows = 0;
    tw_decomposition cells = nullptr, list = nullptr, square = nullptr;
    tw_restart restart = nullptr;
    tw_file file = nullptr;
    std::vector<double> work;

    explicit Model(const std::string& settings) {
        const std::int64_t n = check::state.size, r = check::state.rank;
        nj = 2 * n + 1 + land;
        const std::int64_t held = nj - land;
        first = held * r / n;
        rows = held * (r + 1) / n - first;
        const Numbers shape{nj, ni}, start{first, 0}, count{rows, ni}, halo{1, 1};
        OK(tw_decompose_halo(session, "j i", 1, shape.data(), start.data(), count.data(),
                             halo.data(), halo.data(), &cells));
        Numbers indices;
        for (std::int64_t k = (first + rows) * ni; k-- > first * ni;) indices.push_back(k);
        OK(tw_decompose_list(session, "j i", shape.data(), "j i", rows * ni, indices.data(),
                             TW_LIST_UNIQUE, &list));
        OK(tw_restart_new(session, settings.c_str(), &restart));
        work.resize(static_cast<std::size_t>((rows + 2) * (ni + 2)));
    }
    static double value(int field, std::int64_t j, std::int64_t i) {
        return 1000.0 * (field + 1) + static_cast<double>(j * ni + i);
    }
    void set(int field) {
        for (std::int64_t j = -1; j <= rows; ++j)
            for (std::int64_t i = -1; i <= ni; ++i) {
                const bool halo = j < 0 || j == rows || i < 0 || i == ni;
                at(j, i) = halo ? -5 : value(field, first + j, i);
            }
    }
    double& at(std::int64_t j, std::int64_t i) {
        return work[static_cast<std::size_t>((j + 1) * (ni + 2) + i + 1)];
    }
    bool has(int field) {
        for (std::int64_t j = 0; j < rows; ++j)
            for (std::int64_t i = 0; i < ni; ++i)
                if (at(j, i) != value(field, first + j, i)) return false;
        return true;
    }
    std::int64_t n() const { return static_cast<std::int64_t>(work.size()); }
    int add(int field, int flags) {
        set(field);
        const int status =
            tw_restart_add(restart, names[field], TW_DOUBLE, "j i", cells, work.data(), n(), flags);
        for (double& w : work) w = -77;
        return status;
    }
    int open(const std::string& path) { return tw_restart_read(restart, path.c_str(), &file); }
    int get(const char* name, tw_decomposition held = nullptr) {
        for (double& w : work) w = -77;
        return tw_get(file, name, held == nullptr ? cells : held, 0, TW_DOUBLE, work.data(), n());
    }
    bool has(const char* name) const {
        return tw_inq_var(file, name, nullptr, nullptr, nullptr) == TW_OK;
    }
    void copy_all() {
        for (int field = 0; field < 4; ++field) OK(add(field, TW_COPIED));
    }
};

/// Checks the file by netCDF-C: the fields, and zeros on land.
void look(const std::string& path, const Model& m) {
    MPI_Barrier(check::state.comm);
    if (check::state.rank == 0) {
        int id = 0, var = 0;
        CHECK_TEXT(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR, path);
        for (int field = 0; field < 4; ++field) {
            std::vector<double> got(static_cast<std::size_t>(m.nj * ni), 9);
            CHECK(nc_inq_varid(id, names[field], &var) == NC_NOERR);
            CHECK(nc_inq_attid(id, var, "_FillValue", nullptr) == NC_ENOTATT);
            CHECK(nc_get_var_double(id, var, got.data()) == NC_NOERR);
            for (std::int64_t k = 0; k < m.nj * ni; ++k) {
                const double wanted =
                    k / ni < m.nj - land ? Model::value(field, k / ni, k % ni) : 0;
                CHECK_TEXT(got[static_cast<std::size_t>(k)] == wanted, "{}, element {}: {}",
                           names[field], k, got[static_cast<std::size_t>(k)]);
            }
        }
        nc_close(id);
    }
    MPI_Barrier(check::state.comm);
}

void one_work_array(const std::string& folder, const std::string& settings) {
    const std::string path = folder + "/ice.nc";
    Model m("durable=no; " + settings);
    m.copy_all();
    for (const char* name : names) OK(tw_set_var(definitions_of(m.restart), name, "fill=0"));
    const double time = 2.5;
    OK(tw_put_att(definitions_of(m.restart), nullptr, "time", TW_DOUBLE, 1, &time));
    OK(tw_restart_write(m.restart, path.c_str()));
    look(path, m);
    // Each copy is written only once: without new values, the write is refused.
    REFUSED(tw_restart_write(m.restart, path.c_str()), TW_EMISSING, "'uvel' was registered with");
    OK(m.add(0, TW_COPIED));
    REFUSED(tw_restart_write(m.restart, path.c_str()), TW_EMISSING, "'vvel' was registered with");
    look(path, m);
    m.copy_all();
    OK(tw_restart_write(m.restart, path.c_str()));
    look(path, m);

    OK(m.open(path));  // opening the file reads none of the copied fields
    CHECK(m.work[0] == -77);
    double got = 0;
    OK(tw_get_att(m.file, nullptr, "time", TW_DOUBLE, 1, &got));
    CHECK(got == time);
    for (const int field : {2, 0, 3, 1, 1}) {
        OK(m.get(names[field]));
        CHECK(m.has(field));
        CHECK(m.at(-1, 0) == -77);  // an element of the halo
    }
    std::vector<double> packed(static_cast<std::size_t>(m.rows * ni));
    OK(tw_get(m.file, "uvel", m.list, 0, TW_DOUBLE, packed.data(), m.rows * ni));
    for (std::int64_t k = 0; k < m.rows * ni; ++k) {
        const std::int64_t at = (m.first + m.rows) * ni - 1 - k;
        CHECK(packed[static_cast<std::size_t>(k)] == Model::value(0, at / ni, at % ni));
    }
    CHECK(m.has("stress") && !m.has("salinity"));
    std::vector<float> narrow(packed.size());
    REFUSED(tw_get(m.file, "uvel", m.list, 0, TW_FLOAT, narrow.data(), m.rows * ni), TW_ETYPE,
            "it has type double in the file");
    REFUSED(m.get("uvell"), TW_ENOTFOUND, "no variable 'uvell' (rank 0); did you mean 'uvel'?");
    OK(m.get("vvel"));
    CHECK(m.has(1));
    OK(tw_restart_free(&m.restart));
    OK(m.get("stress"));  // the file is still open
    CHECK(m.has(3));
    OK(tw_close(&m.file));
}

/// Tests one changed value: reading its field returns an error that names the field; other fields
/// can be read.
void checksums(const std::string& folder) {
    const std::string path = folder + "/damaged.nc";
    Model m("durable=no");
    m.copy_all();
    OK(tw_restart_write(m.restart, path.c_str()));
    MPI_Barrier(check::state.comm);
    if (check::state.rank == 0) {
        int id = 0, var = 0;
        const std::size_t at[] = {1, 2};
        const double wrong = 3;
        CHECK(nc_open(path.c_str(), NC_WRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "vvel", &var) == NC_NOERR);
        CHECK(nc_put_var1_double(id, var, at, &wrong) == NC_NOERR);
        CHECK(nc_close(id) == NC_NOERR);
    }
    MPI_Barrier(check::state.comm);
    OK(m.open(path));
    OK(m.get("uvel"));
    REFUSED(m.get("vvel"), TW_ECHECKSUM, "variable 'vvel'");
    OK(m.get("stress"));
    CHECK(m.has(3));
    std::vector<double> whole(static_cast<std::size_t>(m.nj * ni));
    REFUSED(tw_get(m.file, "vvel", nullptr, 0, TW_DOUBLE, whole.data(), m.nj * ni), TW_ECHECKSUM,
            "variable 'vvel'");
    OK(tw_get(m.file, "uvel", nullptr, 0, TW_DOUBLE, whole.data(), m.nj * ni));
    // Every rank reads the first row, twice.
    Numbers indices;
    for (std::int64_t i = 0; i < 2 * ni; ++i) indices.push_back(i % ni);
    tw_decomposition shared = nullptr;
    const Numbers shape{m.nj, ni};
    OK(tw_decompose_list(session, "j i", shape.data(), "j i", 2 * ni, indices.data(),
                         TW_LIST_SHARED, &shared));
    OK(tw_get(m.file, "uvel", shared, 0, TW_DOUBLE, whole.data(), 2 * ni));
    CHECK(whole[static_cast<std::size_t>(ni)] == Model::value(0, 0, 0));
    OK(tw_close(&m.file));
    tw_restart unchecked = nullptr;
    OK(tw_restart_new(session, "checksums=no", &unchecked));
    OK(tw_restart_read(unchecked, path.c_str(), &m.file));
    OK(m.get("vvel"));
    OK(tw_close(&m.file));
}

/// Tests a file of another program, such as FMS, with other names of dimensions, and one record.
void by_position(const std::string& folder) {
    const std::string path = folder + "/foreign.nc";
    Model m("durable=no");
    if (check::state.rank == 0) {
        int id = 0, dims[3], var = 0;
        CHECK(nc_create(path.c_str(), NC_CLOBBER, &id) == NC_NOERR);
        CHECK(nc_def_dim(id, "Time", NC_UNLIMITED, &dims[0]) == NC_NOERR);
        CHECK(nc_def_dim(id, "yaxis_1", static_cast<std::size_t>(m.nj), &dims[1]) == NC_NOERR);
        CHECK(nc_def_dim(id, "xaxis_1", static_cast<std::size_t>(ni), &dims[2]) == NC_NOERR);
        for (const auto& [name, type] :
             {std::pair("uvel", NC_DOUBLE), {"vvel", NC_FLOAT}, {"stress", NC_DOUBLE}})
            CHECK(nc_def_var(id, name, type, name[0] == 's' ? 2 : 3,
                             name[0] == 's' ? dims + 1 : dims, &var) == NC_NOERR);
        CHECK(nc_def_var(id, "turned", NC_DOUBLE, 1, dims + 1, &var) == NC_NOERR);
        CHECK(nc_enddef(id) == NC_NOERR);
        for (const int field : {0, 1, 3}) {
            std::vector<double> all;
            for (std::int64_t k = 0; k < m.nj * ni; ++k)
                all.push_back(Model::value(field, k / ni, k % ni));
            const std::size_t start[] = {0, 0, 0};
            const std::size_t count[] = {1, static_cast<std::size_t>(m.nj),
                                         static_cast<std::size_t>(ni)};
            CHECK(nc_inq_varid(id, names[field], &var) == NC_NOERR);
            const int skip = field == 3 ? 1 : 0;
            CHECK(nc_put_vara_double(id, var, start + skip, count + skip, all.data()) == NC_NOERR);
        }
        CHECK(nc_close(id) == NC_NOERR);
    }
    MPI_Barrier(check::state.comm);
    OK(m.open(path));
    REFUSED(m.get("uvel"), TW_ESHAPE, "");
    tw_decomposition unnamed = nullptr;
    const Numbers shape{m.nj, ni}, start{m.first, 0}, count{m.rows, ni}, halo{1, 1};
    OK(tw_decompose_halo(session, "* *", 1, shape.data(), start.data(), count.data(), halo.data(),
                         halo.data(), &unnamed));
    for (const int field : {0, 1, 3}) {
        OK(m.get(names[field], unnamed));
        CHECK(m.has(field));
    }
    REFUSED(m.get("turned", unnamed), TW_ESHAPE, "");
    std::vector<double> whole(static_cast<std::size_t>(m.nj * ni));
    OK(tw_get(m.file, "uvel", nullptr, 0, TW_DOUBLE, whole.data(), m.nj * ni));
    CHECK(whole.back() == Model::value(0, m.nj - 1, ni - 1));
    OK(tw_close(&m.file));

    std::vector<double> other(m.work.size());
    OK(tw_restart_add(m.restart, "uvel", TW_DOUBLE, "j i", m.cells, m.work.data(), m.n(),
                      TW_REQUIRED));
    REFUSED(tw_restart_read(m.restart, path.c_str(), nullptr), TW_ESHAPE, "TW_BY_POSITION");
    OK(tw_restart_add(m.restart, "uvel", TW_DOUBLE, "j i", m.cells, m.work.data(), m.n(),
                      TW_BY_POSITION));
    OK(tw_restart_add(m.restart, "vvel", TW_DOUBLE, "j i", m.cells, other.data(), m.n(),
                      TW_BY_POSITION));
    OK(tw_restart_read(m.restart, path.c_str(), nullptr));
    CHECK(m.has(0));
    m.work = other;
    CHECK(m.has(1));
}

/// Makes calls in a wrong order, and different calls on the ranks.
void mistakes(const std::string& folder) {
    const std::string path = folder + "/mistakes.nc";
    Model m("durable=no");
    m.copy_all();
    OK(tw_restart_write(m.restart, path.c_str()));
    REFUSED(m.open(path + "none"), TW_EIO, "No such file");
    CHECK(m.file == nullptr);
    OK(m.open(path));
    tw_file second = nullptr;
    OK(tw_restart_read(m.restart, path.c_str(), &second));
    OK(tw_close(&second));
    m.copy_all();
    REFUSED(tw_restart_write(m.restart, path.c_str()), TW_EINUSE, "mistakes.nc");
    REFUSED(tw_get_array(m.file, "uvel", m.cells, 0, tw_dense(TW_DOUBLE, m.work.data(), m.n()), 8),
            TW_EARG, "unknown flags 8");
    if (check::state.size > 1) {
        const bool last = check::state.rank == check::state.size - 1;
        REFUSED(m.get(last ? "uvel" : "vvel"), TW_EMISMATCH, "'uvel'");
        REFUSED(tw_get(m.file, "uvel", m.cells, 0, TW_DOUBLE, m.work.data(), last ? 3 : m.n()),
                TW_ESHAPE, "3 elements");
    }
    OK(m.get("uvel"));
    CHECK(m.has(0));
    REFUSED(tw_set_var(definitions_of(m.restart), "uvel", "quantize=bitgroom:3"), TW_ESETTING,
            "lose bits");
    REFUSED(tw_set_var(definitions_of(m.restart), "uvle", "fill=0"), TW_ENOTFOUND,
            "did you mean 'uvel'?");
    REFUSED(tw_set_var(definitions_of(m.restart), "uvel", "fill=x"), TW_ESETTING,
            "it must be a double");
    // The file is still open when the session ends.
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    const std::string folder = check::make_folder("restart_fields");
    OK(tw_init(MPI_COMM_WORLD, "log=off; node_size=2", &session));
    for (const char* settings :
         {"format=cdf2", "format=netcdf4; deflate=1", "service=background", "method=direct"})
        one_work_array(folder, settings);
    checksums(folder);
    by_position(folder);
    mistakes(folder);
    OK(tw_finalize(&session));
    return check::verdict("restart_fields");
}
