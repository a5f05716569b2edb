// Tests bad input: a clear error, the same on every rank, no hang, and no loss of good data.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: bad_input [--only NAME] [--settings "..."] [--keep]
// Every test runs with several methods, drivers and node sizes. A collective call must give the
// same code and text on all ranks; the texts must contain the words that a user needs to find the
// mistake: file, variable, rank, value.

#include "bad_input.hpp"
#include "system/pnetcdf.hpp"

using namespace bad_input;  // NOLINT: the groups of tests that this program runs

namespace {

struct Test {
    const char* name;
    void (*run)();
};

const std::vector<Test> tests{{"decompositions", decompositions},
                              {"settings", settings},
                              {"paths", paths},
                              {"in_use", in_use},
                              {"definitions", definitions},
                              {"disagreements", disagreements},
                              {"puts", puts},
                              {"missing", missing},
                              {"collective_puts", collective_puts},
                              {"late_attributes", late_attributes},
                              {"values_out_of_range", values_out_of_range},
                              {"header_limit", header_limit},
                              {"sessions", sessions}};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string root = check::make_folder("bad_input");
    const std::string only = check::option(argc, argv, "--only", "");
    std::vector<std::string> sets{"",
                                  "method=record; node_size=2; writers=1/node",
                                  "method=slabs; writers=3; node_size=3",
                                  "method=serial",
                                  "method=direct",
                                  "storage=" PNETCDF_BLOCKING,
                                  "storage=" PNETCDF "; method=direct; node_size=1"};
    if (check::has_flag(argc, argv, "--settings"))
        sets = {check::option(argc, argv, "--settings", "")};
    for (const std::string& set : sets) {
        base_settings = set;
        folder = root + "/set" + std::to_string(&set - sets.data());
        if (rank() == 0) ::mkdir(folder.c_str(), 0777);
        MPI_Barrier(MPI_COMM_WORLD);
        for (const Test& test : tests) {
            if (!only.empty() && only != test.name) continue;
            check::state.test = std::string(test.name) + " [" + set + "]";
            test.run();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    if (check::has_flag(argc, argv, "--keep")) check::state.folders.clear();
    return check::verdict("bad_input");
}
