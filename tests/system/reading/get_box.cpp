// Tests sections that each rank reads by itself: random starts, counts and strides of random
// variables, over any records, compared with serial netCDF-C; sets of tiles; and calls that are
// wrong or differ between ranks.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/oracle.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

using namespace calls;  // NOLINT: the session and the macros that check calls

namespace {

using Lengths = std::vector<std::int64_t>;

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }
bool last_rank() { return rank() == ranks() - 1; }

struct FileVariable {
    std::string name;
    tw_type type = TW_FLOAT;
    Lengths shape;  // lengths with the record dimension
};

struct Contents {
    std::string format;
    Lengths dims;  // numbers of the dimensions; the first one is the record dimension
    std::vector<FileVariable> variables;
};

std::string dim_name(std::size_t d) { return d == 0 ? "time" : "d" + std::to_string(d); }

/// Writes the file on rank 0; returns its contents on every rank.
Contents write_file(const std::string& path, std::uint64_t seed) {
    Random random(seed);
    Contents c;
    c.format = random.pick(
        std::vector<std::string>{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4", "netcdf4-classic"});
    const std::int64_t nd = random.between(1, 4);
    c.dims.push_back(random.between(1, random.percent(20) ? 300 : 12));
    for (std::int64_t d = 0; d < nd; ++d)
        c.dims.push_back(random.between(1, random.percent(20) ? 40 : 9));
    Oracle* oracle = nullptr;
    if (rank() == 0) {
        oracle = new Oracle(path, c.format);
        for (std::size_t d = 0; d < c.dims.size(); ++d)
            oracle->dim(dim_name(d), d == 0 ? std::int64_t(NC_UNLIMITED) : c.dims[d]);
    }
    std::vector<int> ids;
    const bool hdf5 = c.format.rfind("netcdf4", 0) == 0;
    for (std::int64_t v = random.between(1, 4); v > 0; --v) {
        FileVariable var;
        var.name = "v" + std::to_string(v);
        var.type =
            random.pick(c.format == "cdf5" || c.format == "netcdf4" ? all_types() : cdf2_types());
        std::vector<std::string> names;
        for (std::size_t d = 0; d < c.dims.size(); ++d)
            if (random.percent(70)) {
                var.shape.push_back(c.dims[d]);
                names.push_back(dim_name(d));
            }
        std::vector<std::size_t> chunk;
        for (const std::int64_t n : var.shape)
            chunk.push_back(static_cast<std::size_t>(random.between(1, n)));
        const bool chunked = hdf5 && !chunk.empty() && random.percent(70);
        const bool deflated = hdf5 && !chunk.empty() && random.percent(50);
        if (oracle != nullptr) {
            ids.push_back(oracle->var(var.name, var.type, names));
            if (chunked)
                oracle->require(
                    nc_def_var_chunking(oracle->id(), ids.back(), NC_CHUNKED, chunk.data()),
                    "nc_def_var_chunking");
            if (deflated)
                oracle->require(nc_def_var_deflate(oracle->id(), ids.back(), 1, 1, 1),
                                "nc_def_var_deflate");
        }
        c.variables.push_back(var);
    }
    if (oracle == nullptr) return c;
    oracle->enddef();
    // Without a record variable, the file has no records.
    if (std::none_of(c.variables.begin(), c.variables.end(), [&](const FileVariable& v) {
            return !v.shape.empty() && v.shape[0] == c.dims[0];
        }))
        c.dims[0] = 0;
    for (std::size_t i = 0; i < c.variables.size(); ++i) {
        const FileVariable& v = c.variables[i];
        std::vector<std::size_t> start(v.shape.size(), 0), count(v.shape.begin(), v.shape.end());
        std::size_t n = 1;
        for (const std::size_t k : count) n *= k;
        std::vector<char> values(n * static_cast<std::size_t>(type_size(v.type)));
        for (std::size_t e = 0; e < n; ++e)
            make_value(values.data() + e * static_cast<std::size_t>(type_size(v.type)), v.type,
                       v.type, random.next());
        oracle->require(oracle->put(ids[i], v.type, start, count, values.data()), "nc_put_vara");
    }
    oracle->close();
    delete oracle;
    return c;
}

struct Section {
    Lengths start, count, stride;
    std::int64_t n = 1;
};

Section choose_section(const Lengths& shape, Random& own) {
    Section s;
    const bool strides = own.percent(60);
    const bool one = own.percent(15);  // a single index along most dimensions
    for (const std::int64_t length : shape) {
        const std::int64_t first = own.below(length);
        const std::int64_t stride = strides ? own.between(1, own.percent(20) ? length + 2 : 3) : 1;
        const std::int64_t most = (length - 1 - first) / stride + 1;
        s.start.push_back(first);
        s.stride.push_back(stride);
        s.count.push_back(one && own.percent(80) ? 1
                          : own.percent(60)      ? most
                                                 : own.between(1, most));
        if (own.percent(3)) {
            s.count.back() = 0;
            if (own.percent(50)) s.start.back() = length;
        }
        s.n *= s.count.back();
    }
    return s;
}

/// Reads the section by netCDF-C, as the expected result.
void expected(int id, int var, const Section& s, tw_type memory, void* to) {
    if (s.n == 0) return;
    std::vector<std::size_t> start(s.start.begin(), s.start.end());
    std::vector<std::size_t> count(s.count.begin(), s.count.end());
    std::vector<std::ptrdiff_t> stride(s.stride.begin(), s.stride.end());
    start.push_back(0);
    count.push_back(1);
    stride.push_back(1);
    const int status = memory == TW_DOUBLE
                           ? nc_get_vars_double(id, var, start.data(), count.data(), stride.data(),
                                                static_cast<double*>(to))
                           : nc_get_vars(id, var, start.data(), count.data(), stride.data(), to);
    CHECK_TEXT(status == NC_NOERR, "nc_get_vars: %s", nc_strerror(status));
}

void random_sections(const std::string& path, std::uint64_t seed) {
    const auto number = static_cast<unsigned long long>(seed);
    check::step("seed %llu: write", number);
    const Contents contents = write_file(path, mix(seed, 1));
    Random random(mix(seed, 2));  // makes the same choices on all ranks
    draw_straight(random);
    const std::string settings = RandomSettings::reading().draw(random);
    MPI_Barrier(check::state.comm);
    int id = -1;
    CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
    OK(tw_init(check::state.comm, settings.c_str(), &session));
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    Random own(mix(seed, 100 + static_cast<std::uint64_t>(rank())));
    for (int i = 0; i < 8 && file != nullptr; ++i) {
        const FileVariable& v = random.pick(contents.variables);
        int var = -1;
        CHECK(nc_inq_varid(id, v.name.c_str(), &var) == NC_NOERR);
        const bool same = random.percent(20);  // all ranks read the same section
        Random alike(random.next());
        Section s = choose_section(v.shape, same ? alike : own);
        if (!same && own.percent(10) && !s.count.empty()) {  // this rank reads nothing
            s.count[0] = 0;
            s.n = 0;
        }
        const bool converted = v.type != TW_CHAR && own.percent(40);
        const tw_type memory = converted ? TW_DOUBLE : v.type;
        const auto bytes = static_cast<std::size_t>(s.n * type_size(memory));
        std::vector<char> wanted(bytes + 8, 'g'), got(bytes + 8, 'g');
        expected(id, var, s, memory, wanted.data());
        const bool ones =
            std::all_of(s.stride.begin(), s.stride.end(), [](std::int64_t k) { return k == 1; });
        check::step("seed %llu: section %d of %s (%s)", number, i, v.name.c_str(),
                    settings.c_str());
        const int status = tw_get_box(file, v.name.c_str(), memory, s.start.data(), s.count.data(),
                                      ones && own.percent(50) ? nullptr : s.stride.data(),
                                      s.n == 0 ? nullptr : got.data());
        CHECK_TEXT(status == TW_OK, "seed %llu: %d: %s", number, status, text().c_str());
        CHECK_TEXT(got == wanted, "seed %llu: %s (%s, %s): the values differ", number,
                   v.name.c_str(), type_name(v.type), contents.format.c_str());
    }
    if (file != nullptr) OK(tw_close(&file));
    OK(tw_finalize(&session));
    nc_close(id);
    MPI_Barrier(check::state.comm);
}

constexpr std::int64_t nx = 12, ny = 10, steps = 5;

std::int32_t value(std::int64_t record, std::int64_t y, std::int64_t x) {
    return static_cast<std::int32_t>(10000 * record + 100 * y + x);
}

/// Makes a decomposition into rows of the globe. The first ranks have most rows.
tw_decomposition rows() {
    const Lengths shape{ny, nx};
    const Lengths start{ny * rank() / ranks(), 0};
    const Lengths count{ny * (rank() + 1) / ranks() - start[0], nx};
    tw_decomposition made = nullptr;
    OK(tw_decompose(session, "y x", 1, shape.data(), start.data(), count.data(), &made));
    return made;
}

void write_world(const std::string& path, const std::string& settings) {
    const tw_decomposition mine = rows();
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings.c_str(), &file));
    OK(tw_def_var(file, "T", TW_INT, "time y x", mine));
    OK(tw_def_var(file, "U", TW_INT, "time y x", mine));
    for (std::int64_t r = 0; r < steps; ++r) {
        std::vector<std::int32_t> own;
        for (std::int64_t y = ny * rank() / ranks(); y < ny * (rank() + 1) / ranks(); ++y)
            for (std::int64_t x = 0; x < nx; ++x) own.push_back(value(r, y, x));
        OK(tw_put(file, "T", TW_INT, own.data(), static_cast<std::int64_t>(own.size())));
        OK(tw_end_step(file));
    }
    OK(tw_close(&file));
}

void check_sections(tw_file file, std::uint64_t seed) {
    Random own(mix(seed, static_cast<std::uint64_t>(rank())));
    for (int i = 0; i < 12; ++i) {
        const Section s = choose_section({steps, ny, nx}, own);
        std::vector<std::int32_t> got(static_cast<std::size_t>(s.n), -1);
        OK(tw_get_box(file, "T", TW_INT, s.start.data(), s.count.data(), s.stride.data(),
                      got.data()));
        bool good = true;
        std::size_t at = 0;
        for (std::int64_t r = 0; r < s.count[0]; ++r)
            for (std::int64_t y = 0; y < s.count[1]; ++y)
                for (std::int64_t x = 0; x < s.count[2]; ++x)
                    good &= got[at++] == value(s.start[0] + r * s.stride[0],
                                               s.start[1] + y * s.stride[1],
                                               s.start[2] + x * s.stride[2]);
        CHECK_TEXT(good, "section %d", i);
    }
}

void tiles(const std::string& folder) {
    const std::string path = folder + "/tiles.nc";
    write_world(path,
                "method=tiles; files=tiles; tiles=" + std::string(ranks() > 1 ? "2x1" : "1x1") +
                    "; writers=" + (ranks() > 1 ? "2" : "1"));
    for (const auto& [settings, straight] :
         {std::pair("", "1"), std::pair("piece=100", "1GiB"), std::pair("readers=1", "128KiB")}) {
        setenv("THALWEG_TEST_STRAIGHT", straight, 1);
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), settings, &file));
        check_sections(file, 7);
        OK(tw_close(&file));
    }
    unsetenv("THALWEG_TEST_STRAIGHT");
}

/// Tests mistakes on some ranks: all ranks get the error, and the next call works.
void bad_calls(const std::string& folder) {
    const std::string path = folder + "/world.nc";
    write_world(path, "format=cdf2");
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    std::vector<std::int32_t> got(static_cast<std::size_t>(steps * ny * nx));
    const bool odd = last_rank();
    const std::string here = "rank " + std::to_string(ranks() - 1);
    const auto get = [&](const char* name, Lengths start, Lengths count, Lengths stride) {
        return tw_get_box(file, name, TW_INT, start.data(), count.data(),
                          stride.empty() ? nullptr : stride.data(), got.data());
    };
    const auto odd_one = [&](Lengths start, Lengths count, Lengths stride) {
        return odd ? get("T", start, count, stride) : get("T", {0, 0, 0}, {5, 10, 12}, {});
    };
    REFUSED(odd_one({0, 0, 0}, {1, 10, 13}, {}), TW_EBOUNDS, here);
    REFUSED(odd_one({0, 0, 0}, {1, 10, 13}, {}), TW_EBOUNDS,
            "'T': 13 elements from 0 along dimension 'x', whose length is 12");
    REFUSED(odd_one({0, 4, 0}, {1, 3, 12}, {1, 3, 1}), TW_EBOUNDS,
            "3 elements from 4 with a stride of 3 along dimension 'y', whose length is 10");
    REFUSED(odd_one({4, 0, 0}, {2, 1, 1}, {}), TW_EBOUNDS, "'time', whose length is 5");
    REFUSED(odd_one({5, 0, 0}, {1, 1, 1}, {}), TW_EBOUNDS, "'time'");
    REFUSED(odd_one({0, -1, 0}, {1, 1, 1}, {}), TW_EBOUNDS, "dimension 'y': start -1 is negative");
    REFUSED(odd_one({0, 0, 0}, {1, -2, 1}, {}), TW_EBOUNDS, "count along dimension 'y' is -2");
    REFUSED(odd_one({0, 11, 0}, {0, 0, 0}, {}), TW_EBOUNDS, "from 11 along dimension 'y'");
    REFUSED(odd_one({0, 1, 0}, {1, INT64_MAX, 1}, {1, INT64_MAX, 1}), TW_EBOUNDS, "'y'");
    REFUSED(odd_one({0, 0, 0}, {1, 1, 1}, {1, 0, 1}), TW_EARG, "stride along dimension 'y' is 0");
    REFUSED(odd_one({0, 0, 0}, {1, 1, 1}, {1, 1, -1}), TW_EARG, "'x' is -1");
    REFUSED(get("S", {0, 0, 0}, {1, 1, 1}, {}), TW_ENOTFOUND, "'S'");
    const std::int64_t zero[3] = {0, 0, 0}, all[3] = {5, 10, 12};
    REFUSED(tw_get_box(file, "T", TW_INT, zero, all, nullptr, odd ? nullptr : got.data()), TW_EARG,
            "array is missing");
    REFUSED(tw_get_box(file, "T", TW_INT, odd ? nullptr : zero, all, nullptr, got.data()),
            TW_ESHAPE, "it has 3 dimensions");
    REFUSED(tw_get_box(file, "T", odd ? TW_CHAR : TW_INT, zero, all, nullptr, got.data()), TW_ETYPE,
            "'T'");
    REFUSED(tw_get_box(file, "T", static_cast<tw_type>(77), zero, all, nullptr, got.data()),
            TW_ETYPE, "77");
    CHECK(tw_get_box(nullptr, "T", TW_INT, zero, all, nullptr, got.data()) == TW_EHANDLE);
    if (ranks() > 1) {
        REFUSED(get(odd ? "U" : "T", {0, 0, 0}, {5, 10, 12}, {}), TW_EMISMATCH, "variable 'U'");
        REFUSED(odd ? tw_sync(file, 0) : get("T", {0, 0, 0}, {5, 10, 12}, {}), TW_EMISMATCH,
                "tw_get_box");
        REFUSED(odd ? tw_get(file, "T", nullptr, 0, TW_INT, got.data(), ny * nx)
                    : get("T", {0, 0, 0}, {5, 10, 12}, {}),
                TW_EMISMATCH, "tw_get_box");
    }
    // Values that do not fit become the fill value; all others are read.
    std::vector<signed char> small(2, 0);
    const std::int64_t from[3] = {0, odd ? 1 : 0, 20 % nx}, two[3] = {1, 1, 2};
    REFUSED(tw_get_box(file, "T", TW_BYTE, from, two, nullptr, small.data()), TW_OK, "");
    CHECK(small[1] == value(0, from[1], from[2] + 1));
    const std::int64_t large[3] = {odd ? 1 : 0, 1, 0};
    const std::int64_t stride[3] = {1, 1, 4};
    REFUSED(tw_get_box(file, "T", TW_BYTE, large, two, stride, small.data()), TW_ERANGE,
            "2 values are out of range for type byte");
    CHECK(small[0] == (odd ? NC_FILL_BYTE : 100) && small[1] == (odd ? NC_FILL_BYTE : 104));
    tw_file copy = file;
    check_sections(file, 3);
    OK(tw_close(&file));
    CHECK(tw_get_box(copy, "T", TW_INT, zero, all, nullptr, got.data()) == TW_ECLOSED);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(check::option(argc, argv, "--seed", "1").c_str()));
    const double seconds = std::atof(check::option(argc, argv, "--seconds", "3").c_str());
    const std::string folder = check::make_folder("get_box");
    OK(tw_init(check::state.comm, "log=off", &session));
    bad_calls(folder);
    tiles(folder);
    OK(tw_finalize(&session));
    const auto begin = std::chrono::steady_clock::now();
    long done = 0;
    for (;; ++done) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        if (!check::everywhere(spent.count() < seconds && check::state.failures == 0)) break;
        random_sections(folder + "/file.nc", mix(seed, static_cast<std::uint64_t>(done)));
    }
    if (rank() == 0) std::fprintf(stderr, "get_box: %ld cases\n", done);
    check::remove_folder(folder);
    return check::verdict("get_box");
}
