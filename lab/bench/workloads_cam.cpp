// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

namespace thalweg::bench {
namespace {

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
             {"H", 60, Element::f4, {"lat", "lon"}, {"lat", "lon"}},
             {"B", 1, Element::f4, {"band", "lon"}, {"band", "lon"}},
             {"T", 34, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}};
}

}  // namespace

std::vector<Workload> cam_workloads() {
    return {
        {"demo",
         "a small atmosphere, 12 MB a step: 8 3-D and 6 2-D fields of FV-B's grid",
         {{"lev", 26, 'z'}, {"lat", 91, 'y'}, {"lon", 144, 'x'}},
         {{"lat"}, {"lev"}},
         2,
         0,
         {{"S", 1, Element::f8, {}, {}},
          {"H", 6, Element::f4, {"lat", "lon"}, {"lat", "lon"}},
          {"T", 8, Element::f4, {"lev", "lat", "lon"}, {"lat", "lev", "lon"}, true}}},
        cam("t85", "CAM EUL T85, 256 x 128 x 26, 124 MB a step, cut along latitude", 256, 128, 1),
        cam("fv-b", "CAM FV-B, 144 x 91 x 26, 49 MB a step, cut in latitude and level", 144, 91, 2),
        cam("fv-c", "CAM FV-C, 288 x 181 x 26, 197 MB a step, likewise", 288, 181, 2),
        cam("fv-d", "CAM FV-D, 576 x 361 x 26, 786 MB a step, likewise", 576, 361, 2),
    };
}

}  // namespace thalweg::bench
