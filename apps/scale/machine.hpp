// The machine that is simulated: what its numbers mean. The platform is made of them, and the
// simulated storage charges by them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::scale {

struct Machine {
    std::string name = "tree";
    // Nodes and their network: a fat tree of two levels.
    double nodes = 128, cores = 32;
    double leaf = 16;        ///< nodes of a leaf switch
    double uplinks = 8;      ///< of a leaf switch
    double link = 12.5e9;    ///< bytes a second of a link, each way; 0: messages take no time
    double hop = 0.5e-6;     ///< seconds
    double loopback = 20e9;  ///< bytes a second of messages inside a node
    double copy = 5e8;       ///< elements a second that a rank copies
    double run = 5e-9;       ///< seconds of a run of a list of indices, besides its elements
    double jitter = 0.05;    ///< part by which copying takes longer at most, as if by chance
    double wake = 5e-6;      ///< seconds until a rank that sleeps on shared memory runs
    // Storage: object servers with targets, over which the stripes of a file go round.
    double servers = 0;       ///< 0: writing takes nothing but calls
    double targets = 0;       ///< of all servers
    double target = 500e6;    ///< bytes a second of a target
    double client = 4e9;      ///< bytes a second of a node
    double writer = 1e9;      ///< bytes a second that one rank hands over
    double flight = 8 << 20;  ///< bytes that a rank may have handed over before targets have them
    double stripe = 1 << 20;  ///< bytes
    double stripes = 0;       ///< of a file; 0: on all targets
    double call = 2e-6;       ///< seconds of a write call
    double rpc = 0.5e-3;      ///< seconds of a request to a server, besides its data
    double lock = 1e-3;       ///< seconds in which a stripe goes from one node to another
    double metadata = 0;      ///< operations a second: create, open, close; 0: no limit
};

/// By the environment: SCALE_MACHINE names one (tree, parallel, slow), and SCALE_SET="name=value,
/// ..." changes its numbers. Throws std::invalid_argument for what there is not.
const Machine& machine();

/// Names and values, as SCALE_SET has them.
std::vector<std::pair<std::string, double>> numbers_of(const Machine& machine);

}  // namespace thalweg::scale
