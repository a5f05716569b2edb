// SPDX-License-Identifier: Apache-2.0
#include "fields/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace thalweg::bench {
namespace {

using Names = std::vector<std::string>;
const Names lat_lon{"lat", "lon"}, depth_lat_lon{"depth", "lat", "lon"}, yx{"y", "x"},
    zyx{"z", "y", "x"};

/// A history step of the Community Atmosphere Model (Tseng and Ding 2008, tables 1 and 2). The
/// order in memory is (lon, lev, lat), longitude fastest. 2-D fields are on the physics grid, which
/// all ranks divide along latitude: a band of latitudes belongs to several ranks, and each of them
/// holds some rows of the band.
Workload cam(std::string name, std::string text, std::int64_t nlon, std::int64_t nlat,
             int cut_axes) {
    return {std::move(name),
            std::move(text),
            {{"lev", 26, 'z'}, {"lat", nlat, 'y'}, {"band", 49, '-'}, {"lon", nlon, 'x'}},
            {{"lat", "band"}, {"lev"}},
            cut_axes,
            0,
            {{"S", 2, Element::f8, {}, {}},
             {"H", 60, Element::f4, lat_lon, lat_lon},
             {"B", 1, Element::f4, {"band", "lon"}, {"band", "lon"}},
             {"T", 34, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}};
}

/// A concentration file of CMAQ (Wong et al. 2014, section 4.2): one variable per species. The
/// process grid is given as columns x rows, as in the paper.
Workload cmaq(std::string name, std::string text, std::int64_t columns, std::int64_t rows,
              std::int64_t layers, int species, int by_default) {
    const Names order{"lay", "row", "col"};
    Workload w{std::move(name),
               std::move(text),
               {{"lay", layers, 'z'}, {"row", rows, 'y'}, {"col", columns, 'x'}},
               {{"col"}, {"row"}},
               2,
               0,
               {{"C", species, Element::f4, order, order, true}}};
    w.variables = by_default;
    return w;
}

/// A test program of Huang et al. 2014, section 5.4: 2-D arrays of doubles.
Workload cfio(std::string name, std::string text, std::int64_t nlon, std::int64_t nlat,
              int variables) {
    Workload w{std::move(name),
               std::move(text),
               {{"lat", nlat, 'y'}, {"lon", nlon, 'x'}},
               {{"lat"}, {"lon"}},
               2,
               1,
               {{"V", variables, Element::f8, lat_lon, lat_lon, true}}};
    w.variables = 4;
    return w;
}

/// A history step of one of the models in this paper (sections 5.1 to 5.3). The paper gives grids,
/// intervals and the bytes of a run, but not the variables; their number here gives the same bytes.
/// `io` is the paper's output time with one gathering rank, divided by its computing time.
Workload model(std::string name, std::string text, std::vector<Dimension> dims,
               std::vector<VariableGroup> groups, double scale, double io) {
    Workload w{std::move(name),  std::move(text), std::move(dims), {{"lat"}, {"lon"}}, 2, 1,
               std::move(groups)};
    w.scale = scale;
    w.pace = {"serial", 1 / io};
    return w;
}

/// A history step of MOM5 (Yang, Ward and Evans 2020). The process grid is given as x by y, as FMS
/// writes its layouts. The fields are temperature, salinity, the two components of the current, and
/// six fields of the surface.
Workload mom5(std::string name, std::string text, std::int64_t nx, std::int64_t ny, std::int64_t nz,
              double scale) {
    Workload w{std::move(name),
               std::move(text),
               {{"z", nz, 'z'}, {"y", ny, 'y'}, {"x", nx, 'x'}},
               {{"x"}, {"y"}},
               2,
               0,
               {{"T", 4, Element::f4, zyx, zyx, true}, {"H", 6, Element::f4, yx, yx}}};
    w.scale = scale;
    // Table 6, 720 ranks, daily output: I/O takes 494 of 8114 s.
    w.pace = {"serial", (8114. - 494) / 494};
    return w;
}

/// An unstructured model. Its ranks hold blocks of the points, or lists (`list` is their kind).
Workload unstructured(std::string name, std::string text, std::vector<Dimension> dims,
                      const std::string& points, int volumes, int planes,
                      const std::string& list = "", bool flattened = false) {
    Names all;
    for (const Dimension& d : dims) all.push_back(d.name);
    Workload w{std::move(name),
               std::move(text),
               std::move(dims),
               {{points}},
               1,
               0,
               {{"T", volumes, Element::f4, all, all, true}}};
    if (planes > 0) w.groups.push_back({"H", planes, Element::f4, {points}, {points}});
    w.list = list;
    w.flattened = flattened;
    return w;
}

/// A history file of CICE with ten decompositions: blocks with halos, which ranks get in
/// turn, and a file for each output. Most variables use the first decomposition; the others are for
/// further dimensions.
Workload cice(std::string name, std::string text, std::int64_t nx, std::int64_t ny,
              std::int64_t width, std::int64_t height, int variables, int steps) {
    const std::vector<Dimension> more{{"nc", 5, '-'},    {"nkice", 7, '-'},  {"nksnow", 1, '-'},
                                      {"nkbio", 9, '-'}, {"nkaer", 12, '-'}, {"nf", 8, '-'}};
    const std::vector<Names> kinds{
        {},        {"nc"}, {"nkice"},       {"nksnow"},       {"nkbio"},
        {"nkaer"}, {"nf"}, {"nc", "nkice"}, {"nc", "nksnow"}, {"nc", "nf"}};
    Workload w{std::move(name), std::move(text), more, {{"nj"}, {"ni"}}, 2, 0, {}};
    w.dims.push_back({"nj", ny, 'y'});
    w.dims.push_back({"ni", nx, 'x'});
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        Names order = kinds[k];
        order.insert(order.end(), {"nj", "ni"});
        w.groups.push_back(
            {fmt::format("k{}_", k), k == 0 ? variables : 1, Element::f4, order, order, k == 0});
    }
    w.mode = Mode::pio;
    w.block[0] = height;
    w.block[1] = width;
    w.steps = steps;
    w.file_per_step = true;
    return w;
}

Workload in_part(Workload w, double scale) {
    w.scale = scale;
    return w;
}

const Dimension* find(const Workload& w, const std::string& name) {
    for (const Dimension& d : w.dims)
        if (d.name == name) return &d;
    return nullptr;
}

/// Formats the sizes of the dimensions 'x', 'y' and 'z', fastest first: "360 x 240 x 40".
std::string grid_text(const Workload& w) {
    std::string text;
    for (const char role : {'x', 'y', 'z'})
        for (const Dimension& d : w.dims)
            if (d.role == role) text += (text.empty() ? "" : " x ") + std::to_string(d.length);
    return text;
}

std::string cut_text(const Workload& paper, const Workload& w) {
    std::string text;
    if (grid_text(w) != grid_text(paper))
        text = fmt::format("grid {} instead of {}", grid_text(w), grid_text(paper));
    for (std::size_t g = 0; g < w.groups.size(); ++g)
        if (w.groups[g].count != paper.groups[g].count)
            text += fmt::format("{}{} variables {} instead of {}", text.empty() ? "" : ", ",
                                w.groups[g].count, w.groups[g].prefix, paper.groups[g].count);
    return text;
}

}  // namespace

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> table = {
        {"demo",
         "a small atmosphere, 12 MB a step: 8 3-D and 6 2-D fields of FV-B's grid",
         {{"lev", 26, 'z'}, {"lat", 91, 'y'}, {"lon", 144, 'x'}},
         {{"lat"}, {"lev"}},
         2,
         0,
         {{"S", 1, Element::f8, {}, {}},
          {"H", 6, Element::f4, lat_lon, lat_lon},
          {"T", 8, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}},
        cam("t85", "CAM EUL T85, 256 x 128 x 26, 124 MB a step, cut along latitude", 256, 128, 1),
        cam("fv-b", "CAM FV-B, 144 x 91 x 26, 49 MB a step, cut in latitude and level", 144, 91, 2),
        cam("fv-c", "CAM FV-C, 288 x 181 x 26, 197 MB a step, likewise", 288, 181, 2),
        cam("fv-d", "CAM FV-D, 576 x 361 x 26, 786 MB a step, likewise", 576, 361, 2),
        cfio("cfio-1",
             "CFIO program 1, 4096 x 2048 f8, 34 GB, cut in x and y; 4 of its 500 variables", 4096,
             2048, 500),
        // The paper only says that the second program writes 3.2 GB in a step. Its fields are small
        // here, so that a step can have any size.
        cfio("cfio-2", "CFIO program 2, 1024 x 1024 f8, 3.2 GB a step; 4 of its 384 variables",
             1024, 1024, 384),
        model("pop", "POP's hourly history, 3600 x 2400 x 40, 5.6 GB; a tenth of its grid",
              {{"depth", 40, 'z'}, {"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"T", 4, Element::f4, depth_lat_lon, depth_lat_lon, true},
               {"H", 3, Element::f4, lat_lon, lat_lon}},
              0.1, 8.8),
        model("pop-restart", "POP's restart, f8, 22 GB a day; a tenth of its grid",
              {{"depth", 40, 'z'}, {"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"R", 8, Element::f8, depth_lat_lon, depth_lat_lon, true},
               {"P", 3, Element::f8, lat_lon, lat_lon}},
              0.1, 8.8),
        model("cice", "CICE's daily history, 3600 x 2400, 2.0 GB; a quarter of its grid",
              {{"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"H", 58, Element::f4, lat_lon, lat_lon, true}}, 0.25, 4.2),
        model("licom", "LICOM's daily history, 3602 x 1683 x 55, 13 GB; a tenth of its grid",
              {{"depth", 55, 'z'}, {"lat", 1683, 'y'}, {"lon", 3602, 'x'}},
              {{"T", 10, Element::f4, depth_lat_lon, depth_lat_lon, true},
               {"H", 2, Element::f4, lat_lon, lat_lon}},
              0.1, 1.07),
        cmaq("cmaq-ca", "CMAQ California, 89 x 134 x 35, 146 species, 244 MB a step", 89, 134, 35,
             146, 146),
        cmaq("cmaq-eus", "CMAQ eastern US, 279 x 299 x 35, 1.7 GB; 24 of its 146 species", 279, 299,
             35, 146, 24),
        cmaq("cmaq-conus", "CMAQ continental US, 459 x 299 x 35, 2.8 GB; 16 of its 146 species",
             459, 299, 35, 146, 16),
        cmaq("cmaq-4km", "CMAQ eastern US at 4 km, 423 x 594 x 14, 2.0 GB; 20 of its 142 species",
             423, 594, 14, 142, 20),
        mom5("mom5-025", "MOM5 at 0.25 degrees, 1440 x 1080 x 50, 1.3 GB; a quarter of its grid",
             1440, 1080, 50, 0.25),
        mom5("mom5-01", "MOM5 at 0.1 degrees, 3600 x 2700 x 75, 12 GB; an eighth of its grid", 3600,
             2700, 75, 0.125),
        // The number of cells is that of MPAS at 3 km; the fields are invented.
        in_part(
            unstructured(
                "atmosphere-3km",
                "a global atmosphere of 3 km, 41,943,042 columns x 80, 57 GB; a thousandth of it",
                {{"level", 80, 'z'}, {"column", 41943042, 'x'}}, "column", 4, 20),
            0.001),
        // The grids of E3SM's high-resolution runs: ne120, and 18 to 6 km; the fields are invented.
        in_part(unstructured(
                    "e3sm-f",
                    "E3SM's atmosphere, 777,602 columns x 72, held as lists; a hundredth of it",
                    {{"lev", 72, '-'}, {"ncol", 777602, 'x'}}, "ncol", 8, 32, "f", true),
                0.01),
        in_part(
            unstructured(
                "e3sm-g", "E3SM's ocean, 3,693,225 cells x 100, held as lists; a hundredth of it",
                {{"nCells", 3693225, 'x'}, {"nVertLevels", 100, '-'}}, "nCells", 4, 8, "g"),
            0.01),
        cice("cice", "blocks with halos, ten decompositions, a file for each output; 76 MB", 320,
             384, 20, 24, 40, 4),
        cice("cice-128", "the same on 128 x 128, with 90 variables and 17 files; 14 MB each", 128,
             128, 16, 16, 81, 17),
    };
    return table;
}

Workload map_workload(const std::string& kind, const Options& options) {
    const std::int64_t elements = options.elements > 0        ? options.elements
                                  : options.mode == Mode::pio ? 1'000'000
                                                              : 10'000'000;
    const auto points = [&](std::int64_t levels) {
        return std::max<std::int64_t>(1, elements / levels);
    };
    const int variables = options.variables > 0 ? options.variables : elements > 1'000'000 ? 3 : 8;
    Workload w;
    if (kind == "f")
        w = unstructured(kind, "columns of an atmosphere, spread over the ranks in chunks",
                         {{"lev", 72, '-'}, {"ncol", points(72), 'x'}}, "ncol", variables, 0, kind);
    else if (kind == "g")
        w = unstructured(kind, "cells of an ocean, divided along a space-filling curve",
                         {{"nCells", std::max<std::int64_t>(1, elements / 400) * 4, 'x'},
                          {"nVertLevels", 100, '-'}},
                         "nCells", variables, 0, kind);
    else {
        const std::int64_t nlat = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements) / 2)));
        w = unstructured(
            kind, "land points in clumps, without the ocean",
            {{"lat", nlat, 'y'}, {"lon", std::max<std::int64_t>(1, elements / nlat), 'x'}}, "lat",
            variables, 0, kind);
        w.axes = {{"lat"}, {"lon"}};
        w.cut_axes = 2;
    }
    w.steps = options.mode == Mode::pio ? 2 : 0;
    w.flattened = options.mode == Mode::pio;
    return w;
}

Workload find_workload(const Options& options) {
    if (options.mode == Mode::pio && (options.workload == "f" || options.workload == "g"))
        return map_workload(options.workload, options);
    const Workload* entry = nullptr;
    std::string names;
    for (const Workload& w : workloads()) {
        if (w.mode != Mode::write && w.mode != options.mode) continue;
        names += (names.empty() ? "" : ", ") + w.name;
        if (w.name == options.workload) entry = &w;  // an entry for this measurement comes last
    }
    if (entry == nullptr)
        throw UsageError("unknown workload \"" + options.workload + "\"; the workloads are " +
                         names);
    Workload w = *entry;
    const double scale = options.scale > 0 ? options.scale : w.scale;
    for (Dimension& d : w.dims)
        if (d.role == 'x' || d.role == 'y' || (d.role == '-' && w.list.empty() && w.block[0] == 0))
            d.length =
                std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(d.length)));
    const auto resize = [&](char role, std::int64_t length, const char* option) {
        if (length == 0) return;
        bool found = false;
        for (Dimension& d : w.dims) {
            if (d.role == role) {
                d.length = length;
                found = true;
            }
        }
        if (!found) throw UsageError(fmt::format("{}: {} has no such dimension", option, w.name));
    };
    resize('x', options.nx, "--nx");
    resize('y', options.ny, "--ny");
    resize('z', options.nz, "--nz");
    const int variables = options.variables > 0 ? options.variables : w.variables;
    for (VariableGroup& g : w.groups)
        if (g.main && variables > 0) g.count = variables;
    w.cut = cut_text(*entry, w);
    return w;
}

std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks) {
    const std::size_t naxes = workload.axes.size();
    std::vector<int> factors(naxes, 1);
    if (grid.empty() || grid == "1d") {
        factors[0] = ranks;
        if (grid == "1d" || workload.cut_axes < 2) return factors;
        // The second axis gets the largest divisor of the number of ranks up to its square root,
        // but not more ranks than the axis has elements: further ranks would hold nothing.
        const Dimension* second = find(workload, workload.axes[1].front());
        for (int f = 1; f <= ranks / f; ++f) {
            if (ranks % f == 0 && f <= second->length) {
                factors[0] = ranks / f;
                factors[1] = f;
            }
        }
        return factors;
    }
    std::int64_t product = 1;
    std::size_t axis = 0;
    const char* at = grid.data();
    const char* const end = at + grid.size();
    for (;; ++axis) {
        int factor = 0;
        const auto [rest, error] = std::from_chars(at, end, factor);
        if (axis == naxes || error != std::errc{} || factor < 1 || (rest != end && *rest != 'x'))
            throw UsageError(fmt::format(
                "--grid {}: expected 1d, or a grid like 4x2 of at most {} axes", grid, naxes));
        factors[axis] = factor;
        product *= factor;
        if (rest == end) break;
        at = rest + 1;
    }
    if (product != ranks)
        throw UsageError(fmt::format("--grid {} has {} members, but {} ranks are running", grid,
                                     product, ranks));
    return factors;
}

}  // namespace thalweg::bench
