# SPDX-License-Identifier: Apache-2.0
"""The number of servers that `./run plan` advises, beside a sweep of numbers that a user would try.

Servers are taken from the ranks of the model, whose others then compute longer. The time of a whole
run is compared: some steps, and the close that waits until everything is written.
"""

from dataclasses import dataclass, replace

import compare
import scale
from calibration import figures

# Steps of a run, and the model's computing time per step, relative to an inline step with
# method=record and the library's own number of writers.
STEPS = 4
COMPUTE = (2, 10)


@dataclass
class Row:
    """The advised number of servers and the best of the sweep; seconds of the run by number of
    servers."""

    machine: str
    workload: str
    ranks: int
    compute: float  # seconds per step
    seconds: dict
    planned: dict
    chosen: int

    @property
    def best(self):
        return min(self.seconds, key=self.seconds.get)

    @property
    def ratio(self):
        return self.seconds[self.chosen] / self.seconds[self.best]


def counts(ranks):
    """Returns the numbers of servers in the sweep."""
    found = [0]
    for power in (1 << k for k in range(20)):
        found += [n for n in (power, power + power // 2) if n <= ranks // 2]
    return sorted(set(found))


def taken(base, servers, compute, plan):
    """Returns a run in which some ranks serve. Without servers, all ranks compute, and write in
    their calls as the plan advises."""
    arguments = base.arguments | {"steps": STEPS}
    arguments["compute"] = compute * base.ranks / (base.ranks - servers)
    if servers:
        settings = f"method=record; service=servers; servers={servers}"
        return replace(base, settings=settings, arguments=arguments)
    return replace(base, settings=compare.best_inline(plan)["settings"], arguments=arguments)


def seconds_of(report):
    return sum(report["seconds"]["steps"]) + report["seconds"]["close"]


def description(inline, compute):
    """Returns the planner's input: the run without servers."""
    text = compare.description(
        compare.Case(inline.run, "", "record", "inline", report=inline.report)
    )
    lines = text.splitlines()
    run = inline.run
    # The nodes have no cores left free, so servers take ranks.
    cores = -(-run.ranks // run.nodes)
    wanted = {"outputs": STEPS, "step_seconds": compute, "cores": cores}
    for i, line in enumerate(lines):
        key = line.split(" = ")[0]
        if key in wanted:
            lines[i] = f"{key} = {wanted[key]}"
    return "\n".join(lines) + "\n"


def row(options, store, machine, workload, ranks, times):
    """Runs a case. Returns its row of the table.
    @param times: computing seconds as multiples of an inline step"""
    base = compare.base_of(options, machine, workload, ranks)
    usual = replace(
        base, settings="method=record", arguments=base.arguments | {"steps": STEPS, "compute": 0.0}
    )
    inline = compare.Case(usual, "", "record", "inline")
    inline.report = store.report(inline.run)
    compute = float(f"{times * scale.blocked(inline.report):.3g}")
    calibration = figures(inline.report["numbers"], ranks)
    plan = compare.plan_of(options.planner, description(inline, compute), calibration)
    seconds = {}
    for n in counts(ranks):
        try:
            seconds[n] = seconds_of(store.report(taken(base, n, compute, plan)))
        except scale.RunError as e:
            print(f"servers: {workload} on {ranks} ranks with {n} servers: {e}")
    chosen = plan["servers"]["best"] if plan["servers"]["pay"] else 0
    if chosen not in seconds:
        seconds[chosen] = seconds_of(store.report(taken(base, chosen, compute, plan)))
    planned = {o["servers"]: o["run_seconds"] for o in plan["servers"]["curve"]}
    return Row(machine, workload, ranks, compute, seconds, planned, chosen)


def line(r):
    curve = ", ".join(f"{n}: {s:.3g}" for n, s in sorted(r.seconds.items()))
    return (
        f"{r.machine:<9}{r.workload:<10}{r.ranks:>6}{r.compute:>9.3g}{r.chosen:>6}"
        f"{r.seconds[r.chosen]:>9.3g}{r.best:>6}{r.seconds[r.best]:>9.3g}{r.ratio:>7.2f}  {curve}"
    )


def choices(options, store):
    """Runs all cases and prints a table. Returns no reports, and the number of failed cases."""
    print(
        f"{'machine':<9}{'workload':<10}{'ranks':>6}{'compute':>9}{'plan':>6}{'s':>9}{'best':>6}"
        f"{'s':>9}{'ratio':>7}  servers: seconds of the run"
    )
    rows, failed = [], 0
    for machine in options.machines:
        for workload in options.workloads:
            for ranks in options.ranks:
                for times in COMPUTE:
                    try:
                        rows.append(row(options, store, machine, workload, ranks, times))
                        print(line(rows[-1]), flush=True)
                    except scale.RunError as e:
                        failed += 1
                        print(f"servers: {workload} on {ranks} ranks: {e}")
    good = sum(r.ratio <= 1.1 for r in rows)
    ratios = [
        r.planned[n] / s for r in rows for n, s in r.seconds.items() if r.planned.get(n, 0) > 0
    ]
    near = sum(1 / compare.NEAR <= q <= compare.NEAR for q in ratios)
    print(f"\n{good} of {len(rows)} choices are within 10 % of the best number of the sweep")
    print(f"{near} of {len(ratios)} planned times of runs with servers are within 30 %")
    return rows, failed
