# SPDX-License-Identifier: Apache-2.0
"""Tests the cost model: a case computed by hand, and general properties."""

import math
from types import SimpleNamespace

import pytest
from machine import assumed_folder, assumed_machine
from model import (
    background_outcome,
    cost_of,
    inline_memory,
    inline_outcome,
    queued_memory,
    read_seconds,
    servers_outcome,
)

EMPTY = {
    "ranks": 1, "nodes": 1, "cores": 1, "writers": 1, "writer_nodes": 1, "active": 0, "bytes": 0,
    "rank_bytes": 0, "packed": 0, "writer_bytes": 0, "calls": 0, "piece": 2 << 20, "requests": 0,
    "passes": 1, "room": 1, "crowd": 1, "locked": 0, "waiting": 0, "blocks": 0, "shared": 0,
    "handovers": 0, "received": 0, "sent": 0, "unpacked": 0, "messages": 0, "met": 0, "files": 1,
    "rounds": 0, "runs": 0, "stored": 1, "compressed": False, "exchanged": True, "copied": True,
    "durable": False,
}  # fmt: skip
# 8 ranks on 2 nodes with 4 cores, and a writer on each node. Half of each writer's share comes from
# the other node.
WORK = EMPTY | {
    "ranks": 8, "nodes": 2, "cores": 4, "writers": 2, "writer_nodes": 2, "bytes": 8e8,
    "rank_bytes": 1e8, "writer_bytes": 4e8, "calls": 200, "locked": 10, "received": 2e8,
    "sent": 2e8, "unpacked": 2e8, "messages": 100, "met": 1, "piece": 1e6, "files": 0.5,
}  # fmt: skip
# Round figures, so that expected results can be computed by hand.
MACHINE = {"pack": 1e9, "pack_node": 4e9, "agree": 1e-3, "latency": 1e-3, "message": 2e9}
FOLDER = {
    "create": 0.01, "rename": 0.02, "call": 0.001, "request": 0, "lock": 0.002, "locks": 0,
    "processor": 0.5, "node_rate": 0, "writers": [1, 2, 4], "rate": [1e9, 2e9, 3e9],
    "durable": [1e8, 2e8, 2e8],
}  # fmt: skip
near = pytest.approx


def made(machine=(), folder=(), **work):
    """Returns the machine, folder and work of the case, with changes."""
    return (
        SimpleNamespace(**(vars(assumed_machine()) | MACHINE | dict(machine))),
        SimpleNamespace(**(FOLDER | dict(folder))),
        SimpleNamespace(**(WORK | work)),
    )


def cost(*changes, **work):
    return cost_of(*made(*changes, **work))


def in_calls(*changes, **work):
    return inline_outcome(cost(*changes, **work), 0).calls


def background(compute=5, free_core=True, **work):
    _, folder, changed = made(**work)
    return background_outcome(cost(**work), folder, changed, compute, free_core)


def servers(extra, **work):
    machine, _, changed = made(**work)
    return servers_outcome(machine, cost(**work), changed, 3, extra)


def test_by_hand():
    c = cost()
    assert c.agree == near(2 * (1e-3 + 2e-3))  # up and down a tree of two nodes, twice
    assert c.copy == near(0.1)  # 1e8 bytes per rank at 1e9 bytes/s; 4e8 per node at 4e9
    assert c.pack == c.own == near(0.1)
    assert c.message == near(0.1 + 0.1)  # 2e8 bytes at 2e9 bytes/s, and 100 messages
    assert c.unpack == near(0.2) and c.compose == near(0.4)
    assert c.write == near(0.2 + 0.4)  # 200 calls, and 4e8 bytes at 1e9 bytes/s
    assert c.disk == near(0.4)  # 8e8 bytes at 2e9 bytes/s
    assert c.first == near(0.001)  # one piece of 1e6 bytes at 1e9 bytes/s
    assert c.lock == near(0.02)
    # Each rank copies 5e7 bytes once more, each node sends 2e8 bytes at 2e9 bytes/s, and each rank
    # there gets a message.
    assert c.exchange == near(0.05 + 0.1 + 0.004)
    assert c.metadata == near(0.001 + 0.015)
    o = inline_outcome(c, 5)
    assert o.calls == near(0.006 + 0.1 + (0.1 + 0.2 + 0.2 + 0.6 + 0.02) + 0.001 + 0.016)
    assert o.period == near(5 + o.calls) and o.hidden == 0
    o = background()
    assert o.calls == near(0.1 + 0.006 + 0.154)
    assert o.behind == near(0.4 + 0.6 + 0.02 + 0.001 + 0.016)
    assert o.period == near(5 + o.calls)
    assert o.hidden == near(o.behind / (o.calls + o.behind))


def test_compression_and_collective_calls():
    machine = {"compress": 1e8}
    work = {"compressed": True, "stored": 0.25, "rounds": 3}
    plain, c = cost(), cost(machine, **work)
    assert c.compress == near(4)  # 4e8 bytes at 1e8 bytes/s
    assert c.write == near(0.2 + 0.4 * 0.25)  # the same number of calls, fewer bytes
    # Each round has an agreement and a call; half of the bytes are sent between nodes once more.
    assert c.rounds == near(3 * (3e-3 + 1e-3) + 0.2)
    less = 0.3 + plain.first * 0.75
    assert in_calls(machine, **work) == near(in_calls() + c.compress + c.rounds - less)
    # Eight writers share the four cores of a node.
    assert cost(machine, **work, writers=16).compress == near(8)


def test_each_server_hands_over_a_block_at_a_time():
    # If the number of servers is unknown, blocks pass one after another for each writer.
    assert cost().lock == near(10 * 0.002)
    four = {"locks": 4}
    assert cost(folder=four).lock == 0  # no block is shared by nodes
    # Eighteen blocks on four servers: one server has five of them, and passes each to two more
    # nodes. If only some are shared, one server has more than others by chance, but at most five.
    work = {"blocks": 18, "handovers": 2, "requests": 1}
    by_chance = 2.5 + math.sqrt(2 * 5 * 0.5 * 0.5 * math.log(4))
    for shared, most in ((18, 5), (9, by_chance), (17, 5)):
        assert cost(folder=four, shared=shared, **work).lock == near(most * 2 * 0.002)
    assert cost(folder={"locks": 1}, shared=17, **work).lock == near(17 * 2 * 0.002)


@pytest.mark.parametrize(("requests", "blocks"), [(1, 8), (8, 8), (16, 16)])
def test_writers_meet_in_the_blocks_of_each_piece(requests, blocks):
    work = {"blocks": 32, "shared": 32, "handovers": 2, "requests": requests}
    assert cost(folder={"locks": 4}, **work).lock == near(blocks * 2 * 0.002)


def test_disks_stand_still_where_all_wait_for_the_same_blocks():
    work = {  # the disk is the slowest stage
        "writer_bytes": 1e6, "unpacked": 0, "messages": 0, "calls": 0, "received": 0, "sent": 0,
        "locked": 0,
    }  # fmt: skip
    none = in_calls(**work)
    folder = {"locks": 1}
    work |= {"blocks": 100, "shared": 100, "handovers": 1, "requests": 1, "waiting": 0.5}
    assert cost(folder=folder, **work).lock == near(0.2)
    assert cost(folder=folder, **work).disk == near(0.4)
    assert in_calls(folder=folder, **work) == near(none + 0.5 * 0.2)
    # With several rounds, the disk writes one round while writers wait for the blocks of the next.
    work["requests"] = 4
    assert in_calls(folder=folder, **work) == near(none + 0.5 * 0.2 / 4)
    assert cost(folder={"locks": 1, "lock": 0.01}, **work).idle == near(0.5 * (1 - 0.4 * 3 / 4))


def test_the_server_with_most_blocks_is_waited_for():
    # 64 writers are only 4 times as fast as one, so the servers limit the rate to 4e9.
    folder = {"writers": [1, 64], "rate": [1e9, 4e9], "locks": 4}
    assert cost(folder=folder, writers=64, blocks=8).disk == near(0.2)
    # One of the servers has three blocks, and a quarter of the rate.
    three = near(3 * (8e8 / 9) / 1e9)
    assert cost(folder=folder, writers=64, blocks=9).disk == three
    # If writers or nodes limit the rate, the limit of the servers is unknown.
    nodes = {"nodes": 2}
    assert cost(nodes, folder | {"node_rate": 2e9}, writers=64, blocks=9).disk == near(0.2)
    assert cost(nodes, folder | {"node_rate": 4e9}, writers=64, blocks=9).disk == three
    folder |= {"node_rate": 4e9, "rate": [1e8, 6.4e9]}
    assert cost(nodes, folder, writers=64, blocks=9).disk == near(8e8 / 6.4e9)


def test_one_answer_of_the_servers_is_waited_for():
    c = cost(folder={"request": 0.01}, requests=4)
    assert c.write == near(cost().write) and c.metadata == near(cost().metadata + 0.01)


def test_writers_of_a_node_wait_for_each_other_to_leave_it():
    work = {"writers": 4, "writer_bytes": 2e8, "locked": 0}  # two writers on each node
    assert cost(**work).leave == 0  # the rate out of a node is unknown
    folder = {"node_rate": 1e12}
    c = cost(folder=folder, **work)
    assert c.write == near(0.2 + 0.2)
    assert c.leave == near(2e8 / 2e9)  # the bytes of the node's other writer
    assert c.first == near(1e6 * (1e-9 + 0.5e-9))
    without = in_calls(folder=folder, **work)
    # Waiting for 25 blocks takes less than the wait for the other writer's bytes, at the same time.
    assert in_calls(folder=folder, **work | {"locked": 25}) == near(without)
    assert in_calls(folder=folder, **work | {"locked": 100}) == near(without + 0.1)


def test_the_ranks_wait_for_the_one_that_packs_most():
    assert cost(packed=3e8).pack == near(3 * cost().pack)
    # One of four ranks writes. With a probability of a quarter it is the rank that packs most.
    assert cost(packed=3e8).own == near(0.1 + 0.25 * 0.2)
    assert cost(packed=3e8, writers=8).own == near(0.3)


def test_small_packets_go_by_nodes():
    machine = {"inside": 1e9}
    work = {"writers": 8, "nodes": 4, "ranks": 64, "met": 3, "sent": 1e6, "received": 1e6}
    even = 4e6 * 4 / 3  # data are distributed evenly
    # Each rank has 6 packets. They are copied into the message of its node, and out of those of
    # other nodes.
    wanted = 1e6 / 16 / 1e9 + 1e6 / 2e9 + 2 * 1e6 / 1e9 + 16 * 1e-3
    assert cost(machine, bytes=even, **work).exchange == near(wanted)
    work |= {"sent": 1e9, "received": 1e9, "bytes": 1000 * even}
    assert cost(machine, **work).exchange == near(1e9 / 16 / 1e9 + 1e9 / 2e9 + 3 * 16 * 1e-3)
    assert cost(machine, **work | {"nodes": 1}).exchange == 0


def test_what_the_queue_has_no_room_for_is_waited_for():
    roomy, tight = background(), background(room=0.75)
    assert tight.calls == near(max(roomy.calls, 0.25 * 1.02))
    assert tight.behind == near(roomy.behind - 0.25 * 1.02)
    # One of two writers has its data in the queue first.
    assert background(room=0.75, crowd=2).calls == near(0.25 * 2.04)


def test_runs_of_lists_take_time():
    plain, c = cost(), cost({"run": 1e-6}, runs=1e5)
    assert c.pack == near(plain.pack + 0.1) and c.own == near(plain.own + 0.1)
    # A writer's share has four times as many runs as a rank's; half of its data come from other
    # nodes.
    assert c.compose == near(plain.compose + 0.4) and c.unpack == near(plain.unpack + 0.2)


def test_reading_is_the_exchange_in_reverse():
    # Both agreements, 0.2 s of messages, the reads, and unpacking.
    assert read_seconds(*made()) == near(0.006 + 0.2 + 0.6 + 0.1)
    assert read_seconds(*made(exchanged=False)) == near(0.006 + 0.6)


def test_what_the_model_sees_of_threads_and_servers():
    o = background(free_core=False)
    assert o.slower == near(0.4 + 0.5 * 0.62) and o.period == near(5 + o.calls + o.slower)
    o = background(compute=0.5)
    assert o.period == near(o.behind) and 0 < o.hidden < 1
    taken, extra = servers(False, ranks=6), servers(True, ranks=6)
    assert taken.slower == near(1)  # six ranks do the computing of eight
    assert extra.slower == 0 and taken.period == near(extra.period + 1)
    # With one server, the other node's ranks send their data themselves.
    assert servers(True, ranks=6, writers=1, writer_nodes=1).calls > extra.calls


def test_more_bytes_take_longer_and_more_writers_do_not():
    names = ("bytes", "rank_bytes", "writer_bytes", "received", "sent", "calls")
    factors = (0, 0.5, 1, 2, 8, 1000)
    times = [in_calls(**{name: WORK[name] * f for name in names}) for f in factors]
    assert times == sorted(set(times))
    lustre = assumed_folder("parallel")
    times = [
        cost_of(*made(folder=vars(lustre), nodes=64, ranks=1024, bytes=1e11, writers=n,
                      writer_nodes=n, writer_bytes=1e11 / n, calls=1e11 / n / (2 << 20))).write
        for n in (1, 2, 4, 8, 16, 32, 64)
    ]  # fmt: skip
    assert times == sorted(times, reverse=True)


def test_limits():
    none = cost(**EMPTY)  # one rank, no data
    assert none.write == none.message == 0 and math.isfinite(inline_outcome(none, 0).period)
    assert background(compute=0, **EMPTY).slower == 0
    # If one writer has all bytes, it takes as long as a single writer, however many there are.
    work = EMPTY | {"bytes": 1e9, "writer_bytes": 1e9, "writers": 4}
    assert cost(**work).write == near(1)
    assert cost(**work | {"durable": True}).write == near(10)
    assert cost(folder={"node_rate": 5e8}, **work).write == near(2)


def test_memory():
    run = SimpleNamespace(buffer=8 << 20, staging=256 << 20, piece=2 << 20)
    _, _, work = made()
    assert inline_memory(work, run).rank == near(run.buffer + 1e8)
    assert queued_memory(work, run, 1).rank == near(2e8)
    _, _, work = made(copied=False, rank_bytes=1e10)
    assert inline_memory(work, run).rank == run.buffer
    assert queued_memory(work, run, 1).rank == run.staging
    assert queued_memory(work, run, 1).node >= 4 * run.staging
