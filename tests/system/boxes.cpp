// tw_put_box through the services: whatever boxes the ranks put, the file is the one that the same
// boxes make in plain arrays.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: boxes [--seed N] [--cases N] [--seconds N] [--verbose]
// Ranks put into rows of their own, so that the order between ranks does not matter.

#include <mpi.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "model.hpp"
#include "random.hpp"
#include "random_settings.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

// A variable: lengths without the record dimension; the second to last one is that of the rows.
struct Variable {
    const char* name;
    tw_type type;
    const char* dims;
    bool record;
    std::vector<std::int64_t> shape;
};

struct Put {
    int variable = 0;
    std::vector<std::int64_t> start, count;  // with the record dimension
    std::vector<double> data;
    std::vector<std::int64_t> stride{};  // empty: all 1

    std::int64_t step(std::size_t d) const { return stride.empty() ? 1 : stride[d]; }
};

enum class What { put, end_step, sync };
struct Action {
    What what;
    Put put;
};

struct Case {
    std::int64_t rows = 1, columns = 1;
    std::vector<Variable> variables;
    std::string file;
    std::vector<std::vector<Action>> of_rank;
};

constexpr double fill_value = -77;

std::int64_t volume(const std::vector<std::int64_t>& count) {
    std::int64_t n = 1;
    for (const std::int64_t c : count) n *= c;
    return n;
}

Put random_put(const Case& c, int rank, int ranks, std::int64_t latest, Random& random) {
    Put p;
    p.variable = static_cast<int>(random.below(static_cast<std::int64_t>(c.variables.size())));
    const Variable& v = c.variables[static_cast<std::size_t>(p.variable)];
    if (v.record) {
        p.start.push_back(random.below(latest + 2));
        p.count.push_back(random.percent(80) ? 1 : random.between(0, 3));
    }
    const bool strided = random.percent(40);
    if (strided && v.record) p.stride.push_back(random.between(1, 3));
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
        std::int64_t low = 0, high = v.shape[d];
        if (d + 2 == v.shape.size()) {  // rows
            low = c.rows * rank / ranks;
            high = c.rows * (rank + 1) / ranks;
        }
        const bool whole = random.percent(40);
        const std::int64_t begin = whole ? low : random.between(low, high);
        const std::int64_t end = whole ? high : random.between(begin, high);
        const std::int64_t step = strided && random.percent(60) ? random.between(1, 4) : 1;
        p.start.push_back(begin);
        p.count.push_back((end - begin + step - 1) / step);
        if (strided) p.stride.push_back(step);
    }
    const double base = static_cast<double>(random.below(20000));
    for (std::int64_t i = 0; i < volume(p.count); ++i)
        p.data.push_back(static_cast<double>((static_cast<std::int64_t>(base) + i) % 30000));
    return p;
}

Case make_case(std::uint64_t seed, int ranks, const std::string& service) {
    Random random(seed);
    Case c;
    c.rows = random.percent(20) ? random.between(1, 4) : random.between(ranks, 12 * ranks);
    c.columns = random.percent(20) ? random.between(300, 2000) : random.between(1, 40);
    c.variables = {{"U", TW_FLOAT, "time y x", true, {c.rows, c.columns}},
                   {"V", TW_SHORT, "time z y x", true, {3, c.rows, c.columns}},
                   {"W", TW_DOUBLE, "time y x", true, {c.rows, c.columns}},
                   {"F", TW_INT, "y x", false, {c.rows, c.columns}},
                   {"G", TW_SHORT, "z y x", false, {3, c.rows, c.columns}}};
    random.shuffle(c.variables);
    c.variables.resize(static_cast<std::size_t>(random.between(1, 5)));
    c.file = service + "; " +
             RandomSettings::writing()
                 // Not direct: with it no rank can be ahead of the others.
                 .set("method", {"auto", "record", "slabs", "rows", "columns", "serial", "tiles"})
                 .leave_out("service")
                 .leave_out("storage")
                 .set("queue", {"auto", "auto", "16KiB", "64KiB"})
                 .set("piece", {"auto", "4096", "64KiB"})  // smaller ones take long
                 .draw(random);
    const bool syncs = random.percent(30);
    const std::int64_t phases = random.between(1, 3);
    c.of_rank.resize(static_cast<std::size_t>(ranks));
    std::vector<std::int64_t> latest(static_cast<std::size_t>(ranks), 0);
    for (std::int64_t phase = 0; phase < phases; ++phase) {
        for (int r = 0; r < ranks; ++r) {
            auto& actions = c.of_rank[static_cast<std::size_t>(r)];
            std::int64_t& last = latest[static_cast<std::size_t>(r)];
            // A rank tells by a box that it writes boxes, and be it an empty one.
            if (actions.empty()) {
                Put p = random_put(c, r, ranks, 0, random);
                if (random.percent(50)) {
                    p.count.assign(p.count.size(), 0);
                    p.data.clear();
                }
                actions.push_back({What::put, p});
            }
            // Unequal numbers of steps.
            const std::int64_t steps = random.between(0, 4);
            for (std::int64_t s = 0; s < steps; ++s) {
                const std::int64_t puts = random.percent(20) ? 0 : random.between(1, 6);
                for (std::int64_t i = 0; i < puts; ++i) {
                    Put p = random_put(c, r, ranks, last, random);
                    if (random.percent(10)) actions.push_back({What::put, p});  // twice
                    actions.push_back({What::put, std::move(p)});
                }
                actions.push_back({What::end_step, {}});
                ++last;
            }
            if (random.percent(30))
                actions.push_back({What::put, random_put(c, r, ranks, last, random)});
            if (syncs) actions.push_back({What::sync, {}});
        }
    }
    return c;
}

// What the file must hold.
struct Expected {
    std::int64_t records = 0;
    std::map<std::string, std::vector<double>> values;  // of each variable; record by record
};

Expected expect(const Case& c) {
    Expected e;
    for (const auto& actions : c.of_rank)
        for (const Action& a : actions) {
            if (a.what != What::put || volume(a.put.count) == 0) continue;
            if (c.variables[static_cast<std::size_t>(a.put.variable)].record)
                e.records =
                    std::max(e.records, a.put.start[0] + (a.put.count[0] - 1) * a.put.step(0) + 1);
        }
    for (const Variable& v : c.variables)
        e.values[v.name].assign(
            static_cast<std::size_t>(volume(v.shape) * (v.record ? e.records : 1)), fill_value);
    for (const auto& actions : c.of_rank)
        for (const Action& a : actions) {
            if (a.what != What::put || volume(a.put.count) == 0) continue;
            const Variable& v = c.variables[static_cast<std::size_t>(a.put.variable)];
            std::vector<std::int64_t> shape = v.shape;
            if (v.record) shape.insert(shape.begin(), e.records);
            std::vector<std::int64_t> index(shape.size(), 0);
            for (const double value : a.put.data) {
                std::int64_t at = 0;
                for (std::size_t d = 0; d < shape.size(); ++d)
                    at = at * shape[d] + a.put.start[d] + index[d] * a.put.step(d);
                e.values[v.name][static_cast<std::size_t>(at)] = value;
                for (std::size_t d = shape.size(); d-- > 0;) {
                    if (++index[d] < a.put.count[d]) break;
                    index[d] = 0;
                }
            }
        }
    return e;
}

std::string difference(const Case& c, const std::string& path) {
    const Expected e = expect(c);
    int id = 0;
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
        return nc_strerror(status);
    std::string wrong;
    int time = -1;
    std::size_t records = 0;
    nc_inq_unlimdim(id, &time);
    if (time >= 0) nc_inq_dimlen(id, time, &records);
    if (static_cast<std::int64_t>(records) != e.records)
        wrong =
            check::text("%zu records, expected %lld", records, static_cast<long long>(e.records));
    for (const Variable& v : c.variables) {
        if (!wrong.empty()) break;
        const std::vector<double>& wanted = e.values.at(v.name);
        std::vector<double> got(wanted.size() + 1);
        int var = 0;
        if (nc_inq_varid(id, v.name, &var) != NC_NOERR ||
            nc_get_var_double(id, var, got.data()) != NC_NOERR)
            wrong = std::string("cannot read ") + v.name;
        for (std::size_t i = 0; i < wanted.size() && wrong.empty(); ++i)
            if (got[i] != wanted[i])
                wrong = check::text("%s is %g at element %zu (%lld a record), expected %g", v.name,
                                    got[i], i, static_cast<long long>(volume(v.shape)), wanted[i]);
    }
    nc_close(id);
    return wrong;
}

tw_file create(Model& m, const std::string& path, const Case& c) {
    tw_file f = nullptr;
    const int status = tw_create(m.session, path.c_str(), c.file.c_str(), &f);
    CHECK_TEXT(status == TW_OK, "%s", m.error().c_str());
    CHECK(tw_def_dim(f, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(f, "z", 3) == TW_OK);
    CHECK(tw_def_dim(f, "y", c.rows) == TW_OK);
    CHECK(tw_def_dim(f, "x", c.columns) == TW_OK);
    for (const Variable& v : c.variables) {
        CHECK_TEXT(tw_def_var(f, v.name, v.type, v.dims, nullptr) == TW_OK, "%s",
                   m.error().c_str());
        const float as_float = fill_value;
        const double as_double = fill_value;
        const int as_int = static_cast<int>(fill_value);
        const short as_short = static_cast<short>(fill_value);
        const void* fill = v.type == TW_FLOAT    ? static_cast<const void*>(&as_float)
                           : v.type == TW_DOUBLE ? static_cast<const void*>(&as_double)
                           : v.type == TW_INT    ? static_cast<const void*>(&as_int)
                                                 : &as_short;
        CHECK(tw_put_att(f, v.name, "_FillValue", v.type, 1, fill) == TW_OK);
    }
    CHECK_TEXT(tw_enddef(f) == TW_OK, "%s", m.error().c_str());
    return f;
}

bool run(Model& m, const Case& c, const std::string& what) {
    const std::string path = folder + "/boxes.nc";
    check::step("%s: create", what.c_str());
    tw_file f = create(m, path, c);
    bool good = true;
    const auto expect_ok = [&](int status, const char* call) {
        ++check::state.checks;
        if (status == TW_OK) return;
        if (good)
            check::fail(
                __FILE__, __LINE__,
                check::text("%s gave %s: %s", call, tw_strerror(status), m.error().c_str()));
        good = false;
    };
    int number = 0;
    for (const Action& a : c.of_rank[static_cast<std::size_t>(m.rank)]) {
        check::step("%s: action %d", what.c_str(), number++);
        switch (a.what) {
            case What::put:
                expect_ok(tw_put_box(f, c.variables[static_cast<std::size_t>(a.put.variable)].name,
                                     TW_DOUBLE, a.put.start.data(), a.put.count.data(),
                                     a.put.stride.empty() ? nullptr : a.put.stride.data(),
                                     a.put.data.data()),
                          "tw_put_box");
                break;
            case What::end_step: expect_ok(tw_end_step(f), "tw_end_step"); break;
            case What::sync: expect_ok(tw_sync(f, 0), "tw_sync"); break;
        }
    }
    check::step("%s: close", what.c_str());
    expect_ok(tw_close(&f), "tw_close");
    if (m.rank == 0) {
        const std::string wrong = difference(c, path);
        CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
        good = good && wrong.empty();
    }
    int all = good ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, m.comm);
    if (all == 0 && m.rank == 0)
        check::print(check::text("%s failed: %lld x %lld, %zu variables, %s", what.c_str(),
                                 static_cast<long long>(c.rows), static_cast<long long>(c.columns),
                                 c.variables.size(), c.file.c_str()));
    return all == 1;
}

struct Service {
    std::string session, file;
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 1) all.push_back({"servers=1", "service=servers"});
    if (ranks > 2) all.push_back({"servers=2; node_size=2; server_ranks=last", "service=servers"});
    if (ranks > 3) all.push_back({"servers=2; node_size=2", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3; node_size=2", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3; node_size=3; server_ranks=last", "service=servers"});
    return all;
}

// ---- fixed cases --------------------------------------------------------------------------------

Case small_case(const std::string& service, int ranks) {
    Case c;
    c.rows = ranks;
    c.columns = 4;
    c.variables = {{"U", TW_FLOAT, "time y x", true, {c.rows, c.columns}}};
    c.file = service;
    c.of_rank.resize(static_cast<std::size_t>(ranks));
    return c;
}

Put row_of(int rank, std::int64_t record, double value) {
    return {0, {record, rank, 0}, {1, 1, 4}, {value, value + 1, value + 2, value + 3}};
}

// Ranks that have nothing to put end their steps like all others.
void silent_ranks(Model& m, const std::string& service) {
    for (int speaker = 0; speaker < m.size; ++speaker) {
        Case c = small_case(service, m.size);
        for (int r = 0; r < m.size; ++r)
            for (std::int64_t s = 0; s < 3; ++s) {
                auto& actions = c.of_rank[static_cast<std::size_t>(r)];
                if (r == speaker)
                    actions.push_back({What::put, row_of(r, s, static_cast<double>(10 * r + s))});
                actions.push_back({What::end_step, {}});
            }
        run(m, c, check::text("only rank %d speaks", speaker));
    }
}

// Records of which no rank holds an element are there, whatever ends them.
void no_elements(Model& m, const std::string& service) {
    Case c = small_case(service, m.size);
    c.variables[0].name = "T";
    const std::string path = folder + "/none.nc";
    for (const char* ends : {"tw_close", "tw_sync", "tw_end_step"}) {
        tw_file f = create(m, path, c);
        const std::int64_t shape[2] = {c.rows, c.columns}, none[2] = {0, 0};
        tw_decomposition nothing = nullptr;
        CHECK(tw_decompose(m.session, "y x", 1, shape, none, none, &nothing) == TW_OK);
        CHECK(tw_put_record(f, "T", nothing, 2, TW_FLOAT, nullptr, 0) == TW_OK);
        if (std::string(ends) == "tw_sync") {
            CHECK(tw_sync(f, 0) == TW_OK);
            std::int64_t records = -1;
            CHECK(tw_inq(f, nullptr, nullptr, nullptr, nullptr, &records) == TW_OK);
            CHECK_TEXT(records == 3, "%lld records", static_cast<long long>(records));
        }
        if (std::string(ends) == "tw_end_step") CHECK(tw_end_step(f) == TW_OK);
        CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
        if (m.rank == 0) {
            const std::string wrong =
                look_at(path, c.rows, c.columns, 3, false, [](auto, auto) { return fill_value; });
            CHECK_TEXT(wrong.empty(), "%s: %s", ends, wrong.c_str());
        }
        MPI_Barrier(m.comm);
    }
}

// What is not allowed: told at once, and the file goes on.
void refused(Model& m, const std::string& service) {
    const std::string path = folder + "/refused.nc";
    Case c = small_case(service, m.size);
    tw_file f = create(m, path, c);
    const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
    const float row[4] = {1, 2, 3, 4};
    const std::vector<float> whole(static_cast<std::size_t>(4 * m.size), 1.0F);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row) == TW_OK);
    CHECK(tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size) == TW_ESTATE);
    CHECK_TEXT(m.error().find("call tw_end_step before tw_put") != std::string::npos, "%s",
               m.error().c_str());
    CHECK(tw_put_box(f, "nix", TW_FLOAT, start, count, nullptr, row) == TW_ENOTFOUND);
    CHECK(tw_put_box(f, "U", TW_CHAR, start, count, nullptr, row) == TW_ETYPE);
    const std::int64_t beyond[3] = {0, m.size, 0}, negative[3] = {-1, 0, 0}, wide[3] = {1, 1, 5};
    CHECK(tw_put_box(f, "U", TW_FLOAT, beyond, count, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, negative, count, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, wide, nullptr, row) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, nullptr) == TW_EARG);
    CHECK(tw_put_box(f, "U", TW_FLOAT, nullptr, count, nullptr, row) == TW_EARG);
    // Strides; nothing is put of a section that is refused.
    const std::int64_t two[3] = {0, m.rank, 0}, some[3] = {1, 1, 2}, far[3] = {1, 1, 4};
    const std::int64_t none_at_all[3] = {1, 1, 0}, huge[3] = {1, INT64_MAX, INT64_MAX};
    CHECK(tw_put_box(f, "U", TW_FLOAT, two, some, far, whole.data()) == TW_EBOUNDS);
    CHECK_TEXT(m.error().find("2 elements from 0 with a stride of 4 along dimension 'x' of length "
                              "4") != std::string::npos,
               "%s", m.error().c_str());
    CHECK(tw_put_box(f, "U", TW_FLOAT, two, some, huge, whole.data()) == TW_EBOUNDS);
    CHECK(tw_put_box(f, "U", TW_FLOAT, two, some, none_at_all, whole.data()) == TW_EARG);
    CHECK(m.error().find("the stride along dimension 'x' is 0") != std::string::npos);
    CHECK(tw_end_step(f) == TW_OK);
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());

    f = create(m, path, c);
    CHECK(tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size) == TW_OK);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, 0, TW_FLOAT, whole.data(), 4 * m.size) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, -1, TW_FLOAT, whole.data(), 4 * m.size) == TW_EBOUNDS);
    CHECK(tw_put_record(f, "U", nullptr, 1, TW_FLOAT, whole.data(), 3) == TW_ESHAPE);
    CHECK(tw_put_record(f, "U", nullptr, 1, TW_FLOAT, nullptr, 4 * m.size) == TW_EARG);
    CHECK(tw_end_step(f) == TW_OK);
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());

    if (!THALWEG_TEST_PNETCDF) return;
    c.file = service + "; storage=pnetcdf; service=inline";
    f = create(m, path, c);
    CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, row) == TW_ESTATE);
    CHECK(tw_put_record(f, "U", nullptr, 0, TW_FLOAT, whole.data(), 4 * m.size) == TW_ESTATE);
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
}

// Some rank puts a box, the others use tw_put of which that rank holds a part: all learn who lacks
// it.
void mixed(Model& m, const std::string& service) {
    if (m.size == 1) return;
    for (const int boxer : {0, m.size - 1}) {
        const Case c = small_case(service, m.size);
        tw_file f = create(m, folder + "/mixed.nc", c);
        const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
        const std::vector<float> whole(static_cast<std::size_t>(4 * m.size), 1.0F);
        if (m.rank == boxer)
            CHECK(tw_put_box(f, "U", TW_FLOAT, start, count, nullptr, whole.data()) == TW_OK);
        else if (const int put = tw_put(f, "U", TW_FLOAT, whole.data(), 4 * m.size))
            CHECK_TEXT(put == TW_EMISSING, "%s", tw_strerror(put));
        const int step = tw_end_step(f);
        CHECK_TEXT(step == TW_OK || step == TW_EMISSING, "%s", tw_strerror(step));
        const int close = tw_close(&f);
        CHECK_TEXT(close == TW_EMISSING, "%s: %s", tw_strerror(close), m.error().c_str());
    }
}

// A value that does not fit.
void misfit(Model& m, const std::string& service) {
    Case c = small_case(service, m.size);
    c.variables[0].type = TW_SHORT;
    tw_file f = create(m, folder + "/misfit.nc", c);
    const std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, 4};
    const int good[4] = {1, 2, 3, 4}, bad[4] = {1, 70000, 3, 4};
    const bool mine = m.rank == m.size - 1;
    CHECK(tw_put_box(f, "U", TW_INT, start, count, nullptr, mine ? bad : good) ==
          (mine ? TW_ERANGE : TW_OK));
    CHECK(tw_end_step(f) == TW_OK);
    CHECK(tw_sync(f, 0) == TW_ERANGE);
    CHECK(tw_put_box(f, "U", TW_INT, start, count, nullptr, good) == TW_OK);
    CHECK(tw_end_step(f) == TW_OK);
    // What tw_put found is told, though other records of the variable follow.
    const std::vector<int> whole(static_cast<std::size_t>(4 * m.size), 70000);
    CHECK(tw_put(f, "U", TW_INT, whole.data(), 4 * m.size) == TW_OK);
    const std::int64_t later[3] = {9, m.rank, 0};
    const int box = tw_put_box(f, "U", TW_INT, later, count, nullptr, good);
    const int step = tw_end_step(f);
    CHECK((box == TW_ERANGE || step == TW_ERANGE) == (m.rank == 0));
    CHECK(tw_sync(f, 0) == TW_ERANGE);
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
}

// A record that was compressed is changed in one element a rank: the others keep every bit, though
// quantizing them once more would change some.
void quantized(Model& m, const std::string& service) {
    const std::string path = folder + "/quantized.nc";
    constexpr std::int64_t columns = 4000;
    tw_file f = nullptr;
    const std::string settings =
        service + "; format=netcdf4; deflate=1; quantize=granularbr:2; chunks=y=1,x=700";
    CHECK_TEXT(tw_create(m.session, path.c_str(), settings.c_str(), &f) == TW_OK, "%s",
               m.error().c_str());
    CHECK(tw_def_dim(f, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(f, "y", m.size) == TW_OK && tw_def_dim(f, "x", columns) == TW_OK);
    CHECK(tw_def_var(f, "Q", TW_FLOAT, "time y x", nullptr) == TW_OK);
    std::vector<float> row;
    for (std::int64_t i = 0; i < columns; ++i)
        row.push_back(0.05F * static_cast<float>(1 + i * 37 % 20011));
    std::int64_t start[3] = {0, m.rank, 0}, count[3] = {1, 1, columns};
    CHECK(tw_put_box(f, "Q", TW_FLOAT, start, count, nullptr, row.data()) == TW_OK);
    CHECK_TEXT(tw_sync(f, 0) == TW_OK, "%s", m.error().c_str());
    std::vector<float> before(static_cast<std::size_t>(columns)), after = before;
    CHECK_TEXT(tw_get_box(f, "Q", TW_FLOAT, start, count, nullptr, before.data()) == TW_OK, "%s",
               m.error().c_str());
    const float one = 4096;
    start[2] = columns / 2;
    count[2] = 1;
    CHECK(tw_put_box(f, "Q", TW_FLOAT, start, count, nullptr, &one) == TW_OK);
    CHECK_TEXT(tw_sync(f, 0) == TW_OK, "%s", m.error().c_str());
    start[2] = 0;
    count[2] = columns;
    CHECK_TEXT(tw_get_box(f, "Q", TW_FLOAT, start, count, nullptr, after.data()) == TW_OK, "%s",
               m.error().c_str());
    CHECK(before != row);  // it was quantized
    for (std::int64_t i = 0; i < columns; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float wanted = i == columns / 2 ? one : before[at];
        if (after[at] == wanted) continue;
        CHECK_TEXT(after[at] == wanted, "element %lld is %.9g, was %.9g", static_cast<long long>(i),
                   static_cast<double>(after[at]), static_cast<double>(wanted));
        break;
    }
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
}

// A box that is refused for want of room leaves nothing: steps and boxes that follow are written
// as without it.
void too_large(const std::string& settings) {
    Model m(MPI_COMM_WORLD, "log=off; service=inline; " + settings);
    check::step("too large: %s", settings.c_str());
    constexpr std::int64_t columns = 1000;
    const std::int64_t shape[2] = {m.size, columns}, begin[2] = {m.rank, 0}, held[2] = {1, columns};
    tw_decomposition rows = nullptr;
    CHECK(tw_decompose(m.session, "y x", 1, shape, begin, held, &rows) == TW_OK);
    const std::string path = folder + "/too_large.nc";
    tw_file f = nullptr;
    CHECK_TEXT(tw_create(m.session, path.c_str(), "", &f) == TW_OK, "%s", m.error().c_str());
    CHECK(tw_def_var(f, "F", TW_INT, "y x", rows) == TW_OK);
    CHECK(tw_def_var(f, "U", TW_INT, "time y x", rows) == TW_OK);
    const auto value = [&](std::int64_t record, std::int64_t y, std::int64_t x) {
        return static_cast<int>(1 + x + columns * (y + m.size * record));
    };
    std::vector<int> row(columns);
    const auto put = [&](const char* name, std::int64_t record) {
        for (std::int64_t x = 0; x < columns; ++x)
            row[static_cast<std::size_t>(x)] = value(record, m.rank, x);
        CHECK_TEXT(tw_put(f, name, TW_INT, row.data(), columns) == TW_OK, "%s", m.error().c_str());
    };
    constexpr std::int64_t steps = 4;
    for (std::int64_t step = 0; step < steps; ++step) {
        if (step == 0 && m.rank == 0) {
            const std::int64_t start[3] = {7, 0, 0}, count[3] = {100, 1, columns - 1};
            const std::vector<int> many(static_cast<std::size_t>(100 * columns), 1);
            const int status = tw_put_box(f, "U", TW_INT, start, count, nullptr, many.data());
            CHECK_TEXT(status == TW_ENOMEM, "%s", tw_strerror(status));
        }
        put("U", step);
        if (step == 1) put("F", steps);
        if (step == 2 && m.rank == 0) {
            const std::int64_t start[3] = {0, 0, 5}, count[3] = {1, 1, 1};
            const int one = -1;
            CHECK_TEXT(tw_put_box(f, "U", TW_INT, start, count, nullptr, &one) == TW_OK, "%s",
                       m.error().c_str());
        }
        CHECK_TEXT(tw_end_step(f) == TW_OK, "%s", m.error().c_str());
    }
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
    if (m.rank == 0) {
        int id = 0, time = -1, u = -1, fixed = -1;
        std::size_t records = 0;
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_unlimdim(id, &time) == NC_NOERR);
        CHECK(nc_inq_dimlen(id, time, &records) == NC_NOERR && records == steps);
        CHECK(nc_inq_varid(id, "U", &u) == NC_NOERR && nc_inq_varid(id, "F", &fixed) == NC_NOERR);
        std::int64_t wrong = 0;
        for (std::int64_t record = 0; record <= steps; ++record) {
            const std::size_t start[3] = {static_cast<std::size_t>(record), 0, 0};
            const std::size_t count[3] = {1, static_cast<std::size_t>(m.size), columns};
            std::vector<int> got(static_cast<std::size_t>(m.size * columns), 0);
            const int status = record < steps ? nc_get_vara_int(id, u, start, count, got.data())
                                              : nc_get_var_int(id, fixed, got.data());
            CHECK_TEXT(status == NC_NOERR, "%s", nc_strerror(status));
            for (std::int64_t y = 0; y < m.size; ++y)
                for (std::int64_t x = 0; x < columns; ++x) {
                    const bool boxed = record == 0 && y == 0 && x == 5;
                    wrong += got[static_cast<std::size_t>(x + columns * y)] !=
                             (boxed ? -1 : value(record, y, x));
                }
        }
        CHECK_TEXT(wrong == 0, "%s: %lld elements are wrong", settings.c_str(),
                   static_cast<long long>(wrong));
        nc_close(id);
    }
    m.end();
}

// Many chunks are changed where they are.
void changed(const std::string& settings) {
    Model m(MPI_COMM_WORLD, "log=off; service=inline");
    check::step("changed: %s", settings.c_str());
    constexpr std::int64_t rows = 400;
    const std::string path = folder + "/changed.nc";
    tw_file f = nullptr;
    const std::string all = "format=netcdf4; writers=2; chunks=y=1,x=3; " + settings;
    CHECK_TEXT(tw_create(m.session, path.c_str(), all.c_str(), &f) == TW_OK, "%s",
               m.error().c_str());
    CHECK(tw_def_dim(f, "y", rows) == TW_OK && tw_def_dim(f, "x", 3) == TW_OK);
    CHECK(tw_def_var(f, "F", TW_INT, "y x", nullptr) == TW_OK);
    std::vector<int> values(static_cast<std::size_t>(3 * rows), -1);
    const std::int64_t begin[2] = {0, 0}, full[2] = {rows, 3};
    if (m.rank == 0)
        CHECK(tw_put_box(f, "F", TW_INT, begin, full, nullptr, values.data()) == TW_OK);
    CHECK_TEXT(tw_sync(f, 0) == TW_OK, "%s", m.error().c_str());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    if (m.rank == 0)
        CHECK(tw_put_box(f, "F", TW_INT, begin, full, nullptr, values.data()) == TW_OK);
    CHECK_TEXT(tw_close(&f) == TW_OK, "%s", m.error().c_str());
    if (m.rank == 0) {
        int id = 0, var = -1;
        std::vector<int> got(values.size(), 0);
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "F", &var) == NC_NOERR);
        CHECK(nc_get_var_int(id, var, got.data()) == NC_NOERR);
        CHECK_TEXT(got == values, "%s", settings.c_str());
        nc_close(id);
    }
    m.end();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "40"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "3"));
    folder = check::make_folder("boxes");
    too_large("staging=2KiB");   // less than a step: tw_put is collective
    too_large("staging=64KiB");  // less than the box
    changed("");
    changed("deflate=1");
    long done = 0;
    for (const Service& s : services()) {
        const std::string settings = "log=off; " + s.session;
        {
            Model m(MPI_COMM_WORLD, settings);
            if (m) {
                const std::string what = settings + "; " + s.file;
                check::step("%s: refused", what.c_str());
                refused(m, s.file);
                check::step("%s: silent ranks", what.c_str());
                silent_ranks(m, s.file);
                check::step("%s: no elements", what.c_str());
                no_elements(m, s.file);
                check::step("%s: mixed", what.c_str());
                mixed(m, s.file);
                check::step("%s: misfit", what.c_str());
                misfit(m, s.file);
                check::step("%s: quantized", what.c_str());
                quantized(m, s.file);
                const double begin = MPI_Wtime();
                for (long k = 0; k < cases; ++k) {
                    int over = MPI_Wtime() - begin > seconds ? 1 : 0;
                    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, m.comm);
                    if (over != 0) break;
                    const Case c =
                        make_case(mix(seed, static_cast<std::uint64_t>(k)), m.size, s.file);
                    if (!run(m, c, check::text("%s; case %ld", settings.c_str(), k))) break;
                    ++done;
                }
            }
            m.end();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check::state.rank == 0) {
        check::print(check::text("boxes: %ld cases", done));
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("boxes");
}
