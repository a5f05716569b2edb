// Tests sections that each rank reads by itself: sets of tiles, and calls that are wrong or differ
// between ranks. reading.cpp reads random sections.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "section.hpp"
#include "system/calls.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

using namespace calls;  // NOLINT: for session, text() and the like

namespace {

using Lengths = std::vector<std::int64_t>;

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }
bool last_rank() { return rank() == ranks() - 1; }

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
        const Section s({steps, ny, nx}, own);
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
        CHECK_TEXT(good, "section {}", i);
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
    const std::string folder = check::make_folder("get_box");
    OK(tw_init(check::state.comm, "log=off", &session));
    bad_calls(folder);
    tiles(folder);
    OK(tw_finalize(&session));
    return check::verdict("get_box");
}
