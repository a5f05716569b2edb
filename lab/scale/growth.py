# SPDX-License-Identifier: Apache-2.0
"""Counts that grow with the ranks: the maximum over ranks, by phase of a run.

A count may grow with the logarithm of the ranks, as trees do. Faster growth is marked.
"""

import math

import simulation

# Ways to write: settings, arguments of thalweg-scale, servers for each 100 ranks.
WAYS = (
    ("inline", "service=inline", {}, 0),
    ("background", "service=background", {}, 0),
    ("servers", "service=servers", {}, 4),
    ("records", "service=inline", {"puts": "record"}, 0),
    ("boxes", "service=inline", {"puts": "box"}, 0),
    ("read", "service=inline", {"read": "yes", "restart": "yes"}, 0),
)
PHASES = (
    "init",
    "open",
    "put",
    "end_step",
    "close",
    "restart",
    "restart_read",
    "read_open",
    "read",
    "serve",
)
COUNTS = ("messages", "received", "message_bytes", "collectives", "collective_bytes")
# Smaller counts are ignored: rounding in a tree makes them grow by leaps.
LEAST = {"message_bytes": 4096, "collective_bytes": 4096}


def grows(ranks, values, least):
    """Tests if the last value exceeds 1.5 times the logarithmic growth of the first."""
    first, last = max(values[0], least), values[-1]
    return last > 1.5 * first * math.log(ranks[-1]) / math.log(ranks[0])


def rows_of(ranks, reports):
    """Yields rows of a way to write: phase, count, values, and whether the values grow."""
    for phase in PHASES:
        for count in COUNTS:
            values = [r["counts"][phase][count]["most"] for r in reports]
            if max(values) > 0:
                yield phase, count, values, grows(ranks, values, LEAST.get(count, 8))
        heaps = [r["heap_bytes"][phase] for r in reports]
        values = [h["most"] for h in heaps]
        if max(values) > 0:
            yield phase, "heap", values, grows(ranks, values, 1 << 16)
            means = [h["sum"] // r["ranks"] for h, r in zip(heaps, reports, strict=True)]
            yield phase, "heap, mean", means, grows(ranks, means, 1 << 16)
    values = [r["heap_bytes"]["most"] for r in reports]
    yield "all", "heap", values, grows(ranks, values, 1 << 20)


def ways_of(options):
    """Yields the ways to write. Without steps, leaves out those that differ only after the first
    step."""
    for name, settings, arguments, servers in WAYS:
        if options.steps > 0 or not arguments:
            yield name, settings, arguments, servers


def growth(options):
    """Prints a table for each way. Returns the reports and the number of failed runs."""
    all_reports, failed = [], 0
    for name, settings, arguments, servers in ways_of(options):
        ranks, reports = [], []
        for n in options.ranks:
            options.servers = servers
            run = simulation.run_of(options, n, options.methods[0])
            run.settings = f"{run.settings}; {settings}"
            run.arguments = run.arguments | arguments
            try:
                reports.append(simulation.simulate(options.build, run))
                ranks.append(n)
            except simulation.RunError as e:
                failed += 1
                print(f"growth: {name} on {n} ranks: {e}")
        all_reports += reports
        if len(reports) < 2:
            continue
        print(f"\n{name}, most of a rank on {', '.join(map(str, ranks))} ranks")
        for phase, count, values, much in rows_of(ranks, reports):
            text = " ".join(f"{v:>10}" for v in values)
            print(f"  {phase:<13}{count:<17}{text}{'  <-- more than log(ranks)' if much else ''}")
    return all_reports, failed
