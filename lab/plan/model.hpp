// The cost of an output step: the time of each part of the work, and the part that the model waits
// for with each service. Closed formulas of a few numbers, for any number of ranks. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/machine.hpp"

namespace thalweg::planning {

/// The work of one output step. "Busiest" stands for the rank, writer or node with most of the
/// work.
struct Work {
    int ranks = 1, nodes = 1;  ///< ranks and nodes of the model
    int cores = 1;             ///< cores of a node
    int writers = 1;
    int writer_nodes = 1;     ///< number of nodes with writers
    double active = 0;        ///< number of writers that write at the same time; 0 means all
    double bytes = 0;         ///< bytes of all variables
    double rank_bytes = 0;    ///< bytes held by the busiest rank
    double packed = 0;        ///< bytes that are packed one after another by the ranks for which
                              ///< others wait
    double writer_bytes = 0;  ///< bytes of the busiest writer
    double calls = 0;         ///< number of writes of the busiest writer
    double piece = 2 << 20;   ///< size in bytes of the pieces in which a writer receives and writes
    /// Number of pieces that the busiest writer writes, each by one or more calls.
    double requests = 0;
    double passes = 1;  ///< number of times that all ranks write together
    double room = 1;    ///< fraction of a step that fits into the queues
    /// Number of all writers divided by the number that write at the same time, if the queues hold
    /// only a part of a step.
    double crowd = 1;
    double locked = 0;        ///< number of the busiest writer's blocks to which other nodes write,
                              ///< too
    double waiting = 0;       ///< fraction of all pieces that have elements in such blocks
    double blocks = 0;        ///< number of lock blocks of all variables
    double shared = 0;        ///< number of blocks to which several nodes write
    double handovers = 0;     ///< number of times that such a block passes from one node to another
    double received = 0;      ///< bytes that the busiest node receives from other nodes
    double sent = 0;          ///< bytes that the busiest node sends to other nodes
    double unpacked = 0;      ///< bytes from other nodes that writers unpack one after another
    double messages = 0;      ///< messages to other nodes of the busiest writer or sender
    double met = 0;           ///< mean number of nodes from which the data of a writer come
    double files = 1;         ///< number of files created per step
    double rounds = 0;        ///< number of calls of MPI-IO that all ranks make together
    double runs = 0;          ///< number of runs of consecutive elements in the lists of the
                              ///< busiest rank
    double stored = 1;        ///< compressed size as a fraction of the original size
    bool compressed = false;  ///< the writers compress the data
    bool exchanged = true;    ///< true: data are exchanged; false: each rank writes what it holds
    bool copied = true;       ///< true: tw_put copies; false: puts are deferred and do not copy
    bool durable = false;
};

/// Seconds that each stage of an output step takes.
struct Cost {
    double agree = 0;     ///< two agreements of all ranks
    double copy = 0;      ///< copies in tw_put
    double pack = 0;      ///< packing and conversion by a node's ranks
    double own = 0;       ///< part of `pack` that a writer itself packs
    double message = 0;   ///< messages between nodes
    double exchange = 0;  ///< exchange of all queued data between nodes at once
    double unpack = 0;    ///< unpacking of data from other nodes by a writer
    double compose = 0;   ///< sorting of queued data into file order by a writer
    double compress = 0;  ///< compression by a writer
    /// Writes of the busiest writer: the calls, and the transfer of its bytes to the disk.
    double write = 0;
    double leave = 0;  ///< waiting until the data of the node's other writers have left the node
    /// Time in which the disks write the data of all writers, at the same time as the stages above.
    double disk = 0;
    double first = 0;     ///< time until the disk gets its first data; or time for the last piece
    double rounds = 0;    ///< collective calls: agreement, and MPI-IO's own exchange
    double lock = 0;      ///< waiting for other writers that write to the same blocks
    double idle = 0;      ///< part of `lock` in which the disk is idle
    double metadata = 0;  ///< creating and renaming files, and writing the record count
};

Cost cost_of(const Machine& machine, const Folder& folder, const Work& work);

/// Returns the seconds in which all ranks read what they hold. If `work.exchanged` is true,
/// `work.writers` readers read and exchange the data; otherwise each rank reads its own data.
/// Reading is assumed to be as fast as writing.
double read_seconds(const Machine& machine, const Folder& folder, const Work& work);

/// The times of an output step that the model experiences.
struct Outcome {
    double calls = 0;   ///< seconds in the library's calls, not counting waits for queues
    double behind = 0;  ///< seconds of writing while the model computes
    double slower = 0;  ///< seconds by which computing takes longer, because the library uses the
                        ///< cores, too
    double period = 0;  ///< seconds from one output to the next
    /// Fraction of the output's time, from 0 to 1, that the model does not wait for.
    double hidden = 0;
};

/// @param compute  seconds of computation between two outputs
Outcome inline_outcome(const Cost& cost, double compute);

/// @param free_core  each thread that writes has a core on which no rank computes
Outcome background_outcome(const Cost& cost, const Folder& folder, const Work& work, double compute,
                           bool free_core);

/// @param servers  cost with work.writers servers on work.writer_nodes nodes
/// @param extra    servers run on cores on which no rank computes; otherwise they are ranks of the
///                 model, and the other work.ranks ranks do all the computing
Outcome servers_outcome(const Machine& machine, const Cost& cost, const Work& work, double compute,
                        bool extra);

/// Memory in bytes that output needs in addition to the model's arrays.
struct MemoryUse {
    double rank = 0;  ///< bytes on the busiest model rank
    double node = 0;  ///< bytes on the busiest node, including its writers or servers
};

/// Settings that limit memory, in bytes.
struct Limits {
    double buffer = 8 << 20, staging = 256 << 20, piece = 2 << 20;

    bool operator==(const Limits&) const = default;
};

MemoryUse inline_memory(const Work& work, const Limits& limits);
/// @param arrived  number of steps whose data from other nodes can wait at the writers
MemoryUse queued_memory(const Work& work, const Limits& limits, int arrived);

}  // namespace thalweg::planning
