// Bad input of puts and steps: missing and different calls, values, formats.
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

// ---- puts and steps ----------------------------------------------------------------------------

void puts() {
    Session s;
    const Line line(s);
    const std::string path = path_of("puts.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "T", TW_FLOAT, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "c", TW_CHAR, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "r", TW_INT, "time", nullptr));
    OK_ALL(s, tw_enddef(f));
    const std::vector<float> t = line.values<float>(1);
    const std::vector<char> c = line.values<char>(32);
    const std::int32_t r = 42;
    const std::int64_t n = line.count;
    const std::string count = std::to_string(n);
    // Only one rank makes the mistake; the others must not notice it.
    if (rank() == last_rank()) {
        HERE(s, TW_ENOTFOUND, WORDS("nothing", "puts.nc"),
             tw_put(f, "nothing", TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_ENOTFOUND, TW_EARG), {}, tw_put(f, "", TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_EARG, TW_ENOTFOUND), {}, tw_put(f, nullptr, TW_FLOAT, t.data(), n));
        HERE(s, TW_ETYPE, WORDS("T", "char"), tw_put(f, "T", TW_CHAR, t.data(), n));
        HERE(s, TW_ETYPE, WORDS("c", "float"), tw_put(f, "c", TW_FLOAT, t.data(), n));
        HERE(s, TW_ETYPE, {"42"}, tw_put(f, "T", static_cast<tw_type>(42), t.data(), n));
        HERE(s, TW_ESHAPE, WORDS("T", count, std::to_string(n + 1)),
             tw_put(f, "T", TW_FLOAT, t.data(), n + 1));
        HERE(s, TW_ESHAPE, WORDS("T", count, "0"), tw_put(f, "T", TW_FLOAT, t.data(), 0));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), WORDS("T", "-7"),
             tw_put(f, "T", TW_FLOAT, t.data(), -7));
        HERE(s, TW_ESHAPE, {"T"}, tw_put(f, "T", TW_FLOAT, t.data(), huge));
        HERE(s, TW_EARG, {"T"}, tw_put(f, "T", TW_FLOAT, nullptr, n));
        HERE(s, TW_EARG, {"T"}, tw_put_array(f, "T", tw_dense(TW_FLOAT, nullptr, n), TW_DEFERRED));
        HERE(s, TW_ESHAPE, WORDS("r", "2"), tw_put(f, "r", TW_INT, &r, 2));
        const Numbers extent{n, n, n};
        const Numbers stride{4, 4, 4};
        HERE(s, TW_ESHAPE, WORDS("T", "3"),
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 3, extent.data(), stride.data()),
                          0));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), {"T"},
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 0, extent.data(), stride.data()),
                          0));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), {"T"},
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), -1, extent.data(), stride.data()),
                          0));
        const Numbers longer{n + 1};
        HERE(s, TW_ESHAPE, WORDS("T", count, std::to_string(n + 1)),
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 1, longer.data(), stride.data()),
                          0));
        HERE(s, TW_EARG, {},
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 1, nullptr, stride.data()), 0));
        HERE(s, TW_EARG, {},
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 1, extent.data(), nullptr), 0));
        HERE(s, TW_ESHAPE, {},
             tw_put_array(f, "T", tw_strided(TW_FLOAT, t.data(), 1, longer.data(), stride.data()),
                          TW_DEFERRED));
        HERE(s, TW_EHANDLE, {}, tw_put(nullptr, "T", TW_FLOAT, t.data(), n));
    }
    for (int step = 0; step < 2; ++step) {
        OK_HERE(s, tw_put(f, "T", TW_FLOAT, t.data(), n));
        OK_HERE(s, tw_put(f, "c", TW_CHAR, c.data(), n));
        OK_HERE(s, tw_put(f, "r", TW_INT, &r, 1));
        OK_ALL(s, tw_end_step(f));
    }
    const tw_file copy = f;
    OK_ALL(s, tw_close(&f));
    CHECK(f == nullptr);
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        Oracle oracle(expected, "cdf2");
        oracle.dim("time", 0);
        oracle.dim("x", line.length);
        const int tv = oracle.var("T", TW_FLOAT, {"time", "x"});
        const int cv = oracle.var("c", TW_CHAR, {"time", "x"});
        const int rv = oracle.var("r", TW_INT, {"time"});
        oracle.enddef();
        for (std::size_t step = 0; step < 2; ++step) {
            const auto length = static_cast<std::size_t>(line.length);
            oracle.require(
                oracle.put(tv, TW_FLOAT, {step, 0}, {1, length}, line.all_values<float>(1).data()),
                "put");
            oracle.require(
                oracle.put(cv, TW_CHAR, {step, 0}, {1, length}, line.all_values<char>(32).data()),
                "put");
            oracle.require(oracle.put(rv, TW_INT, {step}, {1}, &r), "put");
        }
        oracle.close();
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s", what.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // a copy of the handle of a file that will be closed
    tw_file stale = copy;
    HERE(s, TW_ECLOSED, {"puts.nc"}, tw_put(stale, "T", TW_FLOAT, t.data(), n));
    HERE(s, TW_ECLOSED, {}, tw_put_array(stale, "T", tw_dense(TW_FLOAT, t.data(), n), TW_DEFERRED));
    HERE(s, TW_ECLOSED, {}, tw_def_dim(stale, "q", 2));
    HERE(s, TW_ECLOSED, {}, tw_def_var(stale, "q", TW_INT, "", nullptr));
    HERE(s, TW_ECLOSED, {}, tw_put_att_text(stale, nullptr, "q", "q"));
    HERE(s, TW_ECLOSED, {}, tw_enddef(stale));
    HERE(s, TW_ECLOSED, {}, tw_end_step(stale));
    HERE(s, TW_ECLOSED, {}, tw_sync(stale, 0));
    HERE(s, TW_ECLOSED, {}, tw_close(&stale));
    std::int64_t length = 0;
    HERE(s, TW_ECLOSED, {}, tw_inq_dim(copy, "x", &length));
    HERE(s, CODES(TW_EHANDLE, TW_EARG), {}, tw_close(nullptr));
    HERE(s, TW_EHANDLE, {}, tw_close(&f));
    HERE(s, TW_EHANDLE, {}, tw_end_step(nullptr));
    HERE(s, TW_EHANDLE, {}, tw_sync(nullptr, 0));
}

void missing() {
    Session s;
    const Line line(s);
    const std::string path = path_of("missing.nc");
    tw_file f = create_two(s, path, line);
    OK_ALL(s, tw_enddef(f));
    const std::vector<float> values = line.values<float>(7);
    const bool late = rank() == last_rank();
    // In step 0, the last rank does not put T. In step 1, rank 0 does not put T, and the last rank
    // not h.
    if (!late || ranks() == 1) OK_HERE(s, put(f, "T", values));
    if (ranks() > 1) {
        ALL(s, TW_EMISSING, WORDS("T", rank_word(last_rank()), "missing.nc"), tw_end_step(f));
        // if nothing has changed, the error is the same again
        ALL(s, TW_EMISSING, WORDS("T", rank_word(last_rank())), tw_end_step(f));
        if (late) OK_HERE(s, put(f, "T", values));
    }
    OK_ALL(s, tw_end_step(f));
    if (ranks() > 1) {
        if (rank() != 0) OK_HERE(s, put(f, "T", line.values<float>(9)));
        if (!late) OK_HERE(s, put(f, "h", line.values<float>(8)));
        ALL(s, TW_EMISSING, {"rank"}, tw_end_step(f));
        if (rank() == 0) OK_HERE(s, put(f, "T", line.values<float>(9)));
        ALL(s, TW_EMISSING, WORDS("h", rank_word(last_rank())), tw_end_step(f));
        if (late) OK_HERE(s, put(f, "h", line.values<float>(8)));
    } else {
        OK_HERE(s, put(f, "T", line.values<float>(9)));
        OK_HERE(s, put(f, "h", line.values<float>(8)));
    }
    OK_ALL(s, tw_end_step(f));
    // in step 2, no rank puts anything, which gives a record of fill values
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(7), line.all_values<float>(9), {}},
                line.all_values<float>(8));
    if (ranks() > 1) {  // the close finds the error, too, and does not hang
        f = create_two(s, path_of("missing2.nc"), line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", values));
        OK_ALL(s, tw_end_step(f));
        if (!late) OK_HERE(s, put(f, "h", values));
        ALL(s, TW_EMISSING, WORDS("h", rank_word(last_rank())), tw_close(&f));
        // Even a variable without a decomposition must be put on all ranks.
        f = create_two(s, path_of("missing3.nc"), line);
        OK_HERE(s, tw_def_var(f, "day", TW_INT, "time", nullptr));
        OK_ALL(s, tw_enddef(f));
        const int day = 3;
        OK_HERE(s, put(f, "T", values));
        if (!late) OK_HERE(s, tw_put(f, "day", TW_INT, &day, 1));
        ALL(s, TW_EMISSING, WORDS("day", rank_word(last_rank())), tw_end_step(f));
        if (late) OK_HERE(s, tw_put(f, "day", TW_INT, &day, 1));
        OK_ALL(s, tw_end_step(f));
        OK_HERE(s, put(f, "h", values));
        OK_ALL(s, tw_close(&f));
    }
}

// If a step exceeds the staging memory, puts are collective, and so are their errors.
void collective_puts() {
    Session s;
    const Line line(s);
    const std::string path = path_of("collective.nc");
    tw_file f = create_two(s, path, line, "format=cdf2; staging=0");
    OK_ALL(s, tw_enddef(f));
    const bool odd = rank() == last_rank();
    const std::vector<float> t = line.values<float>(1);
    const std::vector<float> h = line.values<float>(2);
    ALL(s, TW_ESHAPE, WORDS("T", "collective.nc", rank_word(last_rank())),
        tw_put(f, "T", TW_FLOAT, t.data(), line.count + (odd ? 1 : 0)));
    ALL(s, TW_ENOTFOUND, WORDS("nothing", "collective.nc"),
        tw_put(f, odd ? "nothing" : "T", TW_FLOAT, t.data(), line.count));
    OK_ALL(s, put(f, "T", t));
    // The second put of a record variable is refused; of a fixed-size one, the later values count.
    ALL(s, TW_ESTATE, WORDS("'T'", "collective.nc", "record 0", "tw_end_step"), put(f, "T", h));
    OK_ALL(s, put(f, "h", t));
    OK_ALL(s, put(f, "h", h));
    OK_ALL(s, tw_end_step(f));
    // a deferred put is still local
    if (!odd)
        OK_HERE(s, tw_put_array(f, "T", tw_dense(TW_FLOAT, t.data(), line.count), TW_DEFERRED));
    if (ranks() > 1) ALL(s, TW_EMISSING, WORDS("T", rank_word(last_rank())), tw_end_step(f));
    if (odd)
        OK_HERE(s, tw_put_array(f, "T", tw_dense(TW_FLOAT, t.data(), line.count), TW_DEFERRED));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(1), line.all_values<float>(1)},
                line.all_values<float>(2));
    if (ranks() == 1) return;
    f = create_two(s, path_of("order.nc"), line, "staging=0");
    OK_ALL(s, tw_enddef(f));
    ALL(s, TW_EMISMATCH, WORDS("'T'", "'h'", "order.nc", rank_word(last_rank())),
        tw_put(f, odd ? "h" : "T", TW_FLOAT, t.data(), line.count));
    OK_ALL(s, put(f, "h", t));
    OK_ALL(s, tw_close(&f));
    expect_file(path_of("order.nc"), line.length, {}, line.all_values<float>(1));
}

// Sets attributes after the data, several times, of a size that exceeds the reserved space.
void late_attributes() {
    Session s;
    const Line line(s);
    for (const std::size_t length : {std::size_t{100}, std::size_t{100000}}) {
        const std::string path = path_of("late.nc");
        tw_file f = create_two(s, path, line);
        OK_HERE(s, tw_put_att_text(f, "T", "units", "K"));
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(3)));
        OK_HERE(s, put(f, "h", line.values<float>(4)));
        OK_ALL(s, tw_end_step(f));
        const std::string text(length, 'x');
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", "first"));
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", text.c_str()));
        OK_HERE(s, tw_put_att_text(f, "T", "units", "degC, not K"));
        OK_ALL(s, tw_close(&f));
        if (rank() == 0) {
            int id = 0;
            const auto n = static_cast<std::size_t>(line.length);
            std::vector<float> t(n);
            std::vector<float> h(n);
            std::string got(length, ' ');
            std::string units(11, ' ');
            CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
            CHECK(nc_get_var_float(id, 0, t.data()) == NC_NOERR);
            CHECK(nc_get_var_float(id, 1, h.data()) == NC_NOERR);
            CHECK(t == line.all_values<float>(3));
            CHECK(h == line.all_values<float>(4));
            std::size_t stored = 0;
            CHECK(nc_inq_attlen(id, NC_GLOBAL, "history", &stored) == NC_NOERR && stored == length);
            CHECK(stored == length &&
                  nc_get_att_text(id, NC_GLOBAL, "history", got.data()) == NC_NOERR);
            CHECK(got == text);
            CHECK(nc_inq_attlen(id, 0, "units", &stored) == NC_NOERR && stored == units.size());
            CHECK(stored == units.size() &&
                  nc_get_att_text(id, 0, "units", units.data()) == NC_NOERR);
            CHECK(units == "degC, not K");
            nc_close(id);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// ---- values ------------------------------------------------------------------------------------

void values_out_of_range() {
    Session s;
    const Line line(s);
    const std::string path = path_of("range.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "g", TW_SHORT, "time x", line.handle));
    OK_ALL(s, tw_enddef(f));
    for (int step = 0; step < 3; ++step) {
        std::vector<std::int32_t> b = line.values<std::int32_t>(0);
        if (step == 1 && rank() == last_rank()) b.back() = 300;
        OK_HERE(s, tw_put(f, "b", TW_INT, b.data(), line.count));
        OK_HERE(s, tw_put(f, "g", TW_INT, b.data(), line.count));
        if (step == 1)
            ALL(s, TW_ERANGE, WORDS("b", "range.nc", "1"), tw_end_step(f));
        else
            OK_ALL(s, tw_end_step(f));
    }
    // The error was returned; the file is complete.
    OK_ALL(s, tw_close(&f));
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        Oracle oracle(expected, "cdf2");
        oracle.dim("time", 0);
        oracle.dim("x", line.length);
        const int bv = oracle.var("b", TW_BYTE, {"time", "x"});
        const int gv = oracle.var("g", TW_SHORT, {"time", "x"});
        oracle.enddef();
        for (std::size_t step = 0; step < 3; ++step) {
            std::vector<std::int32_t> b = line.all_values<std::int32_t>(0);
            std::vector<std::int32_t> g = b;
            if (step == 1) {
                b.back() = NC_FILL_BYTE;
                g.back() = 300;
            }
            const auto n = static_cast<std::size_t>(line.length);
            oracle.require(oracle.put(bv, TW_INT, {step, 0}, {1, n}, b.data()), "put");
            oracle.require(oracle.put(gv, TW_INT, {step, 0}, {1, n}, g.data()), "put");
        }
        oracle.close();
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s", what.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // The error stays pending until the close.
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "x", line.handle));
    OK_ALL(s, tw_enddef(f));
    const std::vector<std::int32_t> big(static_cast<std::size_t>(line.count), 1000);
    OK_HERE(s, tw_put(f, "b", TW_INT, big.data(), line.count));
    ALL(s, TW_ERANGE, WORDS("b", "range.nc"), tw_close(&f));
    CHECK(f == nullptr);
    CHECK(exists(path));
    MPI_Barrier(MPI_COMM_WORLD);
    // The close ends the step: all other data that were put are in the file, and the rest has fill
    // values.
    f = create_two(s, path_of("range2.nc"), line);
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "k", TW_INT, "x", line.handle));
    OK_ALL(s, tw_enddef(f));
    const std::vector<float> values = line.values<float>(7);
    OK_HERE(s, put(f, "T", values));
    OK_HERE(s, put(f, "h", values));
    OK_HERE(s, tw_put(f, "b", TW_INT, big.data(), line.count));
    ALL(s, TW_ERANGE, WORDS("b", "range2.nc"), tw_close(&f));
    CHECK(f == nullptr);
    OK_ALL(s, tw_open(s, path_of("range2.nc").c_str(), nullptr, &f));
    for (const char* name : {"T", "h"}) {
        std::vector<float> got(values.size(), -1);
        OK_ALL(s, tw_get(f, name, line.handle, 0, TW_FLOAT, got.data(), line.count));
        CHECK(got == values);
    }
    std::vector<std::int32_t> k(values.size(), -1);
    OK_ALL(s, tw_get(f, "k", line.handle, 0, TW_INT, k.data(), line.count));
    CHECK(k == std::vector<std::int32_t>(values.size(), NC_FILL_INT));
    OK_ALL(s, tw_close(&f));
}

// ---- formats -----------------------------------------------------------------------------------

void formats() {
    Session s;
    // A format refuses definitions that it cannot hold, at once or at the end of define mode, on
    // all ranks alike.
    const auto refuse = [&](const char* format, const Words& words,
                            const std::function<int(tw_file)>& define) {
        tw_file f = nullptr;
        const std::string path = path_of("format.nc");
        OK_ALL(s, tw_create(s, path.c_str(), (std::string("format=") + format).c_str(), &f));
        int status = define(f);
        if (status == TW_OK) status = tw_enddef(f);
        ALL(s, TW_EFORMAT, words, status);
        check::step("%s: tw_close", current_test.c_str());
        tw_close(&f);
    };
    const auto variable = [&](const char* name, tw_type type, const char* dims,
                              const Numbers& shape, bool records) {
        return [&s, name, type, dims, shape, records](tw_file f) {
            tw_decomposition d = nullptr;
            OK_ALL(s, tw_decompose(s, dims, 0, shape.data(), nullptr, nullptr, &d));
            const std::string of_record = std::string("time ") + dims;
            int status = tw_def_var(f, name, type, records ? of_record.c_str() : dims, d);
            if (status == TW_OK)
                status = tw_def_var(f, "second", TW_INT, records ? "time" : "", nullptr);
            return status;
        };
    };
    for (const char* format : {"cdf1", "cdf2"}) {
        for (const tw_type type : {TW_UBYTE, TW_USHORT, TW_UINT, TW_INT64, TW_UINT64}) {
            refuse(format, {"v", type_name(type), format, "cdf5"},
                   variable("v", type, "y x", {3, 4}, false));
            refuse(format, {"units", type_name(type), format, "cdf5"}, [&](tw_file f) {
                const std::uint64_t zero = 0;
                return tw_put_att(f, nullptr, "units", type, 1, &zero);
            });
        }
        refuse(format, {"v", format, "cdf5"},
               variable("v", TW_FLOAT, "y x", {1 << 16, (1 << 14) + 1}, false));
        refuse(format, {"v", format, "cdf5"},
               variable("v", TW_FLOAT, "y x", {1 << 16, (1 << 14) + 1}, true));
    }
    refuse("cdf1", {"x", "cdf1", "cdf5"},
           variable("v", TW_BYTE, "x", {std::int64_t{1} << 31}, true));
    refuse("cdf2", {"x", "cdf2", "cdf5"},
           variable("v", TW_BYTE, "x", {std::int64_t{1} << 32}, true));
    refuse("cdf1", {"v", "cdf1", "cdf2"},
           variable("v", TW_FLOAT, "y x", {1 << 15, (1 << 14) + 1}, false));
    refuse("cdf1", {"v", "cdf1", "cdf2"},
           variable("v", TW_FLOAT, "y x", {1 << 15, (1 << 14) + 1}, true));

    // If no format is requested, one that fits is chosen.
    const auto chosen = [&](const char* name, tw_type type, const Numbers& shape) {
        tw_file f = nullptr;
        const std::string path = path_of("chosen.nc");
        OK_ALL(s, tw_create(s, path.c_str(), "format=auto", &f));
        OK_HERE(s, variable(name, type, "y x", shape, true)(f));
        OK_ALL(s, tw_close(&f));
        char magic[4] = {};
        std::ifstream(path).read(magic, sizeof magic);
        MPI_Barrier(MPI_COMM_WORLD);
        return static_cast<int>(magic[3]);
    };
    CHECK(chosen("v", TW_FLOAT, {10, 10}) == 2);
    CHECK(chosen("v", TW_UINT, {10, 10}) == 5);
    CHECK(chosen("v", TW_FLOAT, {1 << 16, (1 << 14) + 1}) == 5);
}

}  // namespace bad_input
