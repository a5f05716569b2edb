// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace thalweg::bench {
namespace {

/// A history step of the Community Atmosphere Model (Tseng and Ding 2008, tables 1 and 2): memory
/// order (lon, lev, lat), longitude fastest. 2-D fields lie on the physics grid, which spreads over
/// all ranks along latitude: the ranks that share a latitude band hold a part of its rows each.
Workload cam(std::string name, std::string text, std::int64_t nlon, std::int64_t nlat,
             int cut_axes) {
    return {std::move(name),
            std::move(text),
            {{"lev", 26, 'z'}, {"lat", nlat, 'y'}, {"band", 49, '-'}, {"lon", nlon, 'x'}},
            {{"lat", "band"}, {"lev"}},
            cut_axes,
            0,
            {{"S", 2, Element::f8, {}, {}},
             {"H", 60, Element::f4, {"lat", "lon"}, {"lat", "lon"}},
             {"B", 1, Element::f4, {"band", "lon"}, {"band", "lon"}},
             {"T", 34, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}};
}

std::vector<Workload> make_workloads() {
    std::vector<Workload> table;
    table.push_back({"demo",
                     "a small atmosphere, 12 MB a step: 8 3-D and 6 2-D fields of FV-B's grid",
                     {{"lev", 26, 'z'}, {"lat", 91, 'y'}, {"lon", 144, 'x'}},
                     {{"lat"}, {"lev"}},
                     2,
                     0,
                     {{"S", 1, Element::f8, {}, {}},
                      {"H", 6, Element::f4, {"lat", "lon"}, {"lat", "lon"}},
                      {"T", 8, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}});
    table.push_back(
        cam("t85", "CAM EUL T85, 256 x 128 x 26, 124 MB a step, cut along latitude", 256, 128, 1));
    table.push_back(cam("fv-b", "CAM FV-B, 144 x 91 x 26, 49 MB a step, cut in latitude and level",
                        144, 91, 2));
    table.push_back(cam("fv-c", "CAM FV-C, 288 x 181 x 26, 197 MB a step, likewise", 288, 181, 2));
    table.push_back(cam("fv-d", "CAM FV-D, 576 x 361 x 26, 786 MB a step, likewise", 576, 361, 2));
    // Huang et al. 2014, section 5.3. Its 500 variables are 34 GB: --variables 500 asks for them.
    table.push_back({"cfio-1",
                     "CFIO program 1, 4096 x 2048 f8, cut in x and y; 4 of its 500 variables",
                     {{"lat", 2048, 'y'}, {"lon", 4096, 'x'}},
                     {{"lat"}, {"lon"}},
                     2,
                     1,
                     {{"V", 4, Element::f8, {"lat", "lon"}, {"lat", "lon"}, true}}});
    // The second program's 3.2 GB a step are smaller variables here, so that a step can be of any
    // size: 384 of them make the paper's.
    table.push_back({"cfio-2",
                     "CFIO program 2, 1024 x 1024 f8, cut in x and y; 34 of its 3200 MB a step",
                     {{"lat", 1024, 'y'}, {"lon", 1024, 'x'}},
                     {{"lat"}, {"lon"}},
                     2,
                     1,
                     {{"V", 4, Element::f8, {"lat", "lon"}, {"lat", "lon"}, true}}});
    return table;
}

const Dimension* find(const Workload& w, const std::string& name) {
    for (const Dimension& d : w.dims)
        if (d.name == name) return &d;
    return nullptr;
}

}  // namespace

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> table = make_workloads();
    return table;
}

Workload find_workload(const Options& options) {
    const auto& table = workloads();
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const Workload& w) { return w.name == options.workload; });
    if (entry == table.end()) {
        std::string names;
        for (const Workload& w : table) names += (names.empty() ? "" : ", ") + w.name;
        throw UsageError("unknown workload \"" + options.workload + "\"; there are " + names);
    }
    Workload w = *entry;
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
    if (options.variables != 0)
        for (VariableGroup& g : w.groups)
            if (g.main) g.count = options.variables;
    return w;
}

std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks) {
    const std::size_t naxes = workload.axes.size();
    std::vector<int> factors(naxes, 1);
    if (grid.empty() || grid == "1d") {
        factors[0] = ranks;
        if (grid == "1d" || workload.cut_axes < 2) return factors;
        // The second axis gets the largest divisor up to the square root, but no more ranks than
        // it has elements: a level that is shared by two ranks would leave one without any.
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

std::string fmt_line(const std::string& name, const std::string& text) {
    return fmt::format("  {:<26}{}\n", name, text);
}

}  // namespace thalweg::bench
