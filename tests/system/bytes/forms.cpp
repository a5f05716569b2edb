// Tests the extents of arrays: they select exactly one form of array (with or without the halo),
// the same on all ranks, or give an error that shows both shapes.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: forms [--only NAME]
// Every test runs with all services and with puts that are collective.

#include <sys/mman.h>

#include <algorithm>

#include "system/calls.hpp"
#include "system/model.hpp"

using calls::Words;

namespace {

using Numbers = std::vector<std::int64_t>;

std::string folder;
constexpr double junk = -7;

double value(std::int64_t j, std::int64_t i) { return static_cast<double>(100 * j + i); }

Numbers dense_strides(const Numbers& extent) {
    Numbers stride(extent.size());
    std::int64_t step = sizeof(double);
    for (std::size_t d = extent.size(); d-- > 0; step *= extent[d]) stride[d] = step;
    return stride;
}

/// Makes a whole array of these extents.
tw_array array_of(const std::vector<double>& data, const Numbers& extent) {
    static Numbers lengths, strides;  // until the next call
    lengths = extent;
    strides = dense_strides(extent);
    return tw_strided(TW_DOUBLE, data.data(), static_cast<int>(extent.size()), lengths.data(),
                      strides.data());
}

/// Each rank holds 6 x 6 elements; the last one holds a smaller corner. All arrays are 8 x 8, with
/// a halo of 1.
struct Corner {
    static constexpr std::int64_t side = 8;
    bool last;
    Numbers shape, count, halo{1, 1};
    std::vector<double> array;
    tw_decomposition handle = nullptr;

    Corner(Model& m, std::int64_t corner)
        : last(m.rank == m.size - 1), shape{6 * (m.size - 1) + corner, 6}, count{6, 6} {
        const Numbers start{6 * m.rank, 0};
        if (last) count = {corner, corner};
        OK(tw_decompose_halo(m.session, "y x", 1, shape.data(), start.data(), count.data(),
                             halo.data(), halo.data(), &handle));
        array.assign(side * side, junk);
        for (std::int64_t j = 0; j < count[0]; ++j)
            for (std::int64_t i = 0; i < count[1]; ++i)
                array[static_cast<std::size_t>((j + 1) * side + i + 1)] = value(start[0] + j, i);
    }
    /// Puts the section without the declared halo, with n elements along each side.
    int put(tw_file f, std::int64_t n, bool deferred = false) const {
        const Numbers extent{n, n}, stride{side * 8, 8};
        return tw_put_array(
            f, "T", tw_strided(TW_DOUBLE, &array[side + 1], 2, extent.data(), stride.data()),
            deferred ? TW_DEFERRED : 0);
    }
    int get(tw_file f, std::vector<double>& to, std::int64_t n, const char* name,
            bool deferred) const {
        const Numbers extent{n, n}, stride{side * 8, 8};
        return tw_get_array(f, name, handle, 0,
                            tw_strided(TW_DOUBLE, &to[side + 1], 2, extent.data(), stride.data()),
                            deferred ? TW_DEFERRED : 0);
    }
};

/// Tests ranks that put their parts without the halo, and with the extents of the largest box. On
/// the last rank, these are the extents of its smaller box with the halo.
void differing(Model& m, const std::string& settings) {
    if (m.size == 1) return;
    const bool service = settings.find("service") != std::string::npos;
    for (const bool deferred : {false, true}) {
        Corner c(m, 4);
        const std::string path = folder + "/differing.nc";
        tw_file f = nullptr;
        OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
        OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", c.handle));
        ALL(TW_OK, {}, tw_enddef(f));
        const Words words =
            WORDS("differing.nc", "'T'", "rank 0", "tw_pad", "rank " + std::to_string(m.size - 1));
        int status = c.put(f, 6, deferred);
        // If the memory does not suffice for a step, tw_put is collective.
        const bool collective = status != TW_OK;
        if (collective) {
            CHECK(!deferred);
            ALL(TW_EMISMATCH, words, status);
        } else {
            status = tw_end_step(f);
            // In the background, the error is returned by the next call that knows of it.
            if (service && status == TW_OK) status = tw_sync(f, 0);
            HERE(TW_EMISMATCH, words, status);
        }
        if (service && !collective) {
            HERE(TW_EMISMATCH, words, tw_close(&f));
            continue;
        }
        // The step stays open.
        HERE(TW_OK, {}, c.put(f, c.last ? 4 : 6, deferred));
        ALL(TW_OK, {}, tw_end_step(f));
        ALL(TW_OK, {}, tw_close(&f));
        OK(tw_open(m.session, path.c_str(), "", &f));
        std::vector<double> whole(c.array.size(), junk);
        OK(c.get(f, whole, c.last ? 4 : 6, "T", false));
        CHECK(whole == c.array);
        OK(tw_close(&f));
    }
}

/// Tests that arrays of a fixed-size variable are compared in tw_sync and tw_close, too.
void differing_fixed(Model& m, const std::string& settings) {
    if (m.size == 1) return;
    for (const bool sync : {false, true}) {
        Corner c(m, 4);
        tw_file f = nullptr;
        OK(tw_create(m.session, (folder + "/fixed.nc").c_str(), settings.c_str(), &f));
        OK(tw_def_var(f, "T", TW_DOUBLE, "y x", c.handle));
        OK(c.put(f, 6, true));
        if (sync) ALL(TW_EMISMATCH, WORDS("'T'", "rank 0"), tw_sync(f, 0));
        const int status = tw_close(&f);
        HERE(TW_EMISMATCH, WORDS("'T'", "rank 0"), status);
    }
}

/// Tests a corner's array whose extents are neither those with the halo nor those without.
void neither(Model& m, const std::string& settings) {
    if (m.size == 1) return;
    Corner c(m, 3);
    tw_file f = nullptr;
    OK(tw_create(m.session, (folder + "/neither.nc").c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", c.handle));
    ALL(TW_OK, {}, tw_enddef(f));
    const int status = c.put(f, 6, true);
    if (c.last)
        HERE(TW_ESHAPE, WORDS("'T'", "(6, 6)", "(3, 3)", "(5, 5)", "tw_pad"), status);
    else
        HERE(TW_OK, {}, status);
    const int closed = tw_close(&f);  // the step did not end, so it leaves no error
    CHECK(closed == TW_OK || closed == TW_EMISSING);
}

/// Tests that reading makes the same checks, except that an array may have its halo on one rank and
/// not on another.
void reading(Model& m, const std::string& settings) {
    Corner c(m, 4);
    const std::string path = folder + "/reading.nc";
    tw_file f = nullptr;
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "y x", c.handle));
    OK(tw_def_var(f, "S", TW_DOUBLE, "y x", c.handle));
    OK(c.put(f, c.count[0]));
    ALL(TW_OK, {}, tw_close(&f));
    OK(tw_open(m.session, path.c_str(), "", &f));
    std::vector<double> a(c.array.size(), junk), b(a);
    const Words words = WORDS("reading.nc", "'T'", "(6, 6)", "(4, 4)", "tw_pad");
    if (m.size > 1) {
        ALL(TW_EMISMATCH, words, c.get(f, a, 6, "T", false));
        OK(c.get(f, b, c.count[0], "S", true));
        OK(c.get(f, a, 6, "T", true));
        ALL(TW_EMISMATCH, words, tw_read(f));
        OK(c.get(f, a, 6, "T", true));
        ALL(TW_EMISMATCH, words, tw_prefetch(f));
        ALL(TW_EMISMATCH, words, tw_read(f));
    }
    a.assign(a.size(), junk);
    const Numbers extent{c.count[0] + 2, c.count[1] + 2}, stride{Corner::side * 8, 8};
    OK(c.get(f, a, c.count[0], "T", true));
    OK(tw_get_array(f, "T", c.handle, 0,
                    tw_strided(TW_DOUBLE, b.data(), 2, extent.data(), stride.data()), TW_DEFERRED));
    ALL(TW_OK, {}, tw_read(f));
    CHECK(a == c.array && b == c.array);
    ALL(TW_OK, {}, tw_close(&f));
}

/// Tests arrays that were changed, freed, or are used for two variables at once.
void lost(Model& m, const std::string& settings) {
    const bool service = settings.find("service") != std::string::npos;
    const std::int64_t shape = 100 * m.size, start = 100 * m.rank, count = 100;
    tw_decomposition d = nullptr;
    OK(tw_decompose(m.session, "x", 1, &shape, &start, &count, &d));
    const std::string path = folder + "/lost.nc";
    const std::size_t bytes = 100 * sizeof(double);
    for (const char* how : {"changed", "gone", "twice"}) {
        tw_file f = nullptr;
        OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
        OK(tw_def_var(f, "a", TW_DOUBLE, "time x", d));
        OK(tw_def_var(f, "b", TW_DOUBLE, "time x", d));
        auto* a = static_cast<double*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::vector<double> b(100, 2);
        const bool mine = m.rank == 0;
        OK(tw_put_array(f, "a", tw_dense(TW_DOUBLE, a, 100), TW_DEFERRED));
        OK(tw_put_array(f, "b", tw_dense(TW_DOUBLE, mine && *how == 't' ? a : b.data(), 100),
                        TW_DEFERRED));
        if (mine && *how == 'c') b[0] = 7;
        if (mine && *how == 'g') munmap(a, bytes);
        Words words = WORDS("lost.nc", *how == 'c' ? "'b'" : "'a'", "rank 0");
        MPI_Barrier(m.comm);  // the error of one rank can reach the others at once
        int status = tw_end_step(f);
        // In the background, the other ranks get the error at the next collective call.
        if (!service) ALL(TW_EARG, words, status);
        if (mine) HERE(TW_EARG, words, status);
        // The error belongs to the open step, or to the file.
        HERE(TW_EARG, words, tw_close(&f));
        if (!mine || *how != 'g') munmap(a, bytes);
    }
}

void restarts(Model& m, const std::string& settings) {
    Corner c(m, 4);
    const std::string path = folder + "/restart.nc";
    tw_restart r = nullptr;
    OK(tw_restart_new(m.session, settings.c_str(), &r));
    const auto add = [&](std::int64_t n) {
        const Numbers extent{n, n}, stride{Corner::side * 8, 8};
        return tw_restart_add_array(
            r, "T", "y x", c.handle,
            tw_strided(TW_DOUBLE, &c.array[Corner::side + 1], 2, extent.data(), stride.data()),
            TW_REQUIRED);
    };
    if (m.size > 1) {
        OK(add(6));
        HERE(TW_EMISMATCH, WORDS("restart.nc", "'T'"), tw_restart_write(r, path.c_str()));
    }
    HERE(TW_ESHAPE, WORDS("'T'", "(5, 5)"), add(5));
    OK(add(c.count[0]));
    OK(tw_restart_write(r, path.c_str()));
    const std::vector<double> written = c.array;
    c.array.assign(c.array.size(), junk);
    OK(tw_restart_read(r, path.c_str(), nullptr));
    CHECK(c.array == written);

    // An array can be padded after it was registered.
    const Numbers whole{Corner::side, Corner::side};
    OK(tw_pad(c.handle, whole.data(), 1));
    ALL(TW_ESHAPE, WORDS("'T'", "(4, 4)", "(8, 8)"), tw_restart_write(r, path.c_str()));
    OK(tw_restart_add(r, "T", TW_DOUBLE, "y x", c.handle, c.array.data(), 64, TW_REQUIRED));
    OK(tw_restart_write(r, path.c_str()));
    c.array.assign(c.array.size(), junk);
    OK(tw_restart_read(r, path.c_str(), nullptr));
    CHECK(c.array == written);
    OK(tw_restart_free(&r));
}

// ---- one form only -----------------------------------------------------------------------------

/// Tests replicated variables and scalars. No dimension of their arrays may be left out.
void replicated(Model& m, const std::string& settings) {
    const std::string path = folder + "/replicated.nc";
    tw_file f = nullptr;
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_dim(f, "b", 2));
    OK(tw_def_dim(f, "c", 5));
    OK(tw_def_var(f, "b", TW_DOUBLE, "b", nullptr));
    OK(tw_def_var(f, "bc", TW_DOUBLE, "b c", nullptr));
    OK(tw_def_var(f, "s", TW_DOUBLE, "", nullptr));
    ALL(TW_OK, {}, tw_enddef(f));
    std::vector<double> data(70, junk);
    for (const bool write : {true, false}) {
        if (!write) OK(tw_open(m.session, path.c_str(), "", &f));
        const auto act = [&](const char* name, const Numbers& extent) {
            const Numbers stride = dense_strides(extent);
            const auto rank = static_cast<int>(extent.size());
            double* const of_it = &data[std::string(name).size() == 2 ? 20 : *name == 's' ? 60 : 0];
            return write ? tw_put_array(
                               f, name,
                               tw_strided(TW_DOUBLE, of_it, rank, extent.data(), stride.data()),
                               TW_DEFERRED)
                         : tw_get_array(
                               f, name, nullptr, 0,
                               tw_strided(TW_DOUBLE, of_it, rank, extent.data(), stride.data()),
                               TW_DEFERRED);
        };
        HERE(TW_ESHAPE, WORDS("'b'", "(7, 2)", "is (2)"), act("b", {7, 2}));
        HERE(TW_ESHAPE, WORDS("'b'", "(2, 7)", "is (2)"), act("b", {2, 7}));
        HERE(TW_ESHAPE, WORDS("'b'", "(3)", "is (2)"), act("b", {3}));
        HERE(TW_ESHAPE, WORDS("'bc'", "(2, 6)", "is (2, 5)"), act("bc", {2, 6}));
        HERE(TW_ESHAPE, WORDS("'bc'", "(3, 2, 5)", "is (2, 5)"), act("bc", {3, 2, 5}));
        HERE(TW_ESHAPE, WORDS("'s'", "3 elements", "scalar"), act("s", {3}));
        HERE(TW_ESHAPE, WORDS("'s'", "0 elements"), act("s", {0}));
        HERE(TW_ESHAPE, {"'s'"}, act("s", {1, 1}));
        OK(act("b", {2}));
        OK(act("b", {1, 2}));
        OK(act("bc", {2, 5}));
        OK(act("s", {1}));
        OK(act("s", {}));
        if (write)
            HERE(TW_ESHAPE, WORDS("'b'", "7"),
                 tw_put_array(f, "b", tw_dense(TW_DOUBLE, data.data(), 7), TW_DEFERRED));
        ALL(TW_OK, {}, tw_close(&f));
    }
}

/// Tests lists, for which all extents must match exactly.
void lists(Model& m, const std::string& settings) {
    const std::int64_t shape[] = {3, 4 * m.size};
    const Numbers indices{4 * m.rank + 3, 4 * m.rank, 4 * m.rank + 1, 4 * m.rank + 2};
    tw_decomposition d = nullptr;
    OK(tw_decompose_list(m.session, "z n", shape, "n", 4, indices.data(), TW_LIST_UNIQUE, &d));
    tw_file f = nullptr;
    OK(tw_create(m.session, (folder + "/lists.nc").c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "L", TW_DOUBLE, "z n", d));
    const std::vector<double> data(100, 1);
    const auto put = [&](const Numbers& extent) {
        return tw_put_array(f, "L", array_of(data, extent), TW_DEFERRED);
    };
    HERE(TW_ESHAPE, WORDS("(3, 5)", "(3, 4)"), put({3, 5}));
    HERE(TW_ESHAPE, WORDS("(4, 4)", "(3, 4)"), put({4, 4}));
    HERE(TW_ESHAPE, {"3 dimensions"}, put({1, 3, 4}));
    OK(put({3, 4}));
    ALL(TW_OK, {}, tw_close(&f));
    const Numbers extent{3, 8};
    ALL(TW_EARG, {"list"}, tw_pad(d, extent.data(), 1));
}

/// Blocks of 4 x 6 with a halo, smaller in the last row and column, which the ranks have in turn. A
/// rank's arrays have space for more blocks than it has. Random cases of property.cpp and
/// reading.cpp write and read such arrays; here they have a wrong form.
struct Blocks {
    static constexpr std::int64_t rows = 4, columns = 6;
    Numbers shape, low{1, 2}, high{2, 1}, extent{7, 9};
    std::int64_t boxes = 0, room = 0;
    tw_decomposition handle = nullptr, bare = nullptr;  // bare: without the halo

    explicit Blocks(Model& m) {
        const std::int64_t down = m.size + 1, across = 3;
        Numbers start, count;
        shape = {rows * (down - 1) + 3, columns * (across - 1) + 2};
        for (std::int64_t b = m.rank; b < down * across; b += m.size) {
            const std::int64_t at[2] = {b / across * rows, b % across * columns};
            start.insert(start.end(), {at[0], at[1]});
            count.insert(count.end(),
                         {std::min(rows, shape[0] - at[0]), std::min(columns, shape[1] - at[1])});
            ++boxes;
        }
        room = down * across / m.size + 2;
        const int n = static_cast<int>(boxes);
        OK(tw_decompose_halo(m.session, "y x", n, shape.data(), start.data(), count.data(),
                             low.data(), high.data(), &handle));
        OK(tw_decompose(m.session, "y x", n, shape.data(), start.data(), count.data(), &bare));
    }
};

void blocks(Model& m, const std::string& settings) {
    const Blocks b(m);
    tw_file f = nullptr;
    OK(tw_create(m.session, (folder + "/blocks.nc").c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", b.bare));
    OK(tw_def_var(f, "H", TW_DOUBLE, "time y x", b.handle));
    ALL(TW_OK, {}, tw_enddef(f));
    const std::vector<double> array(static_cast<std::size_t>(b.room * 63), 1);
    const auto put = [&](const char* name, const Numbers& extent) {
        return tw_put_array(f, name, array_of(array, extent), TW_DEFERRED);
    };
    // Whole arrays of blocks need padding.
    const std::string room = "(" + std::to_string(b.room);
    HERE(TW_ESHAPE, WORDS("T", room + ", 7, 9)", "tw_pad"), put("T", {b.room, 7, 9}));
    HERE(TW_ESHAPE, WORDS("T", "(" + std::to_string(b.boxes) + ", 7, 9)", "tw_pad"),
         put("T", {b.boxes, 7, 9}));
    HERE(TW_ESHAPE, WORDS("H", room, "tw_pad"), put("H", {b.room, 7, 9}));
    HERE(TW_ESHAPE, "T",
         tw_put_array(f, "T", tw_dense(TW_DOUBLE, array.data(), b.room * 63), TW_DEFERRED));
    ALL(TW_OK, {}, tw_close(&f));
    OK(tw_pad(b.handle, b.extent.data(), b.room));
    OK(tw_create(m.session, (folder + "/blocks.nc").c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "H", TW_DOUBLE, "time y x", b.handle));
    ALL(TW_OK, {}, tw_enddef(f));
    if (b.boxes > 0)
        HERE(TW_ESHAPE, WORDS(", 7, 9)", ", 4, 6) without halo", std::to_string(b.room)),
             put("H", {b.room, Blocks::rows + 1, Blocks::columns}));
    ALL(TW_OK, {}, tw_close(&f));
}

void bad_padding(Model& m, const std::string&) {
    const Blocks b(m);
    const Numbers& good = b.extent;
    ALL(TW_EARG, {}, tw_pad(b.handle, nullptr, b.room));
    ALL(TW_ESHAPE, WORDS("'x'", "8", "halo", "rank"),
        tw_pad(b.handle, Numbers{good[0], good[1] - 1}.data(), b.room));
    ALL(TW_ESHAPE, {"-1"}, tw_pad(b.handle, Numbers{-1, good[1]}.data(), b.room));
    ALL(TW_ESHAPE, WORDS("boxes is", "rank 0"),
        tw_pad(b.handle, good.data(), m.rank == 0 ? b.boxes - 1 : b.room));
    ALL(TW_ESHAPE, {}, tw_pad(b.handle, good.data(), -1));
    ALL(TW_ESHAPE, {}, tw_pad(b.handle, good.data(), INT64_MAX / 8));
    if (m.size > 1)
        ALL(TW_EMISMATCH, WORDS("'y'", "7", "9"),
            tw_pad(b.handle, Numbers{m.rank == 0 ? 9 : 7, 9}.data(), b.room));
    ALL(TW_OK, {}, tw_pad(b.handle, good.data(), b.room));
    CHECK(tw_pad(nullptr, good.data(), b.room) == TW_EHANDLE);
}

struct Test {
    const char* name;
    void (*run)(Model& m, const std::string& settings);
};
const std::vector<Test> tests{
    {"blocks", blocks},          {"differing", differing},   {"differing_fixed", differing_fixed},
    {"neither", neither},        {"reading", reading},       {"lost", lost},
    {"restarts", restarts},      {"replicated", replicated}, {"lists", lists},
    {"bad_padding", bad_padding}};

struct Setting {
    std::string session, file;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("forms");
    const std::string only = check::option(argc, argv, "--only", "");
    std::vector<Setting> settings{{"", ""},
                                  {"node_size=2", "method=slabs"},
                                  {"", "method=direct"},
                                  {"", "staging=1"},
                                  {"", "format=netcdf4"},
                                  {"", "service=background"},
                                  {"", "service=background; staging=4KiB; queue=4KiB"},
                                  {"node_size=2", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 1) settings.push_back({"servers=1", "service=servers"});
    if (ranks > 3) settings.push_back({"servers=2; node_size=2", "service=servers"});
    for (const Setting& s : settings) {
        check::use(MPI_COMM_WORLD);
        Model m(MPI_COMM_WORLD, "log=off; " + s.session);
        if (m) {
            check::use(m.comm);
            for (const Test& test : tests) {
                if (!only.empty() && only != test.name) continue;
                check::state.test = check::text("{} [{} {}]", test.name, s.session, s.file);
                test.run(m, s.file);
                MPI_Barrier(m.comm);
            }
        }
        // The session's end returns errors of failed files again.
        tw_finalize(&m.session);
    }
    check::use(MPI_COMM_WORLD);
    return check::verdict("forms");
}
