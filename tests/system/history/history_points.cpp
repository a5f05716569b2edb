// Tests that stations, sections and whole fields have the same files, byte for byte, on any number
// of ranks, from boxes and lists and after a restart, for coordinates of all forms; and their right
// values.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <fstream>

#include "history.hpp"
#include "support/content.hpp"

using calls::session;
using namespace histories;

namespace {

constexpr double hour = 3600;
constexpr std::int64_t nz = 3, ny = 6, nx = 12, cells = ny * nx, steps = 4;

enum class Grid { axes, plane, unstructured };

/// Two stations in one cell, one midway between four cells, and one at the pole.
const char* const configuration = R"(
[[stream]]
name = "sites"
every = "2 hours"
anchor = "start"
fields = ["T", "V"]
region = "sites"
type = "double"
path = "sites.nc"
field.weighted = { of = "T", weight = "W" }
[[stream]]
name = "one"
every = "1 hour"
op = "instant"
type = "double"
fields = ["T"]
region = "one"
levels = { dim = "z", index = [2, 0] }
path = "one.nc"
[[stream]]
name = "section"
every = "2 hours"
anchor = "start"
op = "max"
type = "double"
fields = ["T"]
region = "section"
path = "section.nc"
[[stream]]
name = "whole"
every = "2 hours"
anchor = "start"
type = "double"
fields = ["V"]
path = "whole.nc"
[region.sites]
points = [[45, 0], [-61, 29], [299, 31], [0, 90]]
names = ["between", "A", "B", "pole"]
[region.one]
points_file = "one.txt"
[region.section]
list_file = "list.nc"
list_var = "cells"
base = 1
)";

/// Stations of a field that shows where land is in every second step only.
const char* const late_configuration = R"(
[[stream]]
name = "late"
every = "4 hours"
anchor = "start"
fields = ["V", "T"]
region = "sites"
type = "double"
path = "late.nc"
levels = { dim = "z", index = [2, 0] }
field.weighted = { of = "V", weight = "W" }
field.highest = { of = "V", op = "mean", inner = { op = "max", every = "2 hours" } }
[region.sites]
points = [[45, 0], [-61, 29], [299, 31], [0, 90]]
)";

const std::vector<std::int64_t> section{13, 26, 27, 12, 13};

struct Setup {
    Grid grid = Grid::axes;
    bool lists = false;
    std::int64_t land = -1;  // a cell that no rank holds, or whose values are missing
    bool missing = false;    // values on land are missing
    std::string folder;
    bool late = false;  // T is sent in every second step
    MPI_Comm comm = MPI_COMM_WORLD;
};

double longitude(std::int64_t cell) { return 30. * static_cast<double>(cell % nx); }
double latitude(std::int64_t cell) { return 20. * static_cast<double>(cell / nx) - 50; }
double value_of(std::int64_t step, std::int64_t z, std::int64_t cell) {
    return static_cast<double>(step * 1000 + z * 100 + cell);
}

class Model {
public:
    explicit Model(const Setup& setup) : setup_(setup) {
        MPI_Comm_rank(setup.comm, &rank_);
        MPI_Comm_size(setup.comm, &size_);
        OK(tw_init(setup.comm, nullptr, &session));
        for (std::int64_t c = cells; setup.lists && c-- > 0;)
            if (c % size_ == rank_ && (c != setup.land || setup.missing)) mine_.push_back(c);
        if (setup.lists) mine_.insert(mine_.begin() + 1, -1);
        const std::string text =
            in_folder(setup.late ? late_configuration : configuration, setup.folder);
        OK(tw_history_open(session, text.c_str(), "noleap", "2000-01-01", nullptr, &history_));
        volume_ = decompose(true);
        surface_ = decompose(false);
        declare();
        OK(tw_history_ready(history_));
    }
    void step(std::int64_t n) {
        OK(tw_history_time(history_, static_cast<double>(n) * hour));
        send(weight_, false, [&](std::int64_t, std::int64_t) { return n % 2 == 1 ? 1. : 3.; });
        if (!setup_.late || n % 2 == 0)
            send(t_, true, [&](std::int64_t z, std::int64_t c) { return value_of(n, z, c); });
        send(v_, false, [&](std::int64_t, std::int64_t c) { return value_of(n, 0, c) + 0.5; });
        OK(tw_history_end_step(history_));
    }
    void save(const std::string& path) { histories::save(history_, path); }
    void load(const std::string& path) { OK(histories::load(history_, path)); }
    void end() {
        OK(tw_history_close(&history_));
        for (tw_decomposition* d : {&volume_, &surface_}) OK(tw_free_decomposition(d));
        OK(tw_finalize(&session));
    }

private:
    /// Makes a list of columns, or boxes of rows of which the last ranks may have none.
    tw_decomposition decompose(bool levels) {
        tw_decomposition d = nullptr;
        if (setup_.lists) {
            const std::int64_t plane[3] = {nz, ny, nx}, column[2] = {nz, cells};
            const bool flat = setup_.grid == Grid::unstructured;
            const char* const dims = flat                        ? "z cell"
                                     : setup_.grid == Grid::axes ? "z lat lon"
                                                                 : "z y x";
            OK(tw_decompose_list(session, dims + (levels ? 0 : 2),
                                 (flat ? column : plane) + (levels ? 0 : 1), dims + 2,
                                 std::ssize(mine_), mine_.data(), TW_LIST_UNIQUE, &d));
            return d;
        }
        const std::int64_t low = ny * rank_ / size_, rows = ny * (rank_ + 1) / size_ - low;
        std::vector<std::int64_t> shape, start, count, none, halo;
        const auto add = [&](std::int64_t length, std::int64_t first, std::int64_t n) {
            shape.push_back(length);
            start.push_back(first);
            count.push_back(n);
            none.push_back(0);
            halo.push_back(1);
        };
        if (setup_.grid == Grid::axes) add(nx, 0, nx);
        if (levels) add(nz, 0, nz);
        if (setup_.grid == Grid::unstructured) add(cells, low * nx, rows * nx);
        if (setup_.grid != Grid::unstructured) add(ny, low, rows);
        if (setup_.grid == Grid::plane) add(nx, 0, nx);
        const char* const dims = setup_.grid == Grid::axes ? (levels ? "lon z lat" : "lon lat")
                                 : setup_.grid == Grid::unstructured ? (levels ? "z cell" : "cell")
                                                                     : (levels ? "z y x" : "y x");
        OK(tw_decompose_halo(session, dims, rows > 0 ? 1 : 0, shape.data(), start.data(),
                             count.data(), none.data(), halo.data(), &d));
        low_ = low;
        rows_ = rows;
        return d;
    }

    /// Returns this rank's array, as its decomposition requires it.
    template <class Value>
    std::vector<double> array(bool levels, Value&& value) const {
        std::vector<double> all;
        const std::int64_t depth = levels ? nz : 1;
        if (setup_.lists) {
            for (std::int64_t z = 0; z < depth; ++z)
                for (const std::int64_t c : mine_) all.push_back(c < 0 ? 1e300 : value(z, c));
            return all;
        }
        if (rows_ == 0) return all;
        const std::int64_t above = levels ? 1 : 0;
        const auto inside = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
            const bool is = z < depth && y < rows_ && x < nx;
            all.push_back(is ? value(z, (low_ + y) * nx + x) : 1e300);
        };
        if (setup_.grid == Grid::axes) {
            for (std::int64_t x = 0; x <= nx; ++x)
                for (std::int64_t z = 0; z < depth + above; ++z)
                    for (std::int64_t y = 0; y <= rows_; ++y) inside(z, y, x);
        } else if (setup_.grid == Grid::plane) {
            for (std::int64_t z = 0; z < depth + above; ++z)
                for (std::int64_t y = 0; y <= rows_; ++y)
                    for (std::int64_t x = 0; x <= nx; ++x) inside(z, y, x);
        } else {
            for (std::int64_t z = 0; z < depth + above; ++z)
                for (std::int64_t c = 0; c <= rows_ * nx; ++c) inside(z, c / nx, c % nx);
        }
        return all;
    }

    template <class Value>
    void send(tw_field field, bool levels, Value&& value) const {
        const std::vector<double> all = array(levels, [&](std::int64_t z, std::int64_t c) {
            return setup_.missing && c == setup_.land ? 1e20 : value(z, c);
        });
        OK(tw_send(field, TW_DOUBLE, all.data(), std::ssize(all)));
    }

    void coordinate(const char* name, const char* dims, const std::vector<double>& all,
                    const char* attributes, tw_decomposition d = nullptr) {
        OK(tw_history_coordinate(history_, name, dims, d,
                                 tw_dense(TW_DOUBLE, all.data(), std::ssize(all)), attributes));
    }

    void declare() {
        const bool axes = setup_.grid == Grid::axes;
        const char* const dims = axes                                ? "z lat lon"
                                 : setup_.grid == Grid::unstructured ? "z cell"
                                                                     : "z y x";
        const std::string field = std::string("units=m s-1; long_name=speed") +
                                  (axes ? "" : "; coordinates=lon lat; mesh=topology");
        const std::string masked = field + (setup_.missing ? "; missing=fixed" : "");
        OK(tw_history_field(history_, "T", TW_DOUBLE, dims, volume_, masked.c_str(), &t_));
        OK(tw_history_field(history_, "V", TW_DOUBLE, dims + 2, surface_, field.c_str(), &v_));
        OK(tw_history_field(history_, "W", TW_DOUBLE, dims + 2, surface_, "", &weight_));
        coordinate("z", "z", {5, 15, 25}, "units=m; positive=down; axis=Z; standard_name=depth");
        const char* const east = "units=degrees_east; standard_name=longitude";
        const char* const north = "units=degrees_north; standard_name=latitude";
        if (axes) {
            std::vector<double> x, y, bounds;
            for (std::int64_t i = 0; i < nx; ++i) x.push_back(longitude(i));
            for (std::int64_t j = 0; j < ny; ++j) {
                y.push_back(latitude(j * nx));
                bounds.insert(bounds.end(), {y.back() - 10, y.back() + 10});
            }
            coordinate("lon", "lon", x, east);
            coordinate("lat", "lat", y, (std::string(north) + "; bounds=lat_bnds").c_str());
            coordinate("lat_bnds", "lat two", bounds, "");
            return;
        }
        // With lists, each rank passes only its part of the coordinates.
        const auto spread = [&](const char* name, double (*value)(std::int64_t),
                                const char* attributes) {
            std::vector<double> all;
            for (std::int64_t c = 0; c < cells; ++c) all.push_back(value(c));
            if (setup_.lists)
                all = array(false, [&](std::int64_t, std::int64_t c) { return value(c); });
            coordinate(name, dims + 2, all, attributes, setup_.lists ? surface_ : nullptr);
        };
        spread("lon", longitude, east);
        spread("lat", latitude, north);
    }

    Setup setup_;
    int rank_ = 0, size_ = 1;
    std::int64_t low_ = 0, rows_ = 0;
    std::vector<std::int64_t> mine_;
    tw_decomposition volume_ = nullptr, surface_ = nullptr;
    tw_history history_ = nullptr;
    tw_field t_ = nullptr, v_ = nullptr, weight_ = nullptr;
};

/// Runs on some ranks, with a restart after a step. @param restart number of that step; 0: none
void run(Setup setup, int ranks, std::int64_t restart) {
    const std::string path = setup.folder + "/restart.nc";
    for (std::int64_t first = 1; first <= steps;) {
        const std::int64_t last = first <= restart ? restart : steps;
        const int wanted = first > 1 ? check::state.size : std::min(ranks, check::state.size);
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, check::state.rank < wanted ? 0 : MPI_UNDEFINED, 0, &part);
        if (part != MPI_COMM_NULL) {
            setup.comm = part;
            Model model(setup);
            if (first > 1) model.load(path);
            for (std::int64_t n = first; n <= last; ++n) model.step(n);
            if (last < steps) model.save(path);
            model.end();
            MPI_Comm_free(&part);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        first = last + 1;
    }
}

void compare(const std::string& right, const std::string& other,
             const std::vector<std::string>& names) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const std::string& name : names) {
        const std::string a = content_of(right + name), b = content_of(other + name);
        CHECK_TEXT(!a.empty() && a == b, "{}{} and {} differ", other, name, right);
    }
}

/// Checks the values in a file. Each record has a value in `first` for its first step, and contains
/// all levels or some.
void expect(const std::string& path, const char* variable, const std::vector<double>& first,
            const std::vector<std::int64_t>& levels, const std::vector<std::int64_t>& places) {
    std::vector<double> right;
    for (const double f : first)
        for (const std::int64_t z : levels)
            for (const std::int64_t c : places) right.push_back(f + value_of(0, z, c));
    const Contents file(path, variable);
    CHECK_TEXT(file.values == right, "{}: {}: {} ... is not {} ...", path, variable,
               file.values.empty() ? 0 : file.values.front(), right.front());
}

void check_values(const std::string& folder, const std::vector<std::int64_t>& places) {
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    const std::string sites = folder + "/sites.nc";
    expect(sites, "T", {1500, 3500}, {0, 1, 2}, places);
    expect(sites, "V", {1500.5, 3500.5}, {0}, places);
    expect(sites, "weighted", {1750, 3750}, {0, 1, 2}, places);
    expect(folder + "/one.nc", "T", {1000, 2000, 3000, 4000}, {2, 0}, {0});
    expect(folder + "/section.nc", "T", {2000, 4000}, {0, 1, 2}, section);
    std::vector<double> lon, lat;
    for (const std::int64_t c : places) {
        lon.push_back(longitude(c));
        lat.push_back(latitude(c));
    }
    CHECK(read(sites, "lon", 4) == lon);
    CHECK(read(sites, "lat", 4) == lat);
    CHECK(read(folder + "/section.nc", "lon", 5)[1] == longitude(section[1]));
    tw_file file = nullptr;
    OK(tw_open(session, sites.c_str(), nullptr, &file));
    char text[100] = "", names[28] = "";
    OK(tw_get_att_text(file, "V", "coordinates", sizeof text, text));
    CHECK_TEXT(std::string(text) == "lon lat station_name", "coordinates are '{}'", text);
    CHECK(tw_get_att_text(file, "V", "mesh", sizeof text, text) == TW_ENOTFOUND);
    OK(tw_get_att_text(file, "station_name", "cf_role", sizeof text, text));
    CHECK_TEXT(std::string(text) == "timeseries_id", "cf_role is '{}'", text);
    // T has levels, so these are no time series only.
    CHECK(tw_get_att_text(file, "", "featureType", sizeof text, text) == TW_ENOTFOUND);
    OK(tw_get(file, "station_name", nullptr, 0, TW_CHAR, names, 28));
    CHECK(std::string(names) == "betweenA" && std::string(names + 21) == "pole");
    const char* name = nullptr;
    OK(tw_inq_var_dim(file, "T", 2, &name, nullptr));
    CHECK(std::string(name) == "station");
    OK(tw_close(&file));
    OK(tw_open(session, (folder + "/section.nc").c_str(), nullptr, &file));
    OK(tw_inq_var_dim(file, "lat", 0, &name, nullptr));
    CHECK(std::string(name) == "section");
    OK(tw_close(&file));
    OK(tw_finalize(&session));
}

/// Tests stations that skip land which is known only in the second step, on any number of ranks and
/// with restarts before and after it.
void late_land(Grid grid) {
    const std::string right = fresh_folder();
    run({grid, false, 58, true, right, true}, 1, 0);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    const std::vector<std::int64_t> places{25, 46, 70, 60};
    expect(right + "/late.nc", "V", {2500.5}, {0}, places);
    expect(right + "/late.nc", "T", {3000}, {2, 0}, places);
    expect(right + "/late.nc", "weighted", {2750.5}, {0}, places);
    expect(right + "/late.nc", "highest", {3000.5}, {0}, places);
    OK(tw_finalize(&session));
    for (const bool lists : {false, true})
        for (const std::int64_t restart : {0, 1, 3}) {
            const std::string folder = fresh_folder();
            run({grid, lists, 58, true, folder, true}, restart == 0 ? check::state.size : 2,
                restart);
            compare(right, folder, {"/late.nc"});
        }
}

void write_regions() {
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    if (check::state.rank == 0) std::ofstream("one.txt") << "# a station\n\n0 -50 south # west\n";
    tw_file file = nullptr;
    OK(tw_create(session, "list.nc", nullptr, &file));
    const std::int64_t n = std::ssize(section);
    std::vector<int> list;
    for (const std::int64_t cell : section) list.push_back(static_cast<int>(cell) + 1);
    const int outside[1] = {cells + 1};
    OK(tw_def_dim(file, "n", n));
    OK(tw_def_dim(file, "m", 1));
    OK(tw_def_var(file, "cells", TW_INT, "n", nullptr));
    OK(tw_def_var(file, "outside", TW_INT, "m", nullptr));
    OK(tw_def_var(file, "real", TW_DOUBLE, "n", nullptr));
    OK(tw_enddef(file));
    OK(tw_put(file, "cells", TW_INT, list.data(), n));
    OK(tw_put(file, "outside", TW_INT, outside, 1));
    OK(tw_close(&file));
    OK(tw_finalize(&session));
}

/// @param axes  true: longitudes and latitudes are declared
void refuse(const std::string& stream, const std::string& region, bool axes,
            const std::string& words) {
    const std::string text =
        "[[stream]]\nname = \"s\"\nevery = \"1 day\"\n" + stream + "[region.r]\n" + region + "\n";
    tw_history history = nullptr;
    OK(tw_history_open(session, text.c_str(), "noleap", "2000-01-01", nullptr, &history));
    const std::int64_t shape[2] = {2, 2};
    const std::int64_t halves[2] = {check::state.rank == 0 ? 0 : 1, check::state.rank == 0 ? 3 : 2};
    tw_decomposition one = nullptr, two = nullptr;
    const std::int64_t n = check::state.rank < 2 ? 1 : 0;
    OK(tw_decompose_list(session, "y x", shape, "y x", n, halves, TW_LIST_UNIQUE, &one));
    OK(tw_decompose_list(session, "y x", shape, "y x", n, halves + 1, TW_LIST_UNIQUE, &two));
    const double values[2] = {0, 1};
    if (axes) {
        OK(tw_history_coordinate(history, "x", "x", nullptr, tw_dense(TW_DOUBLE, values, 2),
                                 "units=degrees_east"));
        OK(tw_history_coordinate(history, "y", "y", nullptr, tw_dense(TW_DOUBLE, values, 2),
                                 "units=degrees_north"));
    }
    tw_field field = nullptr;
    OK(tw_history_field(history, "A", TW_DOUBLE, "y x", one, "", &field));
    OK(tw_history_field(history, "B", TW_DOUBLE, "y x", two, "", &field));
    REFUSED(tw_history_ready(history), TW_ESETTING, words);
    OK(tw_history_close(&history));
    for (tw_decomposition* d : {&one, &two}) OK(tw_free_decomposition(d));
}

void errors() {
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    const std::string a = "fields = [\"A\"]\nregion = \"r\"\n";
    const std::string both = "fields = [\"A\", \"B\"]\nregion = \"r\"\n";
    refuse(both, "points = [[0, 0]]", true, "the fields 'B' and 'A'");
    refuse(a, "points = [[0, 0]]", false, "'A' has not");
    refuse(a, "points_file = \"no.txt\"", true, "no.txt");
    refuse(a, "points_file = \"list.nc\"", true, "list.nc:1");
    refuse(a, "list_file = \"list.nc\"\nlist_var = \"outside\"", true, "has the index 73");
    refuse(a, "list_file = \"list.nc\"\nlist_var = \"real\"", true, "no list of integers");
    refuse(a + "levels = { dim = \"x\", index = [0] }\n", "points = [[0, 0]]", true,
           "both select elements of dimension 'x'");
    refuse(
        "fields = [\"A\"]\nregion = \"x\"\n[region.x]\nlist_file = \"list.nc\"\n"
        "list_var = \"cells\"\n",
        "points = [[0, 0]]", true, "makes a dimension 'x'");
    OK(tw_finalize(&session));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    write_regions();
    const std::vector<std::string> all{"/sites.nc", "/one.nc", "/section.nc", "/whole.nc"};
    for (const Grid grid : {Grid::axes, Grid::plane, Grid::unstructured}) {
        const std::string right = fresh_folder();
        run({grid, false, -1, false, right}, 1, 0);
        check_values(right, {25, 58, 58, 60});
        for (const bool lists : {false, true})
            for (const std::int64_t restart : {0, 3}) {
                const std::string folder = fresh_folder();
                run({grid, lists, -1, false, folder}, restart == 0 ? check::state.size : 2,
                    restart);
                compare(right, folder, all);
            }
        // the nearest cell of two stations is on land
        const std::string land = fresh_folder();
        run({grid, true, 58, false, land}, check::state.size, 0);
        check_values(land, {25, 46, 70, 60});
        const std::string missing = fresh_folder();
        run({grid, false, 58, true, missing}, 1, 0);
        check_values(missing, {25, 46, 70, 60});
        for (const bool lists : {false, true})
            for (const std::int64_t restart : {0, 3}) {
                const std::string folder = fresh_folder();
                run({grid, lists, 58, true, folder}, restart == 0 ? check::state.size : 2, restart);
                compare(missing, folder, all);
            }
        late_land(grid);
    }
    errors();
    return check::verdict("history_points");
}
