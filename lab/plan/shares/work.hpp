// The work of an output step, from which lab/plan/model.py predicts its cost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

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
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Work, ranks, nodes, cores, writers, writer_nodes, active, bytes,
                                   rank_bytes, packed, writer_bytes, calls, piece, requests, passes,
                                   room, crowd, locked, waiting, blocks, shared, handovers,
                                   received, sent, unpacked, messages, met, files, rounds, runs,
                                   stored, compressed, exchanged, copied, durable)
};

}  // namespace thalweg::planning
