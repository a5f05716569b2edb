# SPDX-License-Identifier: Apache-2.0
"""Compares what `./run plan` advises with the best of a sweep, and predictions with simulated runs.

Each case (machine, workload, ranks) is run with every setting of the sweep, and once with those
that the planner advises. It has the machine's figures as a calibration, and predicts each run.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import simulation
from calibration import figures

PLAN = Path(__file__).resolve().parent.parent / "plan"
# Writers per node that a user would try, and servers per node.
PER_NODE = (1, 2, 4, 8, 16, 32)
QUEUED_PER_NODE = (1, 4, 16)
SERVERS_PER_NODE = (1, 2, 4)
# Predictions within this factor count as near.
NEAR = 1.3


@dataclass
class Case:
    """A run and the planner's prediction for it."""

    run: simulation.Run
    label: str
    method: str
    service: str
    writers: str = ""  # the setting, in the planner's form
    servers: int = 0
    report: dict | None = None
    planned: dict | None = None


def description(case, file_system="lustre", folder="/"):
    """Returns the description of a run that was made, for ./run plan."""
    report = case.report
    plan = report["plan"]
    lines = [
        f"ranks = {report['ranks'] - report['servers']}",
        f"nodes = {report['nodes']}",
        f"cores = {report['numbers']['cores']:.0f}",
        f"file_system = {json.dumps(file_system)}",
        f"folder = {json.dumps(folder)}",
        f"step_seconds = {report['compute']}",
        "output_interval = 1",
        # A long run, in which files are hardly ever created.
        "outputs = 1000",
        f'decomposition = "{plan["decomposition"]}"',
        *([f"list_run = {plan['list_run']}"] if "list_run" in plan else []),
        *([f'writers = "{case.writers}"'] if case.writers else []),
        *(["deferred = true"] if case.run.arguments.get("copies") == "no" else []),
        "[dimensions]",
        *(f"{name} = {length}" for name, length in plan["dimensions"].items()),
    ]
    for v in plan["variables"]:
        lines += [
            "[[variables]]",
            *(f"{k} = {json.dumps(v[k])}" for k in ("count", "type", "dims")),
        ]
    return "\n".join(lines) + "\n"


def planned(planner, case):
    """Returns the planner's row for the way in which a run was simulated."""
    calibration = figures(case.report["numbers"], case.report["ranks"])
    return plan_row(planner, case, description(case), calibration)


def plan_of(planner, text, calibration):
    """Returns the plan for a description. @param planner: the program thalweg-plan"""
    with tempfile.TemporaryDirectory(prefix="thalweg-compare.") as made:
        run, machine = Path(made) / "run.toml", Path(made) / "calibration.toml"
        run.write_text(text)
        machine.write_text(calibration)
        command = [sys.executable, PLAN, "--program", planner, run, "--json"]
        command += ["--calibration", machine]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise simulation.RunError(done.stderr)
    return json.loads(done.stdout)


def plan_row(planner, case, text, calibration):
    """Returns the planner's row for the way in which a run was written; None if it has none.
    @param text: the description; calibration: the machine's figures, as text, too"""
    report, summary = case.report, case.report["summary"]
    plan = plan_of(planner, text, calibration)
    rows = plan["options"]
    if summary["service"] == "servers":
        rows = [o for o in plan["servers"]["curve"] if o["servers"] == report["servers"]]
    for o in rows:
        way = (o["service"], o["method"], o["own_files"])
        if way == (summary["service"], summary["method"], False):
            return o
    return None


def sweep(options, ranks, base):
    """Returns settings that a user would try by hand, each with its value of `writers`."""
    on_node = min(options.per_node, ranks)
    nodes = -(-ranks // options.per_node)

    def case(method, service, writers="", servers=0):
        settings = f"method={method}"
        run = base
        if writers:
            settings += f"; writers={writers}"
        if service != "inline":
            settings += f"; service={service}"
            # Two steps, with enough computing for each to be written before the next.
            arguments = base.arguments | {"steps": 2, "compute": options.compute or 20}
            run = replace(base, arguments=arguments)
        if servers:
            settings += f"; servers={servers}"
            # Servers are on the model's nodes, on cores of their own.
            run = replace(run, ranks=ranks + servers, per_node=on_node + -(-servers // nodes))
        if options.settings:
            settings += f"; {options.settings}"
        label = settings.replace("method=", "").replace("service=", "")
        return Case(replace(run, settings=settings), label, method, service, writers, servers)

    for method in options.methods:
        counted = method in ("record", "slabs")
        for n in [n for n in PER_NODE if n <= on_node] if counted else [0]:
            if "inline" in options.services:
                yield case(method, "inline", f"{n}/node" if n else "")
    if "background" in options.services:
        for method in options.methods:
            if method == "direct":
                continue
            counted = method in ("record", "slabs")
            for n in [n for n in QUEUED_PER_NODE if n <= on_node] if counted else [0]:
                yield case(method, "background", f"{n}/node" if n else "")
    if "servers" in options.services and "record" in options.methods:
        for n in SERVERS_PER_NODE:
            if n * nodes <= ranks // 2:
                yield case("record", "servers", "", n * nodes)


def writers_of(summary):
    """Returns the value of `writers` that was chosen; empty for methods with a fixed number."""
    settings = summary["settings"]
    return next((s["value"] for s in settings if s["name"] == "writers"), "")


def base_of(options, ranks):
    given = {"workload": options.workload, "steps": 1, "compute": 0} | dict(options.argument)
    return simulation.Run(
        ranks=ranks,
        machine=options.machine,
        per_node=options.per_node,
        arguments=given,
        numbers=dict(options.set),
        seconds=options.seconds,
    )


def advised(options, base, report):
    """Returns the run as the planner advises it, with service inline.
    @param report: report of a run of the same workload"""
    known = Case(base, "", "", "inline", report=report)
    calibration = figures(report["numbers"], base.ranks)
    plan = plan_of(options.planner, description(known), calibration)
    settings = best_inline(plan)["settings"]
    if options.settings:
        settings += f"; {options.settings}"
    return Case(replace(base, settings=settings), "advised", "", "inline")


def best_inline(plan):
    """Returns the planner's best way to write in the model's calls, into one file."""
    return next(o for o in plan["options"] if o["service"] == "inline" and not o["own_files"])


def run_case(options, case):
    """Simulates a case and prints a line; true if that worked."""
    try:
        case.report = simulation.simulate(options.build, case.run)
        if case.label == "advised":
            case.writers = writers_of(case.report["summary"])
        case.planned = planned(options.planner, case)
    except simulation.RunError as e:
        print(f"compare: {case.label} on {case.run.ranks} ranks: {e}")
        return False
    print(line(case), flush=True)
    return True


@dataclass
class Found:
    """The results of --compare."""

    cases: list = field(default_factory=list)
    chosen: list = field(default_factory=list)  # (ranks, advised, best by hand)
    failed: int = 0


def collect(options, ranks, found):
    """Runs all cases of a number of ranks, and adds them to `found`."""
    print(f"\n{options.workload} on {ranks} ranks, machine {options.machine}")
    base = base_of(options, ranks)
    done = []
    for case in sweep(options, ranks, base):
        if run_case(options, case):
            done.append(case)
        else:
            found.failed += 1
    inline = [c for c in done if c.service == "inline"]
    if inline:
        case = advised(options, base, inline[0].report)
        if run_case(options, case):
            best = min(inline, key=lambda c: simulated(c)["calls"])
            found.chosen.append((ranks, case, best))
        else:
            found.failed += 1
    found.cases += done


def compare(options):
    """Runs the cases and prints both tables. Returns the reports and the number of failed runs."""
    found = Found()
    for ranks in options.ranks:
        collect(options, ranks, found)
    if found.chosen:
        heads = f"{'ranks':>6}{'plan ms':>10}{'best ms':>10}{'ratio':>7}"
        print(f"\n{heads}  the plan is; the best is")
    for ranks, case, best in found.chosen:
        took, least = simulated(case)["calls"], simulated(best)["calls"]
        summary = case.report["summary"]
        print(
            f"{ranks:>6}{1e3 * took:>10.1f}{1e3 * least:>10.1f}"
            f"{took / least:>7.2f}  {summary['method']}, {summary['writers']} writers; "
            f"{best.label}"
        )
    print()
    for kind in errors(found.cases):
        print(
            f"{kind.service}, {kind.part}: {kind.runs} runs, {kind.near} within 30 % "
            f"({100 * kind.near // kind.runs} %), predicted / simulated from {kind.least:.2f} to "
            f"{kind.most:.2f}, median {kind.median:.2f}"
        )
    return [c.report for c in found.cases], found.failed


def simulated(case):
    """Returns the seconds in the library's calls of a step, and seconds of what is left to be
    written after the last step (with a service, a whole step)."""
    seconds = case.report["seconds"]
    return {
        "calls": simulation.blocked(case.report),
        "rest": 0.0 if case.service == "inline" else seconds["close"],
    }


def predicted(case):
    row = case.planned
    if row is None:
        return {"calls": 0.0, "rest": 0.0}
    return {"calls": row["seconds_in_calls"], "rest": row["seconds_in_background"]}


def ratios(case):
    """Returns predicted / simulated, for times that are long enough to matter."""
    wanted, got = simulated(case), predicted(case)
    return {k: got[k] / wanted[k] for k in wanted if got[k] > 0 and wanted[k] > 1e-4}


def line(case):
    wanted, got = simulated(case), predicted(case)
    text = f"  {case.label:<44} {case.report['summary']['writers']:>5}"
    for part, ratio in ratios(case).items():
        text += f"  {part} {1e3 * wanted[part]:>9.2f} ms, {1e3 * got[part]:>9.2f}: {ratio:>5.2f}"
        text += " *" if not 1 / NEAR <= ratio <= NEAR else "  "
    return text.rstrip()


@dataclass
class Errors:
    """The errors of one kind of prediction."""

    service: str
    part: str  # calls or rest
    runs: int
    near: int
    least: float
    median: float
    most: float


def errors(cases):
    """Returns the errors by the kind of prediction."""
    found = []
    for service, part in sorted({(c.service, part) for c in cases for part in ratios(c)}):
        values = sorted(
            ratios(c)[part] for c in cases if c.service == service and part in ratios(c)
        )
        near = sum(1 / NEAR <= r <= NEAR for r in values)
        middle = values[len(values) // 2]
        found.append(Errors(service, part, len(values), near, values[0], middle, values[-1]))
    return found
