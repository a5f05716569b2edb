// Bad input of puts and steps: missing and different calls, values, formats.
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

// ---- puts and steps ----------------------------------------------------------------------------

void puts() {
    Session s;
    const Line line;
    const std::string path = path_of("puts.nc");
    tw_file f = create_two(path, line);
    OK(tw_enddef(f));
    const std::vector<float> t = line.values<float>(1);
    const std::int64_t n = line.count;
    const std::string count = std::to_string(n), more = std::to_string(n + 1);
    // Only one rank makes the mistake; the others must not notice it.
    if (rank() == last_rank()) {
        const Numbers extent{n, n, n}, longer{n + 1}, stride{4, 4, 4};
        const auto put_of = [&](const char* name, int type, std::int64_t elements) {
            return tw_put(f, name, static_cast<tw_type>(type), t.data(), elements);
        };
        const auto strided = [&](int dims, const Numbers* lengths, const Numbers* strides,
                                 int flags) {
            return tw_put_array(
                f, "T",
                tw_strided(TW_FLOAT, t.data(), dims, lengths == nullptr ? nullptr : lengths->data(),
                           strides == nullptr ? nullptr : strides->data()),
                flags);
        };
        HERE(TW_ENOTFOUND, WORDS("nothing", "puts.nc"), put_of("nothing", TW_FLOAT, n));
        HERE(CODES(TW_ENOTFOUND, TW_EARG), {}, put_of("", TW_FLOAT, n));
        HERE(CODES(TW_EARG, TW_ENOTFOUND), {}, put_of(nullptr, TW_FLOAT, n));
        HERE(TW_ETYPE, WORDS("T", "char"), put_of("T", TW_CHAR, n));
        HERE(TW_ETYPE, "42", put_of("T", 42, n));
        HERE(TW_ESHAPE, WORDS("T", count, more), put_of("T", TW_FLOAT, n + 1));
        HERE(TW_ESHAPE, WORDS("T", count, "0"), put_of("T", TW_FLOAT, 0));
        HERE(CODES(TW_ESHAPE, TW_EARG), WORDS("T", "-7"), put_of("T", TW_FLOAT, -7));
        HERE(TW_ESHAPE, "T", put_of("T", TW_FLOAT, INT64_MAX));
        HERE(TW_EARG, "T", tw_put(f, "T", TW_FLOAT, nullptr, n));
        HERE(TW_EARG, "T", tw_put_array(f, "T", tw_dense(TW_FLOAT, nullptr, n), TW_DEFERRED));
        HERE(TW_ESHAPE, WORDS("T", "3"), strided(3, &extent, &stride, 0));
        HERE(CODES(TW_ESHAPE, TW_EARG), "T", strided(0, &extent, &stride, 0));
        HERE(CODES(TW_ESHAPE, TW_EARG), "T", strided(-1, &extent, &stride, 0));
        for (const int flags : {0, TW_DEFERRED})
            HERE(TW_ESHAPE, WORDS("T", count, more), strided(1, &longer, &stride, flags));
        HERE(TW_EARG, {}, strided(1, nullptr, &stride, 0));
        HERE(TW_EARG, {}, strided(1, &extent, nullptr, 0));
        HERE(TW_EHANDLE, {}, tw_put(nullptr, "T", TW_FLOAT, t.data(), n));
    }
    for (int step = 0; step < 2; ++step) {
        OK(put(f, "T", t));
        OK(tw_end_step(f));
    }
    tw_file stale = f;
    OK(tw_close(&f));
    CHECK(f == nullptr);
    expect_file(path, line.length, {line.all_values<float>(1), line.all_values<float>(1)}, {});
    // a copy of the handle of a file that is closed
    std::int64_t length = 0;
    HERE(TW_ECLOSED, "puts.nc", put(stale, "T", t));
    for (const int status :
         {tw_def_dim(stale, "q", 2), tw_def_var(stale, "q", TW_INT, "", nullptr),
          tw_put_att_text(stale, nullptr, "q", "q"), tw_enddef(stale), tw_end_step(stale),
          tw_sync(stale, 0), tw_inq_dim(stale, "x", &length), tw_close(&stale)})
        CHECK_TEXT(status == TW_ECLOSED, tw_strerror(status));
    for (const int status : {tw_close(&f), tw_end_step(nullptr), tw_sync(nullptr, 0)})
        CHECK_TEXT(status == TW_EHANDLE, tw_strerror(status));
    HERE(CODES(TW_EHANDLE, TW_EARG), {}, tw_close(nullptr));
}

void missing() {
    Session s;
    const Line line;
    const std::string path = path_of("missing.nc");
    tw_file f = create_two(path, line);
    OK(tw_enddef(f));
    const std::vector<float> values = line.values<float>(7);
    const bool late = rank() == last_rank();
    // In step 0, the last rank does not put T. In step 1, rank 0 does not put T, and the last rank
    // not h.
    if (!late || ranks() == 1) OK(put(f, "T", values));
    if (ranks() > 1) {
        ALL(TW_EMISSING, WORDS("T", rank_word(last_rank()), "missing.nc"), tw_end_step(f));
        // if nothing has changed, the error is the same again
        ALL(TW_EMISSING, WORDS("T", rank_word(last_rank())), tw_end_step(f));
        if (late) OK(put(f, "T", values));
    }
    OK(tw_end_step(f));
    if (ranks() > 1) {
        if (rank() != 0) OK(put(f, "T", line.values<float>(9)));
        if (!late) OK(put(f, "h", line.values<float>(8)));
        ALL(TW_EMISSING, {"rank"}, tw_end_step(f));
        if (rank() == 0) OK(put(f, "T", line.values<float>(9)));
        ALL(TW_EMISSING, WORDS("h", rank_word(last_rank())), tw_end_step(f));
        if (late) OK(put(f, "h", line.values<float>(8)));
    } else {
        OK(put(f, "T", line.values<float>(9)));
        OK(put(f, "h", line.values<float>(8)));
    }
    OK(tw_end_step(f));
    // in step 2, no rank puts anything, which gives a record of fill values
    OK(tw_end_step(f));
    OK(tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(7), line.all_values<float>(9), {}},
                line.all_values<float>(8));
    if (ranks() > 1) {  // the close finds the error, too, and does not hang
        f = create_two(path_of("missing2.nc"), line);
        OK(tw_enddef(f));
        OK(put(f, "T", values));
        OK(tw_end_step(f));
        if (!late) OK(put(f, "h", values));
        ALL(TW_EMISSING, WORDS("h", rank_word(last_rank())), tw_close(&f));
        // Even a variable without a decomposition must be put on all ranks.
        f = create_two(path_of("missing3.nc"), line);
        OK(tw_def_var(f, "day", TW_INT, "time", nullptr));
        OK(tw_enddef(f));
        const int day = 3;
        OK(put(f, "T", values));
        if (!late) OK(tw_put(f, "day", TW_INT, &day, 1));
        ALL(TW_EMISSING, WORDS("day", rank_word(last_rank())), tw_end_step(f));
        if (late) OK(tw_put(f, "day", TW_INT, &day, 1));
        OK(tw_end_step(f));
        OK(put(f, "h", values));
        OK(tw_close(&f));
    }
}

// If a step exceeds the staging memory, puts are collective, and so are their errors.
void collective_puts() {
    Session s;
    const Line line;
    const std::string path = path_of("collective.nc");
    tw_file f = create_two(path, line, "format=cdf2; staging=0");
    OK(tw_enddef(f));
    const bool odd = rank() == last_rank();
    const std::vector<float> t = line.values<float>(1);
    const std::vector<float> h = line.values<float>(2);
    ALL(TW_ESHAPE, WORDS("T", "collective.nc", rank_word(last_rank())),
        tw_put(f, "T", TW_FLOAT, t.data(), line.count + (odd ? 1 : 0)));
    ALL(TW_ENOTFOUND, WORDS("nothing", "collective.nc"),
        tw_put(f, odd ? "nothing" : "T", TW_FLOAT, t.data(), line.count));
    OK(put(f, "T", t));
    // The second put of a record variable is refused; of a fixed-size one, the later values count.
    ALL(TW_ESTATE, WORDS("'T'", "collective.nc", "record 0", "tw_end_step"), put(f, "T", h));
    OK(put(f, "h", t));
    OK(put(f, "h", h));
    OK(tw_end_step(f));
    // a deferred put is still local
    if (!odd) OK(tw_put_array(f, "T", tw_dense(TW_FLOAT, t.data(), line.count), TW_DEFERRED));
    if (ranks() > 1) ALL(TW_EMISSING, WORDS("T", rank_word(last_rank())), tw_end_step(f));
    if (odd) OK(tw_put_array(f, "T", tw_dense(TW_FLOAT, t.data(), line.count), TW_DEFERRED));
    OK(tw_end_step(f));
    OK(tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(1), line.all_values<float>(1)},
                line.all_values<float>(2));
    if (ranks() == 1) return;
    f = create_two(path_of("order.nc"), line, "staging=0");
    OK(tw_enddef(f));
    ALL(TW_EMISMATCH, WORDS("'T'", "'h'", "order.nc", rank_word(last_rank())),
        tw_put(f, odd ? "h" : "T", TW_FLOAT, t.data(), line.count));
    OK(put(f, "h", t));
    OK(tw_close(&f));
    expect_file(path_of("order.nc"), line.length, {}, line.all_values<float>(1));
}

// Sets attributes after the data, several times, of a size that exceeds the reserved space.
void late_attributes() {
    Session s;
    const Line line;
    for (const std::size_t length : {std::size_t{100}, std::size_t{100000}}) {
        const std::string path = path_of("late.nc");
        tw_file f = create_two(path, line);
        OK(tw_put_att_text(f, "T", "units", "K"));
        OK(tw_enddef(f));
        OK(put(f, "T", line.values<float>(3)));
        OK(put(f, "h", line.values<float>(4)));
        OK(tw_end_step(f));
        const std::string text(length, 'x');
        OK(tw_put_att_text(f, nullptr, "history", "first"));
        OK(tw_put_att_text(f, nullptr, "history", text.c_str()));
        OK(tw_put_att_text(f, "T", "units", "degC, not K"));
        OK(tw_close(&f));
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

/// Tests values that do not fit; tests/system/bytes/fill.cpp looks at what is written in their
/// place.
void values_out_of_range() {
    Session s;
    const Line line;
    const std::string path = path_of("range.nc");
    tw_file f = nullptr;
    OK(tw_create(s, path.c_str(), "format=cdf2", &f));
    OK(tw_def_var(f, "b", TW_BYTE, "time x", line.handle));
    OK(tw_enddef(f));
    for (int step = 0; step < 3; ++step) {
        std::vector<std::int32_t> b = line.values<std::int32_t>(0);
        if (step == 1 && rank() == last_rank()) b.back() = 300;
        OK(tw_put(f, "b", TW_INT, b.data(), line.count));
        ALL(step == 1 ? TW_ERANGE : TW_OK, WORDS("b", "range.nc", "1"), tw_end_step(f));
    }
    OK(tw_close(&f));  // the error was returned; the file is complete
    // The error stays pending until the close.
    OK(tw_create(s, path.c_str(), "format=cdf2", &f));
    OK(tw_def_var(f, "b", TW_BYTE, "x", line.handle));
    OK(tw_enddef(f));
    const std::vector<std::int32_t> big(static_cast<std::size_t>(line.count), 1000);
    OK(tw_put(f, "b", TW_INT, big.data(), line.count));
    ALL(TW_ERANGE, WORDS("b", "range.nc"), tw_close(&f));
    CHECK(f == nullptr && exists(path));
    MPI_Barrier(MPI_COMM_WORLD);
    // The close ends the step: all other data that were put are in the file, and the rest has fill
    // values.
    f = create_two(path_of("range2.nc"), line);
    OK(tw_def_var(f, "b", TW_BYTE, "time x", line.handle));
    OK(tw_def_var(f, "k", TW_INT, "x", line.handle));
    OK(tw_enddef(f));
    const std::vector<float> values = line.values<float>(7);
    OK(put(f, "T", values));
    OK(put(f, "h", values));
    OK(tw_put(f, "b", TW_INT, big.data(), line.count));
    ALL(TW_ERANGE, WORDS("b", "range2.nc"), tw_close(&f));
    CHECK(f == nullptr);
    OK(tw_open(s, path_of("range2.nc").c_str(), nullptr, &f));
    for (const char* name : {"T", "h"}) {
        std::vector<float> got(values.size(), -1);
        OK(tw_get(f, name, line.handle, 0, TW_FLOAT, got.data(), line.count));
        CHECK(got == values);
    }
    std::vector<std::int32_t> k(values.size(), -1);
    OK(tw_get(f, "k", line.handle, 0, TW_INT, k.data(), line.count));
    CHECK(k == std::vector<std::int32_t>(values.size(), NC_FILL_INT));
    OK(tw_close(&f));
}

}  // namespace bad_input
