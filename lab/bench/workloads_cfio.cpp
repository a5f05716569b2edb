// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

namespace thalweg::bench {
namespace {

const std::vector<std::string> plane{"lat", "lon"};
const std::vector<std::string> volume{"depth", "lat", "lon"};

/// A test program of Huang et al. 2014, section 5.4: 2-D arrays of doubles.
Workload program(std::string name, std::string text, std::int64_t nlon, std::int64_t nlat,
                 int variables) {
    Workload w{std::move(name),
               std::move(text),
               {{"lat", nlat, 'y'}, {"lon", nlon, 'x'}},
               {{"lat"}, {"lon"}},
               2,
               1,
               {{"V", variables, Element::f8, plane, plane, true}}};
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

}  // namespace

std::vector<Workload> cfio_workloads() {
    return {
        program("cfio-1",
                "CFIO program 1, 4096 x 2048 f8, 34 GB, cut in x and y; 4 of its 500 variables",
                4096, 2048, 500),
        // The paper only says that the second program writes 3.2 GB in a step. Its fields are small
        // here, so that a step can have any size.
        program("cfio-2", "CFIO program 2, 1024 x 1024 f8, 3.2 GB a step; 4 of its 384 variables",
                1024, 1024, 384),
        model("pop", "POP's hourly history, 3600 x 2400 x 40, 5.6 GB; a tenth of its grid",
              {{"depth", 40, 'z'}, {"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"T", 4, Element::f4, volume, volume, true}, {"H", 3, Element::f4, plane, plane}},
              0.1, 8.8),
        model("pop-restart", "POP's restart, f8, 22 GB a day; a tenth of its grid",
              {{"depth", 40, 'z'}, {"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"R", 8, Element::f8, volume, volume, true}, {"P", 3, Element::f8, plane, plane}},
              0.1, 8.8),
        model("cice", "CICE's daily history, 3600 x 2400, 2.0 GB; a quarter of its grid",
              {{"lat", 2400, 'y'}, {"lon", 3600, 'x'}},
              {{"H", 58, Element::f4, plane, plane, true}}, 0.25, 4.2),
        model("licom", "LICOM's daily history, 3602 x 1683 x 55, 13 GB; a tenth of its grid",
              {{"depth", 55, 'z'}, {"lat", 1683, 'y'}, {"lon", 3602, 'x'}},
              {{"T", 10, Element::f4, volume, volume, true}, {"H", 2, Element::f4, plane, plane}},
              0.1, 1.07),
    };
}

}  // namespace thalweg::bench
