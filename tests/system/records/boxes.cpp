// Tests tw_put_box in cases with fixed results; batches.cpp puts random boxes, and
// tests/service/engine.cpp boxes that are refused for lack of memory.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

// Creates a file with one variable over "time y x", in which each rank has a row of four elements.
tw_file create(Model& m, const std::string& path, const std::string& settings,
               tw_type type = TW_FLOAT) {
    tw_file f = nullptr;
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_dim(f, "time", TW_UNLIMITED));
    OK(tw_def_dim(f, "y", m.size));
    OK(tw_def_dim(f, "x", 4));
    OK(tw_def_var(f, "U", type, "time y x", nullptr));
    OK(tw_set_var(f, "U", "fill=-77"));
    OK(tw_enddef(f));
    return f;
}

// Tests that invalid calls are refused at once, and that the file can still be used.
void refused(Model& m, const std::string& service) {
    const std::string path = folder + "/refused.nc";
    tw_file f = create(m, path, service);
    const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
    const float row[4] = {1, 2, 3, 4};
    const std::vector<float> whole(static_cast<std::size_t>(4 * m.size), 1.0F);
    OK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row));
    HERE(TW_ESTATE, "call tw_end_step before tw_put",
         tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size));
    CHECK(tw_put_box(f, "nix", TW_FLOAT, start, count, nullptr, row) == TW_ENOTFOUND);
    CHECK(tw_put_box(f, "U", TW_CHAR, start, count, nullptr, row) == TW_ETYPE);
    const std::int64_t beyond[3] = {0, m.size, 0}, negative[3] = {-1, 0, 0}, wide[3] = {1, 1, 5};
    CHECK(tw_put_box(f, "U", TW_FLOAT, beyond, count, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, negative, count, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, wide, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, nullptr) == TW_EARG);
    CHECK(tw_put_box(f, "U", TW_FLOAT, nullptr, count, nullptr, row) == TW_ESHAPE);
    // Strides; a section that is refused has no effect.
    const std::int64_t two[3] = {0, m.rank, 0}, some[3] = {1, 1, 2}, far[3] = {1, 1, 4};
    const std::int64_t none_at_all[3] = {1, 1, 0}, huge[3] = {1, INT64_MAX, INT64_MAX};
    HERE(TW_EBOUNDS, "2 elements from 0 with a stride of 4 along dimension 'x' of length 4",
         tw_put_box(f, "U", TW_FLOAT, two, some, far, whole.data()));
    const std::int64_t before[3] = {0, 0, -1};
    HERE(TW_EBOUNDS, "dimension 'x': start -1 is negative",
         tw_put_box(f, "U", TW_FLOAT, before, some, nullptr, whole.data()));
    CHECK(tw_put_box(f, "U", TW_FLOAT, two, some, huge, whole.data()) == TW_EBOUNDS);
    HERE(TW_EARG, "the stride along dimension 'x' is 0",
         tw_put_box(f, "U", TW_FLOAT, two, some, none_at_all, whole.data()));
    OK(tw_end_step(f));
    OK(tw_close(&f));

    f = create(m, path, service);
    OK(tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size));
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, 0, TW_FLOAT, whole.data(), 4 * m.size) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, -1, TW_FLOAT, whole.data(), 4 * m.size) == TW_EBOUNDS);
    CHECK(tw_put_record(f, "U", nullptr, 1, TW_FLOAT, whole.data(), 3) == TW_ESHAPE);
    CHECK(tw_put_record(f, "U", nullptr, 1, TW_FLOAT, nullptr, 4 * m.size) == TW_EARG);
    OK(tw_end_step(f));
    OK(tw_close(&f));

    if (!THALWEG_TEST_PNETCDF) return;
    f = create(m, path, service + "; storage=pnetcdf; service=inline");
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, 0, TW_FLOAT, whole.data(), 4 * m.size) == TW_ESTATE);
    OK(tw_close(&f));
}

// Tests a rank that puts a box while the others use tw_put for a variable of which that rank holds
// a part. All ranks must learn which rank has not put its part.
void mixed(Model& m, const std::string& service) {
    if (m.size == 1) return;
    for (const int boxer : {0, m.size - 1}) {
        tw_file f = create(m, folder + "/mixed.nc", service);
        const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
        const std::vector<float> whole(static_cast<std::size_t>(4 * m.size), 1.0F);
        if (m.rank == boxer)
            OK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, whole.data()));
        else if (const int put = tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size))
            CHECK_TEXT(put == TW_EMISSING, tw_strerror(put));
        const int step = tw_end_step(f);
        CHECK_TEXT(step == TW_OK || step == TW_EMISSING, tw_strerror(step));
        const int close = tw_close(&f);
        CHECK_TEXT(close == TW_EMISSING, "{}: {}", tw_strerror(close), m.error());
    }
}

// Tests a value that does not fit its type.
void misfit(Model& m, const std::string& service) {
    tw_file f = create(m, folder + "/misfit.nc", service, TW_SHORT);
    const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
    const int good[4] = {1, 2, 3, 4}, bad[4] = {1, 70000, 3, 4};
    const bool mine = m.rank == m.size - 1;
    CHECK(tw_put_box(f, "U", TW_INT, start, count, nullptr, mine ? bad : good) ==
          (mine ? TW_ERANGE : TW_OK));
    OK(tw_end_step(f));
    CHECK(tw_sync(f, 0) == TW_ERANGE);
    OK(tw_put_box(f, "U", TW_INT, start, count, nullptr, good));
    OK(tw_end_step(f));
    // tw_put's error is returned although later records of the variable follow.
    const std::vector<int> whole(static_cast<std::size_t>(4 * m.size), 70000);
    OK(tw_put(f, "U", TW_INT, whole.data(), 4 * m.size));
    const std::int64_t later[3] = {9, m.rank, 0};
    const int box = tw_put_box(f, "U", TW_INT, later, count, nullptr, good);
    const int step = tw_end_step(f);
    CHECK((box == TW_ERANGE || step == TW_ERANGE) == (m.rank == 0));
    CHECK(tw_sync(f, 0) == TW_ERANGE);
    OK(tw_close(&f));
}

// Tests one element per rank that changes in a compressed record. The other elements must keep
// every bit, although quantizing them again would change some.
void quantized(Model& m, const std::string& service) {
    const std::string path = folder + "/quantized.nc";
    constexpr std::int64_t columns = 4000;
    tw_file f = nullptr;
    const std::string settings =
        service + "; format=netcdf4; deflate=1; quantize=granularbr:2; chunks=y=1,x=700";
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_dim(f, "time", TW_UNLIMITED));
    OK(tw_def_dim(f, "y", m.size));
    OK(tw_def_dim(f, "x", columns));
    OK(tw_def_var(f, "Q", TW_FLOAT, "time y x", nullptr));
    std::vector<float> row;
    for (std::int64_t i = 0; i < columns; ++i)
        row.push_back(0.05F * static_cast<float>(1 + i * 37 % 20011));
    std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, columns};
    OK(tw_put_box(f, "Q", TW_FLOAT, start, count, nullptr, row.data()));
    OK(tw_sync(f, 0));
    std::vector<float> before(static_cast<std::size_t>(columns)), after = before;
    OK(tw_get_box(f, "Q", TW_FLOAT, start, count, nullptr, before.data()));
    const float one = 4096;
    start[2] = columns / 2;
    count[2] = 1;
    OK(tw_put_box(f, "Q", TW_FLOAT, start, count, nullptr, &one));
    OK(tw_sync(f, 0));
    start[2] = 0;
    count[2] = columns;
    OK(tw_get_box(f, "Q", TW_FLOAT, start, count, nullptr, after.data()));
    CHECK(before != row);  // the values were quantized
    for (std::int64_t i = 0; i < columns; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float wanted = i == columns / 2 ? one : before[at];
        if (after[at] == wanted) continue;
        CHECK_TEXT(after[at] == wanted, "element {} is {}, was {}", i, after[at], wanted);
        break;
    }
    OK(tw_close(&f));
}

// Tests changes of many chunks in place.
void changed(const std::string& settings) {
    Model m(MPI_COMM_WORLD, "log=off; service=inline");
    check::step("changed: {}", settings);
    constexpr std::int64_t rows = 400;
    const std::string path = folder + "/changed.nc";
    tw_file f = nullptr;
    const std::string all = "format=netcdf4; writers=2; chunks=y=1,x=3; " + settings;
    OK(tw_create(m.session, path.c_str(), all.c_str(), &f));
    OK(tw_def_dim(f, "y", rows));
    OK(tw_def_dim(f, "x", 3));
    OK(tw_def_var(f, "F", TW_INT, "y x", nullptr));
    std::vector<int> values(static_cast<std::size_t>(3 * rows), -1);
    const std::int64_t begin[2] = {0, 0}, full[2] = {rows, 3};
    if (m.rank == 0) OK(tw_put_box(f, "F", TW_INT, begin, full, nullptr, values.data()));
    OK(tw_sync(f, 0));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    if (m.rank == 0) OK(tw_put_box(f, "F", TW_INT, begin, full, nullptr, values.data()));
    OK(tw_close(&f));
    if (m.rank == 0) {
        int id = 0, var = -1;
        std::vector<int> got(values.size(), 0);
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "F", &var) == NC_NOERR);
        CHECK(nc_get_var_int(id, var, got.data()) == NC_NOERR);
        CHECK_TEXT(got == values, settings);
        nc_close(id);
    }
    m.end();
}

// Tests boxes and a variable that is put as a whole in queues of all sizes, with each rank on its
// own node. If the step of the variables does not fit, the file is written inline; more boxes than
// fit into a queue are refused.
void small_queues(const std::string& order) {
    Model m(MPI_COMM_WORLD, "log=off; node_size=1");
    constexpr std::int64_t columns = 900;
    const std::int64_t shape[2] = {m.size, columns}, begin[2] = {m.rank, 0}, held[2] = {1, columns};
    tw_decomposition rows = nullptr;
    OK(tw_decompose(m.session, "y x", 1, shape, begin, held, &rows));
    const std::vector<int> row(columns, m.rank);
    int refused = 0;
    for (int queue = 4096; queue <= 16384; queue += 256) {
        check::step("small queues: {}, {}", order, queue);
        tw_file f = nullptr;
        const std::string settings = check::text("service=background; queue={}", queue);
        OK(tw_create(m.session, (folder + "/small.nc").c_str(), settings.c_str(), &f));
        OK(tw_def_var(f, "U", TW_INT, "time y x", rows));
        OK(tw_def_var(f, "V", TW_INT, "time y x", rows));
        const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, columns};
        for (const char what : order) {
            const int status = what == 'b'
                                   ? tw_put_box(f, "U", TW_INT, start, count, nullptr, row.data())
                                   : tw_put(f, "V", TW_INT, row.data(), columns);
            CHECK_TEXT(status == TW_OK || status == TW_ENOMEM, "{}: {}", what, m.error());
            refused += status == TW_OK ? 0 : 1;
        }
        // A part of the variable may have been written before the put was refused. The file has
        // then failed.
        const int ended = tw_end_step(f);
        CHECK_TEXT(ended == TW_OK || ended == TW_ENOMEM, m.error());
        CHECK_TEXT(tw_close(&f) == ended, m.error());
    }
    // On a single node, space can become free within a step.
    CHECK(refused > 0 || m.size == 1 || order.size() < 3);
    m.end();
}

void fixed_cases(Model& m, const std::string& file, const std::string& settings) {
    const struct {
        const char* name;
        void (*test)(Model&, const std::string&);
    } all[] = {
        {"refused", refused}, {"mixed", mixed}, {"misfit", misfit}, {"quantized", quantized}};
    for (const auto& one : all) {
        check::step("{}; {}: {}", settings, file, one.name);
        one.test(m, file);
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    folder = check::make_folder("boxes");
    changed("");
    changed("deflate=1");
    for (const char* order : {"bv", "vb", "bbv"}) small_queues(order);
    std::vector<std::pair<std::string, std::string>> services{{"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 1) services.emplace_back("servers=1", "service=servers");
    if (ranks > 2) services.emplace_back("servers=2:last; node_size=2", "service=servers");
    if (ranks > 4) services.emplace_back("servers=3; node_size=2", "service=servers");
    for (const auto& [session, file] : services) {
        Model m(MPI_COMM_WORLD, "log=off; " + session);
        if (m) fixed_cases(m, file, session);
        m.end();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check::verdict("boxes");
}
