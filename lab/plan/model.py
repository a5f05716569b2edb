# SPDX-License-Identifier: Apache-2.0
"""The cost of an output step: the time of each part of the work, and the part that the model waits
for with each service. Closed formulas of a few numbers, for any number of ranks.

`work` is what lab/plan/shares/work.hpp describes; `machine` and `folder` are those of machine.py.
"""

import math
from types import SimpleNamespace

from machine import rate_of

# The library combines the messages of a node's ranks from this number of packets for each rank, if
# they are smaller on average than this number of bytes (comm/node_exchange.hpp).
COMBINED_PACKETS, COMBINED_BYTES = 6, 64 << 10


def per_node(work):
    """Returns the number of ranks of a node."""
    return math.ceil(work.ranks / work.nodes)


def pass_seconds(machine, work, rank_bytes):
    """Returns the seconds in which each rank of a node processes a number of bytes. If there are
    fewer cores than ranks, they share the cores."""
    ranks = per_node(work)
    turns = math.ceil(ranks / work.cores)
    return max(turns * rank_bytes / machine.pack, ranks * rank_bytes / machine.pack_node)


def rate_of_servers(machine, folder, durable):
    """Returns the rate of all servers together; 0 if it is unknown because writers or nodes limited
    the measured rates."""
    near = 0.9
    rate = folder.durable if durable else folder.rate
    most = max(rate)
    writers = rate[0] * folder.writers[-1] / folder.writers[0]
    nodes = folder.node_rate * machine.nodes
    return 0 if most > near * writers or (nodes > 0 and most > near * nodes) else most


def server_seconds(machine, folder, work):
    """Returns the seconds that the server with most blocks needs, if all are equally fast."""
    rate = rate_of_servers(machine, folder, work.durable)
    if folder.locks <= 0 or work.blocks <= 0 or rate <= 0:
        return 0
    blocks = math.ceil(work.blocks / folder.locks)
    return blocks * (work.bytes / work.blocks) / (rate / folder.locks)


def lock_seconds(folder, work):
    """Returns the seconds of waiting for blocks.

    A lock server passes on one block at a time; a writer waits for all blocks of a piece at once.
    Writers go through the file in the same order, so they wait for each other in each piece. Shared
    blocks are distributed over the servers at random, so one server has more than the mean.
    """
    if folder.locks <= 0:
        return work.locked * folder.lock
    if work.shared <= 0:
        return 0
    rounds = max(1, work.requests)
    blocks = rounds * math.ceil(work.blocks / rounds / folder.locks)
    part = min(1, work.shared / work.blocks)
    chance = math.sqrt(2 * blocks * part * (1 - part) * math.log(folder.locks))
    return min(blocks * part + chance, blocks) * work.handovers * folder.lock


def exchange_seconds(machine, work):
    """Returns the seconds in which all ranks send at once what they have queued for writers on
    other nodes. If there would be many small messages, each node combines those of its ranks."""
    if work.nodes == 1:
        return 0
    ranks = per_node(work)
    out = work.sent / ranks  # bytes that a rank sends
    # If data are distributed evenly, each rank of a node has some for each writer on another node.
    even = work.bytes * (work.nodes - 1) / work.nodes
    senders = min(1, work.sent * work.nodes / even) if even > 0 else 0
    packets = senders * work.writers * work.met / work.nodes
    remote = max(work.sent, work.received)
    seconds = out / machine.pack + remote / machine.message
    if packets >= COMBINED_PACKETS and out < packets * COMBINED_BYTES:
        return seconds + 2 * remote / machine.inside + ranks * machine.latency
    return seconds + senders * work.met * ranks * machine.latency


def cost_of(machine, folder, work):
    """Returns the seconds that each stage of an output step takes."""
    c = SimpleNamespace()
    depth = 2 * math.ceil(math.log2(max(1, work.nodes)))  # messages of an agreement, one by one
    c.agree = 2 * work.passes * (machine.agree + depth * machine.latency)
    c.metadata = folder.call + folder.request + work.files * (folder.create + folder.rename)

    # All writers of a node receive their pieces at the same time, and then pass them to the disk at
    # the same time. Each waits until all of these pieces have left the node.
    active = work.active if work.active > 0 else max(1, work.writers)

    def rate(writers, nodes):
        together = rate_of(folder, writers, work.durable)
        return min(together, nodes * folder.node_rate) if folder.node_rate > 0 else together

    nodes = min(active, work.writer_nodes)
    together = rate(active, nodes)
    one = max(rate(1, 1), together / active)  # a writer with more data writes the excess alone
    writers_on_node = math.ceil(active / max(1, nodes))
    others = (writers_on_node - 1) / machine.message if folder.node_rate > 0 else 0
    c.write = work.calls * folder.call + work.stored * work.writer_bytes / one
    c.leave = work.stored * work.writer_bytes * others
    c.disk = work.stored * max(work.bytes / together, server_seconds(machine, folder, work))
    c.first = work.stored * min(work.piece, work.writer_bytes) * (1 / one + others)

    # The disk begins with the pieces of the first round when that round has its blocks, and with
    # those of the last round when all blocks have been passed on.
    c.lock = lock_seconds(folder, work)
    rounds = max(1, work.requests)
    c.idle = work.waiting * max(c.lock / rounds, c.lock - c.disk * (1 - 1 / rounds))

    c.copy = pass_seconds(machine, work, work.rank_bytes) if work.copied else 0
    turns = math.ceil(per_node(work) / work.cores)
    packed = max(work.rank_bytes, work.packed)
    c.pack = pass_seconds(machine, work, packed) + turns * work.runs * machine.run
    # With more writers, it is more likely that one of them is among the ranks for which others
    # wait.
    on_node = math.ceil(work.writers / work.writer_nodes)
    writing = min(1, on_node / per_node(work))
    own = work.rank_bytes + writing * (packed - work.rank_bytes)
    c.own = own / machine.pack + work.runs * machine.run
    runs = work.runs * work.ranks / work.writers  # in the share of a writer
    c.compose = work.writer_bytes / machine.pack + runs * machine.run
    compressing = math.ceil(on_node / work.cores) * work.writer_bytes / machine.compress
    c.compress = compressing if work.compressed else 0
    # MPI-IO sends the data once more, to the ranks that it chooses to write.
    again = work.bytes / work.nodes / machine.message if work.nodes > 1 else 0
    rounds = work.rounds * (c.agree / 2 + folder.call + folder.request) + again
    c.rounds = rounds if work.rounds > 0 else 0
    c.exchange = c.message = c.unpack = 0
    if work.exchanged:
        c.exchange = exchange_seconds(machine, work)
        c.message = max(work.received, work.sent) / machine.message
        c.message += work.messages * machine.latency
        c.unpack = work.unpacked / machine.pack
        if work.writer_bytes > 0:
            c.unpack += runs * machine.run * min(1, work.unpacked / work.writer_bytes)
    # Writers that wait for blocks send their pieces at different times, so they do not wait for
    # each other as well.
    c.held_up = max(c.lock, c.leave)
    return c


def read_seconds(machine, folder, work):
    """Returns the seconds in which all ranks read what they hold, if reading is as fast as writing:
    work.writers readers read and exchange the data, or each rank reads its own."""
    c = cost_of(machine, folder, work)
    seconds = c.agree + max(c.write, c.disk)
    return seconds + c.message + c.pack if work.exchanged else seconds


def inline_outcome(c, compute):
    """Returns the times that the model sees if its own calls write.

    calls: seconds in calls, without waits for queues; behind: seconds of writing while the model
    computes; slower: seconds by which computing takes longer; period: from one output to the next;
    hidden: part of the output's time that the model does not wait for.
    @param compute: seconds of computing between two outputs
    """
    # A writer packs its part and runs its later stages one after another. Meanwhile the other ranks
    # pack and the disks write, unless all wait for the same blocks.
    writer = c.own + c.message + c.unpack + c.compress + c.write + c.held_up
    calls = c.agree + c.copy + max(c.pack, writer, c.disk + c.idle) + c.first + c.rounds
    calls += c.metadata
    return SimpleNamespace(calls=calls, behind=0, slower=0, period=compute + calls, hidden=0)


def queued_outcome(c, work, calls, writer, compute, slower, hides):
    """Returns the times that the model sees if a service writes while it computes.

    @param calls: seconds in calls; writer: seconds of the busiest writer; slower: see above, from
        the seconds until all is written; hides: seconds that can hide the output, from `slower`
    """
    behind = max(writer, c.disk + c.idle) + c.first + c.metadata
    if work.room < 1:
        # Data that do not fit into the queues wait until earlier data are written; meanwhile the
        # other writers begin one after another.
        alone = max(writer * work.crowd, c.disk * (1 + work.crowd) / 2)
        waits = min(behind, (1 - work.room) * alone)
        calls = max(calls, waits)
        behind -= waits
    period = max(compute + slower + calls, behind)
    whole, seen = calls + behind, max(0, period - hides)
    hidden = min(max(1 - seen / whole, 0), 1) if whole > 0 else 0
    return SimpleNamespace(
        calls=calls, behind=behind, slower=slower, period=period, hidden=hidden
    )  # fmt: skip


def background_outcome(c, folder, work, compute, free_core):
    """Returns the times with threads that write.

    @param free_core: each thread has a core on which no rank computes
    """
    calls = c.pack + (c.agree + c.exchange if work.nodes > 1 else 0)
    writing, own = c.write + c.held_up, c.compose + c.compress
    slower = 0 if free_core else own + folder.processor * max(writing, c.disk - own)
    return queued_outcome(c, work, calls, own + writing, compute, slower, compute)


def servers_outcome(machine, c, work, compute, extra):
    """Returns the times with work.writers servers on work.writer_nodes nodes.

    @param extra: servers run on cores on which no rank computes; otherwise they are ranks of the
        model, and the other work.ranks ranks do all the computing
    """
    calls = c.pack
    # Ranks on nodes without a server send their data to other nodes themselves, but only to few.
    without = work.nodes - work.writer_nodes
    if without > 0:
        node = per_node(work) * work.rank_bytes
        into = work.bytes * without / work.nodes / work.writer_nodes
        calls += max(node, into) / machine.message + work.writers * machine.latency
    server = c.message + c.unpack + c.compose + c.compress + c.write + c.held_up
    slower = 0 if extra else compute * work.writers / work.ranks
    return queued_outcome(c, work, calls, server, compute, slower, compute + slower)


def inline_memory(work, run):
    """Returns the bytes that output needs on the busiest rank and the busiest node."""
    rank = run.buffer if work.exchanged else run.piece
    if work.copied:
        rank += min(work.rank_bytes, run.staging)
    return SimpleNamespace(rank=rank, node=per_node(work) * rank)


def queued_memory(work, run, arrived):
    """Returns the same with a service.

    @param arrived: number of steps whose data from other nodes can wait at the writers
    """
    rank = min(2 * work.rank_bytes, run.staging)
    writers = math.ceil(work.writers / work.writer_nodes)
    node = per_node(work) * rank + writers * run.piece + arrived * work.received
    return SimpleNamespace(rank=rank, node=node)
