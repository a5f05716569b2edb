// SPDX-License-Identifier: Apache-2.0
#include "box_case.hpp"

#include <netcdf.h>

#include <algorithm>
#include <map>

#include "system/check.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"

extern "C" tw_status tw_end_step_apart(tw_file file);  // for the library of CFIO programs

namespace box_case {

namespace {

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

}  // namespace

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
                 // Leave out direct, with which steps cannot end apart.
                 .set("method", {"auto", "record", "slabs", "rows", "columns", "serial", "tiles"})
                 .leave_out("service")
                 .leave_out("storage")
                 .set("queue", {"auto", "auto", "16KiB", "64KiB"})
                 .set("piece", {"auto", "4096", "64KiB"})  // smaller pieces take long
                 .draw(random);
    const bool syncs = random.percent(30);
    const std::int64_t phases = random.between(1, 3);
    c.apart = random.percent(50);
    c.of_rank.resize(static_cast<std::size_t>(ranks));
    std::vector<std::int64_t> latest(static_cast<std::size_t>(ranks), 0);
    for (std::int64_t phase = 0; phase < phases; ++phase) {
        const std::int64_t common = random.between(0, 4);
        for (int r = 0; r < ranks; ++r) {
            auto& actions = c.of_rank[static_cast<std::size_t>(r)];
            std::int64_t& last = latest[static_cast<std::size_t>(r)];
            // A rank must put at least an empty box, so that the library knows that it writes
            // boxes.
            if (actions.empty()) {
                Put p = random_put(c, r, ranks, 0, random);
                if (random.percent(50)) {
                    p.count.assign(p.count.size(), 0);
                    p.data.clear();
                }
                actions.push_back({What::put, p});
            }
            const std::int64_t steps = c.apart ? random.between(0, 4) : common;
            for (std::int64_t s = 0; s < steps; ++s) {
                const std::int64_t puts = random.percent(20) ? 0 : random.between(1, 6);
                for (std::int64_t i = 0; i < puts; ++i) {
                    Put p = random_put(c, r, ranks, last, random);
                    if (random.percent(10)) actions.push_back({What::put, p});  // put it twice
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

namespace {

// Expected contents of the file.
struct Expected {
    std::int64_t records = 0;
    std::map<std::string, std::vector<double>> values;  // values of each variable, one record after
                                                        // another
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

}  // namespace

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
            case What::end_step:
                expect_ok(c.apart ? tw_end_step_apart(f) : tw_end_step(f), "tw_end_step");
                break;
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

}  // namespace box_case
