// What an output step costs: the time of each part of the work, and how much of it the model waits
// for with each service. Closed formulas of a few numbers, for any number of ranks. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "planning/machine.hpp"

namespace thalweg::planning {

/// The work of one output step. "Busiest" is the rank, writer or node that has most of it.
struct Work {
    int ranks = 1, nodes = 1;  ///< of the model
    int cores = 1;             ///< of a node
    int writers = 1;
    int writer_nodes = 1;     ///< nodes on which writers are
    double active = 0;        ///< writers that write at a time; 0: all
    double bytes = 0;         ///< of all variables
    double rank_bytes = 0;    ///< held by the busiest rank
    double packed = 0;        ///< packed by the ranks that the others wait for, one after another
    double writer_bytes = 0;  ///< of the busiest writer's share
    double calls = 0;         ///< writes of the busiest writer
    double piece = 2 << 20;   ///< bytes that a writer gets and writes at a time
    double requests = 0;      ///< pieces of the busiest writer, each of one or more writes
    double passes = 1;        ///< times that the ranks meet to write together
    double room = 1;          ///< part of the step for which the queues have room
    double crowd = 1;         ///< writers for each of those whose data are at the queues' ends
    double locked = 0;        ///< blocks of the busiest writer that other nodes write, too
    double waiting = 0;       ///< part of all pieces that lie in such blocks
    double blocks = 0;        ///< of all variables, by which writes are given to servers
    double shared = 0;        ///< of these, blocks that several nodes write
    double handovers = 0;     ///< of each of those, from one node to another
    double received = 0;      ///< bytes from other nodes that the busiest node gets
    double sent = 0;          ///< bytes that the busiest node sends to others
    double unpacked = 0;      ///< bytes from other nodes that the writers unpack one after another
    double messages = 0;      ///< between nodes, of the busiest writer or sender
    double met = 0;           ///< nodes to which a writer's data come, on average
    double files = 1;         ///< created per step
    double rounds = 0;        ///< calls of MPI-IO that all ranks make together
    double runs = 0;          ///< of consecutive elements, in the lists of the busiest rank
    double stored = 1;        ///< part of the bytes that is left by compressing
    bool compressed = false;  ///< by the writers
    bool exchanged = true;    ///< else each writer writes what it holds
    bool copied = true;       ///< tw_put copies; a deferred put does not
    bool durable = false;
};

/// Seconds of an output step.
struct Cost {
    double agree = 0;     ///< all ranks agree, twice
    double copy = 0;      ///< in tw_put
    double pack = 0;      ///< a node's ranks reorder and convert what they hold
    double own = 0;       ///< of it, what the writer does itself
    double message = 0;   ///< between nodes
    double exchange = 0;  ///< between nodes, of what ranks have queued, all at once
    double unpack = 0;    ///< of what comes from other nodes, by the writer
    double compose = 0;   ///< a queue's data into file order, by the writer
    double compress = 0;  ///< by the writer
    double write = 0;     ///< by the busiest writer: calls, and handing over its bytes
    double leave = 0;     ///< waiting until what the node's other writers hand over has left it
    double disk = 0;      ///< of all writers together, while they go on
    double first = 0;     ///< until the disk has something to do, or of the last piece
    double rounds = 0;    ///< of collective calls: agreeing, and MPI-IO's own exchange
    double lock = 0;      ///< waiting for other writers of the same blocks
    double idle = 0;      ///< of it, while the disk has nothing to do
    double metadata = 0;  ///< files created and renamed, the record count
};

Cost cost_of(const Machine& machine, const Folder& folder, const Work& work);

/// Seconds in which all ranks read what they hold: by the exchange, if `work.exchanged`, from as
/// many readers as `work.writers`; else each for itself. Reading is taken to be as fast as writing.
double read_seconds(const Machine& machine, const Folder& folder, const Work& work);

/// What the model sees of an output step.
struct Outcome {
    double calls = 0;   ///< seconds in the library's calls, without waiting for room in a queue
    double behind = 0;  ///< seconds of writing while the model computes
    double slower = 0;  ///< seconds by which computing takes longer: cores that it does not get
    double period = 0;  ///< seconds from one output to the next
    /// Part of the output's time that the model does not wait for, from 0 to 1.
    double hidden = 0;
};

/// @param compute  seconds that the model computes between two outputs
Outcome inline_outcome(const Cost& cost, double compute);

/// @param free_core  whether each writing thread has a core that no rank computes on
Outcome background_outcome(const Cost& cost, const Folder& folder, const Work& work, double compute,
                           bool free_core);

/// @param servers  they are work.writers, on work.writer_nodes
/// @param extra    they run on cores that no rank computes on; else they are taken from the model,
///                 whose other work.ranks ranks compute what all did
Outcome servers_outcome(const Machine& machine, const Cost& cost, const Work& work, double compute,
                        bool extra);

/// Bytes of memory that output takes, besides the model's arrays.
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
/// @param arrived  steps of other nodes' data that may wait at the writers
MemoryUse queued_memory(const Work& work, const Limits& limits, int arrived);

}  // namespace thalweg::planning
