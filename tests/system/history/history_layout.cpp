// Tests that elements reach their places in files: boxes with halos, padded boxes sent one by one,
// any strides, regions across the seam and levels, against plain arrays. history_points.cpp has
// lists and dense boxes.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include "history.hpp"

using calls::session;
using namespace histories;

namespace {

constexpr std::int64_t nz = 3, nx = 36;
const int &rank = check::state.rank, &size = check::state.size;
std::int64_t ny = 0;

double value_of(int step, std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<double>(step * 100000 + z * 10000 + y * 100 + x);
}

const std::string streams = R"(
[[stream]]
name = "whole"
every = "1 day"
type = "double"
fields = ["T"]
path = "whole.nc"
[[stream]]
name = "box"
every = "12 hours"
op = "instant"
type = "double"
fields = ["T"]
region = "seam"
levels = { dim = "z", nearest = [310, 90] }
path = "box.nc"
[[stream]]
name = "turned"
every = "1 day"
fields = ["T"]
region = "west"
path = "turned.nc"
[[stream]]
name = "line"
every = "1 day"
type = "double"
fields = ["T"]
region = "meridian"
path = "line.nc"
[region.meridian]
box = [-9, -9, 0.4, 0.4]
[region.seam]
box = [350, 10, -90, 1.5]
[region.west]
box = [-10, 10, -90, 1.5]
)";

class Layout {
public:
    Layout(const std::string& folder, tw_decomposition d, const char* dims) : d_(d) {
        const std::string text = in_folder(streams, folder);
        OK(tw_history_open(session, text.c_str(), "standard", "2000-01-01", nullptr, &history));
        std::vector<double> lon(nx), lat(ny), bounds(2 * nx);
        for (std::int64_t i = 0; i < nx; ++i) {
            lon[i] = 10. * static_cast<double>(i);
            bounds[2 * i] = lon[i] - 5;
            bounds[2 * i + 1] = lon[i] + 5;
        }
        for (std::int64_t i = 0; i < ny; ++i) lat[i] = static_cast<double>(i);
        const double z[nz] = {100, 200, 300};
        const auto coordinate = [&](const char* name, const char* names,
                                    const std::vector<double>& values, const char* attributes) {
            OK(tw_history_coordinate(history, name, names, nullptr,
                                     tw_dense(TW_DOUBLE, values.data(), std::ssize(values)),
                                     attributes));
        };
        coordinate("x", "x", lon, "units=degrees_east; bounds=x_bnds");
        coordinate("x_bnds", "x two", bounds, "");
        coordinate("y", "y", lat, "units=degrees_north");
        coordinate("z", "z", {z, z + nz}, "units=Pa");
        OK(tw_history_field(history, "T", TW_DOUBLE, dims, d_, "units=K", &field));
        OK(tw_history_ready(history));
    }
    /// Checks the memory of means: only ranks that have elements of a region keep memory for it.
    void check_memory() const {
        const std::int64_t rows = rank == 0 ? 2 : 0;  // rows of the box on this rank
        std::int64_t now = 0;
        OK(tw_history_memory(history, &now, nullptr));
        const std::int64_t line = rank == 0 ? 1 : 0;
        CHECK_TEXT(now == 8 * nz * (2 * nx + rows * 3 + line), "{} bytes", now);
    }
    void end(const std::string& folder) {
        OK(tw_history_close(&history));
        OK(tw_free_decomposition(&d_));
        check_files(folder);
    }
    tw_history history = nullptr;
    tw_field field = nullptr;

private:
    static void check_files(const std::string& folder) {
        const Contents whole(folder + "/whole.nc");
        CHECK(std::ssize(whole.values) == nz * ny * nx);
        for (std::int64_t i = 0; i < std::ssize(whole.values); ++i)
            CHECK(whole.values[i] == value_of(1, i / nx / ny, i / nx % ny, i % nx) + 50000);
        const Contents box(folder + "/box.nc");
        const std::int64_t rows = std::min<std::int64_t>(ny, 2);
        CHECK(std::ssize(box.values) == 2 * 2 * rows * 3);
        for (std::int64_t i = 0; i < std::ssize(box.values); ++i) {
            const std::int64_t x = (i % 3 + nx - 1) % nx, y = i / 3 % rows;
            const std::int64_t z = i / 3 / rows % 2 == 0 ? 2 : 0;
            CHECK(box.values[i] == value_of(static_cast<int>(i / 3 / rows / 2) + 1, z, y, x));
        }
        CHECK(read(folder + "/box.nc", "x", 3) == (std::vector<double>{350, 360, 370}));
        CHECK(read(folder + "/box.nc", "x_bnds", 6) ==
              (std::vector<double>{345, 355, 355, 365, 365, 375}));
        CHECK(read(folder + "/box.nc", "z", 2) == (std::vector<double>{300, 100}));
        const Contents line(folder + "/line.nc");  // the nearest column
        CHECK(std::ssize(line.values) == nz);
        for (std::int64_t z = 0; z < nz; ++z)
            CHECK(line.values[z] == value_of(1, z, 0, nx - 1) + 50000);
        CHECK(read(folder + "/line.nc", "x", 1) == (std::vector<double>{-10}));
        // the same elements, with longitudes that begin at another meridian
        CHECK(read(folder + "/turned.nc", "x", 3) == (std::vector<double>{-10, 0, 10}));
        CHECK(read(folder + "/turned.nc", "x_bnds", 6) ==
              (std::vector<double>{-15, -5, -5, 5, 5, 15}));
    }
    tw_decomposition d_;
};

template <class Send>
void run(const Layout& layout, Send&& send) {
    for (int step = 1; step <= 2; ++step) {
        OK(tw_history_time(layout.history, step * 43200.));
        send(step);
        OK(tw_history_end_step(layout.history));
    }
}

/// Tests two requested levels that are nearest to the same level.
void level_twice() {
    tw_history history = nullptr;
    tw_field field = nullptr;
    OK(tw_history_open(session,
                       "[[stream]]\nname = \"twice\"\nevery = \"1 day\"\nfields = [\"T\"]\n"
                       "levels = { dim = \"z\", nearest = [310, 290] }\n",
                       "standard", "2000-01-01", nullptr, &history));
    const double z[nz] = {100, 200, 300};
    OK(tw_history_coordinate(history, "z", "z", nullptr, tw_dense(TW_DOUBLE, z, nz), "units=Pa"));
    OK(tw_history_field(history, "T", TW_DOUBLE, "z", nullptr, "units=K", &field));
    CHECK(tw_history_ready(history) == TW_ESETTING);
    OK(tw_history_close(&history));
}

/// Tests one box per rank, with a halo and in the order x z y, which is a section of a larger
/// array.
void boxes() {
    const std::string folder = fresh_folder();
    const std::int64_t shape[3] = {nx, nz, ny}, start[3] = {0, 0, 2 * rank}, count[3] = {nx, nz, 2};
    const std::int64_t low[3] = {1, 0, 2}, high[3] = {0, 1, 1};
    tw_decomposition d = nullptr;
    OK(tw_decompose_halo(session, "x z y", 1, shape, start, count, low, high, &d));
    Layout layout(folder, d, "z y x");
    layout.check_memory();
    run(layout, [&](int step) {
        const std::int64_t extent[3] = {nx + 1, nz + 1, 5};
        constexpr std::int64_t apart = 2;
        std::vector<double> all(extent[0] * extent[1] * extent[2] * apart, 1e300);
        for (std::int64_t x = 0; x < nx; ++x)
            for (std::int64_t z = 0; z < nz; ++z)
                for (std::int64_t y = 0; y < 2; ++y)
                    all[(((x + 1) * (nz + 1) + z) * 5 + y + 2) * apart] =
                        value_of(step, z, 2 * rank + y, x);
        const std::int64_t stride[3] = {8 * apart * 5 * (nz + 1), 8 * apart * 5, 8 * apart};
        OK(tw_send_array(layout.field, tw_strided(TW_DOUBLE, all.data(), 3, extent, stride),
                         nullptr));
    });
    layout.end(folder);
}

/// Tests four boxes per rank in padded arrays. They are sent one by one in reverse order, or
/// together.
void blocks(bool together) {
    const std::string folder = fresh_folder();
    const std::int64_t shape[3] = {nz, ny, nx};
    std::vector<std::int64_t> start, count;
    for (std::int64_t b = 0; b < 4; ++b) {
        start.insert(start.end(), {0, 2 * rank + b / 2, b % 2 * 17});
        count.insert(count.end(), {nz, 1, b % 2 == 0 ? 17 : 19});
    }
    tw_decomposition d = nullptr;
    OK(tw_decompose(session, "z y x", 4, shape, start.data(), count.data(), &d));
    const std::int64_t extent[3] = {nz, 2, 20};
    OK(tw_pad(d, extent, 5));
    Layout layout(folder, d, "z y x");
    constexpr std::int64_t block = nz * 2 * 20;
    run(layout, [&](int step) {
        std::vector<double> all(5 * block, 1e300);
        for (std::int64_t b = 0; b < 4; ++b)
            for (std::int64_t z = 0; z < nz; ++z)
                for (std::int64_t x = 0; x < count[3 * b + 2]; ++x)
                    all[b * block + z * 40 + x] =
                        value_of(step, z, start[3 * b + 1], start[3 * b + 2] + x);
        if (together) {
            OK(tw_send(layout.field, TW_DOUBLE, all.data(), std::ssize(all)));
            return;
        }
        for (int b = 4; b-- > 0;)
            OK(tw_send_block(layout.field, b, TW_DOUBLE, all.data() + b * block, block));
    });
    layout.end(folder);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    ny = 2 * size;
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    level_twice();
    boxes();
    for (const bool together : {false, true}) blocks(together);
    OK(tw_finalize(&session));
    return check::verdict("history_layout");
}
