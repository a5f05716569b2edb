// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

namespace thalweg::bench {
namespace {

/// A history step of MOM5 (Yang, Ward and Evans 2020): the order in memory and in the file is the
/// same. The process grid is given as x by y, as FMS writes its layouts. The fields are
/// temperature, salinity, the two components of the current, and six fields of the surface.
Workload mom5(std::string name, std::string text, std::int64_t nx, std::int64_t ny, std::int64_t nz,
              double scale) {
    const std::vector<std::string> volume{"z", "y", "x"};
    const std::vector<std::string> plane{"y", "x"};
    Workload w{std::move(name),
               std::move(text),
               {{"z", nz, 'z'}, {"y", ny, 'y'}, {"x", nx, 'x'}},
               {{"x"}, {"y"}},
               2,
               0,
               {{"T", 4, Element::f4, volume, volume, true}, {"H", 6, Element::f4, plane, plane}}};
    w.scale = scale;
    // Table 6, 720 ranks, daily output: I/O takes 494 of 8114 s.
    w.pace = {"serial", (8114. - 494) / 494};
    return w;
}

}  // namespace

std::vector<Workload> mom5_workloads() {
    return {
        mom5("mom5-025", "MOM5 at 0.25 degrees, 1440 x 1080 x 50, 1.3 GB; a quarter of its grid",
             1440, 1080, 50, 0.25),
        mom5("mom5-01", "MOM5 at 0.1 degrees, 3600 x 2700 x 75, 12 GB; an eighth of its grid", 3600,
             2700, 75, 0.125),
    };
}

}  // namespace thalweg::bench
