// Fixtures for the tests of services: the services that a number of ranks allows, and sessions with
// each of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sched.h>

#include <functional>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace services {

inline std::string folder;

inline std::string path_of(const std::string& name) { return folder + "/" + name; }

// A service that this number of ranks permits, as settings of a session and of a file.
struct Service {
    std::string session, file;
};
inline std::vector<Service> all_services() {
    std::vector<Service> all{{"", "service=background"},
                             {"node_size=2", "service=background; writers=1/node"},
                             {"", "service=background; writers=3"}};
    if (check::state.size > 1) all.push_back({"servers=1", "service=servers"});
    if (check::state.size > 3) all.push_back({"servers=2; node_size=2", "service=servers"});
    // some nodes have no server
    if (check::state.size > 4) all.push_back({"servers=1; node_size=2", "service=servers"});
    if (check::state.size > 4) all.push_back({"servers=2:last; node_size=2", "service=servers"});
    return all;
}

// Runs a function on the model's ranks, in a session with each service.
inline void with_services(const std::function<void(Model&, const std::string& file)>& body,
                          const std::string& more = "", int ends_with = TW_OK) {
    for (const Service& s : all_services()) {
        const std::string step = check::state.step;
        check::step("{} with {}; {}", step, s.session, s.file);
        {
            Model model(MPI_COMM_WORLD, "log=off; " + s.session + "; " + more);
            if (model) body(model, s.file);
            model.end(ends_with);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check::step(step);
    }
}

// Returns the service that service=auto chooses without servers. The writing thread needs a
// processor that no rank of the job uses; all ranks are on this node.
inline std::string automatic() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return CPU_COUNT(&mask) > ranks ? "background" : "inline";
}

// In services_queues.cpp:
void memory_of_the_next_file();
void small_queue();
void slow_disk();
void sync_with_slow_disk();
void syncs_within_a_step();
// In services_failures.cpp:
void finalize_with_open_files();
void summary_meanwhile();
void close_that_fails();
void apart();
void missing();

}  // namespace services
