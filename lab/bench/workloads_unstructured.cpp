// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

namespace thalweg::bench {

std::vector<Workload> unstructured_workloads() {
    const std::vector<std::string> volume{"level", "column"};
    // The number of cells is that of MPAS at 3 km; the fields are invented.
    Workload w{"atmosphere-3km",
               "a global atmosphere of 3 km, 41,943,042 columns x 80, 57 GB; a thousandth of it",
               {{"level", 80, 'z'}, {"column", 41943042, 'x'}},
               {{"column"}},
               1,
               0,
               {{"T", 4, Element::f4, volume, volume, true},
                {"H", 20, Element::f4, {"column"}, {"column"}}}};
    w.scale = 0.001;
    return {w};
}

}  // namespace thalweg::bench
