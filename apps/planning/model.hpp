// The cost of an output step: the time of each part of the work, and the part that the model waits
// for with each service. Closed formulas of a few numbers, for any number of ranks. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "planning/machine.hpp"

namespace thalweg::planning {

/// The work of one output step. "Busiest" is the rank, writer or node that has most of it.
struct Work {
    int ranks = 1, nodes = 1;  ///< of the model
    int cores = 1;             ///< per node
    int writers = 1;
    int writer_nodes = 1;     ///< number of nodes with writers
    double active = 0;        ///< writers that write at the same time; 0: all
    double bytes = 0;         ///< of all variables
    double rank_bytes = 0;    ///< held by the busiest rank
    double packed = 0;        ///< bytes packed one after another by the ranks that others wait for
    double writer_bytes = 0;  ///< share of the busiest writer
    double calls = 0;         ///< writes of the busiest writer
    double piece = 2 << 20;   ///< bytes that a writer receives and writes at a time
    double requests = 0;      ///< pieces of the busiest writer, each written by one call or more
    double passes = 1;        ///< times that all ranks write together
    double room = 1;          ///< fraction of the step that fits into the queues
    double crowd = 1;         ///< one writer in so many has data at the front of the queues
    double locked = 0;        ///< blocks of the busiest writer that other nodes write, too
    double waiting = 0;       ///< fraction of all pieces that lie in such blocks
    double blocks = 0;        ///< lock blocks of all variables
    double shared = 0;        ///< blocks that several nodes write
    double handovers = 0;     ///< times that each of those passes from node to node
    double received = 0;      ///< bytes that the busiest node receives from other nodes
    double sent = 0;          ///< bytes that the busiest node sends to other nodes
    double unpacked = 0;      ///< bytes from other nodes that the writers unpack one after another
    double messages = 0;      ///< messages of the busiest writer or sender between nodes
    double met = 0;           ///< mean number of nodes that a writer's data come from
    double files = 1;         ///< created per step
    double rounds = 0;        ///< calls of MPI-IO that all ranks make together
    double runs = 0;          ///< of consecutive elements, in the lists of the busiest rank
    double stored = 1;        ///< part of the bytes that is left by compressing
    bool compressed = false;  ///< by the writers
    bool exchanged = true;    ///< else each writer writes what it holds
    bool copied = true;       ///< tw_put copies; a deferred put does not
    bool durable = false;
};

/// Seconds of the stages of an output step.
struct Cost {
    double agree = 0;     ///< two agreements of all ranks
    double copy = 0;      ///< copies in tw_put
    double pack = 0;      ///< packing and conversion by a node's ranks
    double own = 0;       ///< part of `pack` that the writer does itself
    double message = 0;   ///< messages between nodes
    double exchange = 0;  ///< exchange of queued data between nodes, all at once
    double unpack = 0;    ///< unpacking of other nodes' data by the writer
    double compose = 0;   ///< putting queued data into file order, by the writer
    double compress = 0;  ///< compression by the writer
    double write = 0;     ///< writes of the busiest writer: calls, and passing on its bytes
    double leave = 0;     ///< waiting until the data of the node's other writers have left it
    double disk = 0;      ///< disk time of all writers together, in parallel with the above
    double first = 0;     ///< until the disk has its first data, or for the last piece
    double rounds = 0;    ///< collective calls: agreement, and MPI-IO's own exchange
    double lock = 0;      ///< waiting for other writers of the same blocks
    double idle = 0;      ///< part of `lock` while the disk is idle
    double metadata = 0;  ///< creating and renaming files, writing the record count
};

Cost cost_of(const Machine& machine, const Folder& folder, const Work& work);

/// Returns the seconds in which all ranks read what they hold: if `work.exchanged`, through the
/// exchange, from `work.writers` readers; else each for itself. Reading is assumed to be as fast as
/// writing.
double read_seconds(const Machine& machine, const Folder& folder, const Work& work);

/// The time of an output step as the model sees it.
struct Outcome {
    double calls = 0;   ///< seconds in the library's calls, without waiting for queues
    double behind = 0;  ///< seconds of writing while the model computes
    double slower = 0;  ///< seconds that computing takes longer because the library uses cores
    double period = 0;  ///< seconds from one output to the next
    /// Fraction of the output's time that the model does not wait for, from 0 to 1.
    double hidden = 0;
};

/// @param compute  seconds of computation between two outputs
Outcome inline_outcome(const Cost& cost, double compute);

/// @param free_core  each writing thread has a core that no rank computes on
Outcome background_outcome(const Cost& cost, const Folder& folder, const Work& work, double compute,
                           bool free_core);

/// @param servers  number and nodes are those of work.writers and work.writer_nodes
/// @param extra    servers run on cores that no rank computes on; else they are taken from the
///                 model, whose other work.ranks ranks do all the computing
Outcome servers_outcome(const Machine& machine, const Cost& cost, const Work& work, double compute,
                        bool extra);

/// Bytes of memory that output needs besides the model's arrays.
struct MemoryUse {
    double rank = 0;  ///< of the busiest model rank
    double node = 0;  ///< of the busiest node, with its writers or servers
};

/// Settings that limit memory, in bytes.
struct Limits {
    double buffer = 8 << 20, staging = 256 << 20, piece = 2 << 20;

    bool operator==(const Limits&) const = default;
};

MemoryUse inline_memory(const Work& work, const Limits& limits);
/// @param arrived  steps of other nodes' data that can wait at the writers
MemoryUse queued_memory(const Work& work, const Limits& limits, int arrived);

}  // namespace thalweg::planning
