// The simulated machine and the meaning of its numbers. The platform is made from them, and the
// simulated storage takes time according to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::scale {

struct Machine {
    std::string name = "tree";
    // Nodes, and their network: a fat tree with two levels.
    double nodes = 128, cores = 32;
    double leaf = 16;        ///< nodes per leaf switch
    double uplinks = 8;      ///< uplinks per leaf switch
    double link = 12.5e9;    ///< bytes per second of a link in each direction; 0: messages take no
                             ///< time
    double hop = 0.5e-6;     ///< seconds
    double loopback = 20e9;  ///< bytes per second of messages inside a node
    double copy = 5e8;       ///< elements per second that a rank copies
    double run = 5e-9;       ///< seconds that a run of an index list takes in addition to its
                             ///< elements
    double jitter = 0.05;    ///< largest random fraction by which copying takes longer
    double wake = 5e-6;      ///< seconds until a rank that sleeps on shared memory runs again
    double futex = 1.5e-6;   ///< seconds of a call that wakes
    double rouse = 5e-6;     ///< seconds of that call for each rank that sleeps
    double update = 0.1e-6;  ///< seconds of a change of a cache line that several ranks change
    // Storage: object servers with targets, over which the stripes of a file are distributed.
    double servers = 0;       ///< number of servers; 0: writing takes only the time of the calls
    double targets = 0;       ///< storage targets, on all servers together
    double target = 500e6;    ///< bytes per second of a target
    double client = 4e9;      ///< bytes per second between a node and the storage
    double writer = 1e9;      ///< bytes per second that one rank sends to the storage
    double flight = 8 << 20;  ///< bytes that a rank can send before targets have stored earlier
                              ///< ones
    double stripe = 1 << 20;  ///< bytes
    double stripes = 0;       ///< stripes per file; 0: one per target
    double call = 2e-6;       ///< seconds of a write call
    double rpc = 0.5e-3;      ///< seconds that a request to a server takes in addition to its bytes
    /// Seconds in which the lock of a stripe passes from one node to another.
    double lock = 1e-3;
    double metadata = 0;  ///< operations (create, open, close) per second; 0: no limit
};

/// Returns the machine that the environment describes: SCALE_MACHINE names one (tree, parallel,
/// slow), and SCALE_SET="name=value, ..." changes its numbers. Throws std::invalid_argument for
/// unknown names.
const Machine& machine();

/// Returns names and values in the form that SCALE_SET takes.
std::vector<std::pair<std::string, double>> numbers_of(const Machine& machine);

}  // namespace thalweg::scale
