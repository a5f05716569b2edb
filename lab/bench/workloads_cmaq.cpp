// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

namespace thalweg::bench {
namespace {

/// A concentration file of CMAQ (Wong et al. 2014, section 4.2): one variable per species. The
/// order in memory and in the file is the same, with columns fastest. The process grid is given as
/// columns x rows, as in the paper.
Workload cmaq(std::string name, std::string text, std::int64_t columns, std::int64_t rows,
              std::int64_t layers, int species, int by_default) {
    const std::vector<std::string> order{"lay", "row", "col"};
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

}  // namespace

std::vector<Workload> cmaq_workloads() {
    return {
        cmaq("cmaq-ca", "CMAQ California, 89 x 134 x 35, 146 species, 244 MB a step", 89, 134, 35,
             146, 146),
        cmaq("cmaq-eus", "CMAQ eastern US, 279 x 299 x 35, 1.7 GB; 24 of its 146 species", 279, 299,
             35, 146, 24),
        cmaq("cmaq-conus", "CMAQ continental US, 459 x 299 x 35, 2.8 GB; 16 of its 146 species",
             459, 299, 35, 146, 16),
        cmaq("cmaq-4km", "CMAQ eastern US at 4 km, 423 x 594 x 14, 2.0 GB; 20 of its 142 species",
             423, 594, 14, 142, 20),
    };
}

}  // namespace thalweg::bench
