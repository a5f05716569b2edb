# SPDX-License-Identifier: Apache-2.0
"""Tests the work of a step, and the choice of the best way to write a run.

The number of writers differs from the library's own only if that is faster by a margin, and only
for numbers that were measured. THALWEG_PLAN names the program thalweg-plan.
"""

import os
from types import SimpleNamespace

import pytest
from choice import Way, make_plan, settings_of
from machine import assumed_folder, assumed_machine
from program import Shares

MIB = 1 << 20
COUNTS = [2, 4, 8, 16, 32, 64]


def run_of(**changes):
    """Returns 64 ranks on two nodes of a parallel file system: 1 GB of levels, rows, columns."""
    machine = assumed_machine()
    # Measured figures; messages and packing take no time.
    machine.ranks, machine.message, machine.pack, machine.pack_node = 64, 1e12, 1e12, 1e12
    figures = assumed_folder("parallel")
    figures.lock = figures.node_rate = 0
    figures.writers = COUNTS
    figures.rate = figures.durable = [n * 1e8 for n in COUNTS]
    run = {
        "file": "run.toml", "ranks": 64, "nodes": 2, "cores": 32, "memory": 0, "outputs": 1000,
        "outputs_per_file": 0, "lengths": [64, 2048, 2048], "writers": "auto", "storage": "posix",
        "file_system": "lustre", "deflate": 0, "stored": 1, "list_run": 0, "deferred": False,
        "durable": False, "buffer": 8 * MIB, "staging": 256 * MIB, "piece": 2 * MIB, "compute": 0,
        "stripe_size": -1, "grid": [{"dim": 0, "parts": 2}, {"dim": 1, "parts": 32}],
        "groups": [{"count": 1, "element": 4, "dims": [0, 1, 2]}], "machine": machine,
        "figures": figures,
    }  # fmt: skip
    return SimpleNamespace(**(run | changes))


def plan_of(run):
    return make_plan(run, Shares(os.environ["THALWEG_PLAN"], run))


def option(run, method, service="inline"):
    options = plan_of(run).options
    return next(
        o for o in options if (o.way.service, o.way.method, o.way.own_files) == (service, method, 0)
    )


def work_of(run, *way):
    return Shares(os.environ["THALWEG_PLAN"], run).work_of(Way("inline", *way))


def test_more_writers_where_they_are_faster():
    run = run_of()
    fast = option(run, "record")
    assert fast.writers == "32/node" and fast.work.writers == 64
    run.machine.ranks = 0  # assumed figures are too inaccurate to choose by them
    usual = option(run, "record")
    assert usual.writers == "" and usual.work.writers == 8
    # Four writers per node take eight times as long.
    assert usual.outcome.calls / fast.outcome.calls == pytest.approx(8, abs=1)


@pytest.mark.parametrize(("rate", "writers"), [(1.04e9, ""), (1.08e9, "32/node")])
def test_no_change_for_less_than_a_twentieth(rate, writers):
    run = run_of()
    run.figures.rate = run.figures.durable = [1e9] * 5 + [rate]
    assert option(run, "record").writers == writers


def test_only_as_many_writers_as_were_measured_or_chosen():
    run = run_of()
    run.figures.writers, run.figures.rate = COUNTS[:4], run.figures.rate[:4]
    run.figures.durable = run.figures.rate
    assert option(run, "record").writers == "8/node"
    assert option(run, "record", "background").writers == "8/node"
    chosen = option(run_of(writers="2/node"), "record")
    assert chosen.writers == "" and chosen.work.writers == 4


def test_another_method_where_messages_are_slow():
    # Each node holds whole levels: slabs send nothing between nodes, record sends half of the step.
    group = {"count": 1, "element": 4, "dims": [0, 1, 2]}
    run = run_of(grid=[{"dim": 0, "parts": 64}], groups=[group, group])
    run.machine.message = 1e7
    assert option(run, "slabs").outcome.calls < 0.9 * option(run, "record").outcome.calls


def test_settings():
    run = run_of()
    assert settings_of(option(run, "record")) == {
        "service": "inline", "method": "record", "writers": "32/node",
    }  # fmt: skip
    servers = plan_of(run).best_servers
    assert settings_of(servers)["servers"] == str(servers.way.servers)


def test_ranks_that_pack_for_the_writers_of_one_variable():
    # Steps that are too large to be copied as a whole are written variable by variable. The four
    # writers of a variable have adjacent parts of a level, which are held by the same rows of
    # ranks; the two variables with one level shift this a little.
    run = run_of(
        ranks=16, nodes=1, cores=16, grid=[{"dim": 1, "parts": 4}, {"dim": 2, "parts": 4}],
        lengths=[40, 240, 360], stripe_size=4096, piece=20736, staging=MIB,
        groups=[{"count": 4, "element": 4, "dims": [0, 1, 2]},
                {"count": 3, "element": 4, "dims": [1, 2]}],
    )  # fmt: skip
    whole = work_of(run, "record", False, "16/node")
    assert whole.active == pytest.approx(4, abs=0.1) and whole.packed > 1.2 * whole.rank_bytes
    # For each writer of rows, a row of ranks packs, so all ranks have the same work.
    rows = work_of(run, "rows", False, "16/node")
    assert rows.packed < 1.05 * rows.rank_bytes


def blocks(method, writers, **changes):
    """Returns the work of 1024 ranks on 32 nodes: a field of 32 MiB in stripes of 1 MiB."""
    changes = {"ranks": 1024, "nodes": 32, "grid": [{"dim": 1, "parts": 1024}]} | changes
    run = run_of(lengths=[16, 1024, 512], stripe_size=MIB, writers=writers, **changes)
    return work_of(run, method, False, writers)


def test_writers_with_no_block_are_not_counted():
    few, many = blocks("record", "1/node"), blocks("record", "8/node")
    assert few.active == many.active == 32 and few.writer_bytes == many.writer_bytes == MIB
    assert many.writers == 256 and many.blocks == 32 and many.shared == 0
    # A block is half a level. Ranks of 16 nodes hold it, so 15/16 of it come from other nodes.
    assert many.received == pytest.approx(MIB * 15 / 16, abs=0.1 * MIB)
    slabs = blocks("slabs", "4/node")
    assert (slabs.writers, slabs.active, slabs.writer_bytes) == (128, 16, 2 * MIB)
    assert slabs.shared == 0  # a level consists of two blocks


def test_blocks_go_from_node_to_node():
    # Half a level is held by 512 ranks on 16 nodes. The first node nearly always locks a block
    # twice.
    direct = blocks("direct", "auto")
    assert direct.blocks == direct.shared == 32
    assert direct.handovers == pytest.approx(15 + 31 / 32)
    # One writer on each node, so no writer comes late.
    one = {"ranks": 32, "grid": [{"dim": 1, "parts": 32}]}
    assert blocks("direct", "auto", **one).handovers == pytest.approx(15)
    assert blocks("direct", "auto", **one, nodes=1).shared == 0
