# SPDX-License-Identifier: Apache-2.0
"""Compares what the library chooses with the best of a sweep, and predictions with simulated runs.

Each case (ranks, and computing a step or not) is run with every setting of the sweep, and once with
all settings left to the library, which has the machine's figures as a calibration. The planner
predicts each run from the same figures.
"""

import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import scale

PER_NODE = (1, 2, 4, 8, 16, 32)


def figures(n, ranks):
    """The calibration of a simulated machine: what its numbers come to."""
    targets, target = n["targets"], n["target"]
    writers = [1]
    while writers[-1] < ranks:
        writers.append(min(2 * writers[-1], ranks))
    rates = [rate(targets, target, w) for w in writers] if targets else [1e12] * len(writers)
    # From the first to the last node: two hops, up and down.
    latency = 4 * n["hop"] + n["wake"]
    metadata = 1 / n["metadata"] if n["metadata"] else 0
    lines = [
        f"ranks = {ranks}",
        f"nodes = {n['nodes']:.0f}",
        f"cores = {n['cores']:.0f}",
        # Of four-byte elements.
        f"pack = {4 * n['copy']:.3e}",
        f"pack_node = {4 * n['copy'] * n['cores']:.3e}",
        f"agree = {4 * n['wake']:.3e}",
        f"latency = {latency:.3e}",
        f"message = {0.97 * n['link']:.3e}",
        "[[folder]]",
        'path = "/"',
        'file_system = "lustre"',
        f"create = {metadata + n['rpc']:.3e}",
        f"rename = {metadata + n['rpc']:.3e}",
        f"call = {n['call']:.3e}",
        f"request = {n['rpc']:.3e}",
        f"lock = {n['lock']:.3e}",
        f"locks = {max(1, targets):.0f}",
        "processor = 0",
        f"node_rate = {n['client']:.3e}",
        f"writers = {writers}",
        f"rate = {[float(f'{r:.4g}') for r in rates]}",
    ]
    return "\n".join(lines) + "\n"


def rate(targets, target, writers):
    """Of writers whose writes touch two stripes each, which lie anywhere: targets that are busy."""
    return targets * target * (1 - (1 - 1 / targets) ** (2 * writers))


def description(report, compute, extra=""):
    """What thalweg plan reads, of a run that was simulated."""
    plan = report["plan"]
    lines = [
        f"ranks = {report['ranks'] - report['servers']}",
        f"nodes = {report['nodes']}",
        f"cores = {report['numbers']['cores']:.0f}",
        'file_system = "lustre"',
        'folder = "/"',
        f"step_seconds = {compute}",
        "output_interval = 1",
        f"outputs = {report['steps']}",
        f'decomposition = "{plan["decomposition"]}"',
        extra,
        "[dimensions]",
        *(f"{name} = {length}" for name, length in plan["dimensions"].items()),
    ]
    for v in plan["variables"]:
        lines += [
            "[[variables]]",
            *(f"{k} = {json.dumps(v[k])}" for k in ("count", "type", "dims")),
        ]
    return "\n".join(lines) + "\n"


def planned(planner, report, calibration, writers, compute):
    """Seconds of a step that the planner predicts for the way in which a run was written."""
    summary = report["summary"]
    extra = f'writers = "{writers}"' if writers else ""
    with tempfile.TemporaryDirectory(prefix="thalweg-compare.") as made:
        run, machine = Path(made) / "run.toml", Path(made) / "calibration.toml"
        run.write_text(description(report, compute, extra))
        machine.write_text(calibration)
        command = [planner, "plan", run, "--json", "--calibration", machine]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise scale.RunError(done.stderr)
    plan = json.loads(done.stdout)
    rows = plan["options"]
    if summary["service"] == "servers":
        rows = [o for o in plan["servers"]["curve"] if o["servers"] == report["servers"]] or rows
    for o in rows:
        way = (o["service"], o["method"], o["own_files"])
        if way == (summary["service"], summary["method"], False):
            return o
    return None


def sweep(options):
    """Settings that a user would try by hand, with the setting writers of each."""
    most = [n for n in PER_NODE if n <= options.per_node]
    for method in options.methods:
        if method in ("record", "slabs"):
            for n in most:
                yield f"method={method}; writers={n}/node", f"{n}/node"
        else:
            yield f"method={method}", ""


def compare(options):
    """Runs the cases and prints both tables; 1 if a run failed."""
    reports, failed, chosen = [], 0, []
    for ranks in options.ranks:
        base = scale.run_of(options, ranks, "record")
        calibration, seconds = "", {}
        # Last, as the reports of the others have the machine's numbers.
        cases = [*sweep(options), ("auto", "")]
        for settings, writers in cases:
            with tempfile.TemporaryDirectory(prefix="thalweg-scale.") as made:
                (Path(made) / "calibration.toml").write_text(calibration)
                given = "calibration=calibration.toml" if settings == "auto" else settings
                if options.settings:
                    given += f"; {options.settings}"
                try:
                    run = replace(base, settings=given)
                    report = scale.simulate(options.build, run, made)
                except scale.RunError as e:
                    failed += 1
                    print(f"compare: {settings} on {ranks} ranks: {e}")
                    continue
            report["wanted"] = settings
            calibration = calibration or figures(report["numbers"], ranks)
            seconds[settings] = scale.blocked(report)
            summary = report["summary"]
            if settings == "auto":
                used = f"{summary['writers'] // report['nodes']}/node"
                chosen.append((ranks, summary, seconds))
                writers = used if summary["method"] in ("record", "slabs") else ""
            row = planned(options.planner, report, calibration, writers, options.compute)
            report["planned"] = row
            reports.append(report)
            print(line(report), flush=True)
    print("\nranks  auto ms  best ms  ratio  auto is; best is")
    for ranks, summary, seconds in chosen:
        best = min(seconds, key=lambda s: seconds[s])
        print(
            f"{ranks:>5} {1e3 * seconds['auto']:>8.1f} {1e3 * seconds[best]:>8.1f} "
            f"{seconds['auto'] / seconds[best]:>6.2f}  {summary['method']}, "
            f"{summary['writers']} writers; {best}"
        )
    print("\n" + errors(reports))
    return reports, failed


def predicted(report):
    """Seconds of a step in the library's calls; without computing all that a step takes."""
    row = report["planned"]
    return row["seconds_per_output"] if row else 0.0


def line(report):
    got, wanted = predicted(report), scale.blocked(report)
    return (
        f"{report['ranks']:>6} {report['wanted']:<34} {report['summary']['writers']:>5} "
        f"simulated {1e3 * wanted:>8.1f} ms  predicted {1e3 * got:>8.1f} ms  "
        f"ratio {got / wanted if wanted > 0 else 0:.2f}"
    )


def errors(reports):
    """How many predictions are how near."""
    ratios = [predicted(r) / scale.blocked(r) for r in reports if predicted(r) > 0]
    if not ratios:
        return "nothing was predicted"
    near = sum(1 / 1.3 <= r <= 1.3 for r in ratios)
    ratios.sort()
    return (
        f"predicted / simulated: {len(ratios)} runs, {near} within 30 %, "
        f"from {ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}"
    )
