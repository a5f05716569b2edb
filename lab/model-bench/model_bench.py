#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what output costs a whole model: the example model without output and with hourly
output by every service, all runs interleaved.

    model_bench.py --program PATH [options] -- mpirun [flags]

One row a way of output. The model itself is the same in all of them: a service is chosen in the
environment (THALWEG_SERVICE).
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

NAMELIST = """&shallow_water_nml
  nx = {nx}, ny = {ny}, layers = {layers}, dt = {dt}, steps = {steps}, interval = {interval}
  method = '{method}', output = '{output}'
  progress = .false., summary = .false.
/
"""


@dataclass
class Row:
    """A way of output and the times of its runs."""

    name: str
    method: str = "auto"
    service: str = "inline"
    servers: int = 0
    output: bool = True
    total: list[float] = field(default_factory=list)
    output_seconds: list[float] = field(default_factory=list)
    skipped: str = ""


def make_row(name: str) -> Row:
    if name == "none":
        return Row(name, output=False)
    if name == "serial":
        return Row(name, method="serial")
    if name in ("inline", "background"):
        return Row(name, service=name)
    if match := re.fullmatch(r"servers:([1-9]\d*)", name):
        return Row(name, service="servers", servers=int(match[1]))
    sys.exit(f"model_bench: '{name}': there are none, serial, inline, background, servers:N")


def no_effect(row: Row, summary: Path) -> str:
    """Returns the reason why a run did not do what its row says, according to the library's own
    summary; '' if it did."""
    service = json.loads(summary.read_text())["files"][-1]["service"]
    return "" if service == row.service else f"no effect: the service was {service}"


def run(row: Row, options: argparse.Namespace, folder: Path) -> tuple[float, float]:
    """Runs the model once. Returns the seconds in total and in output."""
    history, summary = folder / "history.nc", folder / "summary.json"
    text = NAMELIST.format(
        nx=options.nx,
        ny=options.ny,
        layers=options.layers,
        dt=3600 / options.steps_an_hour,
        steps=options.hours * options.steps_an_hour,
        interval=options.steps_an_hour,
        method=row.method,
        output=history.name if row.output else "",
    )
    (folder / "model.nml").write_text(text)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("THALWEG_")}
    environment |= {
        "THALWEG_SERVICE": row.service,
        "THALWEG_SERVERS": str(row.servers),
        "THALWEG_BANDWIDTH": str(options.bandwidth),
        "THALWEG_SUMMARY": str(summary),
    }
    command = [*options.launch, "-n", str(options.ranks + row.servers), options.program]
    try:
        done = subprocess.run(
            [*command, "model.nml"],
            cwd=folder,
            env=environment,
            text=True,
            capture_output=True,
            timeout=options.timeout,
        )
    except subprocess.TimeoutExpired:
        row.skipped = f"not done after {options.timeout} s"
        return 0, 0
    found = re.search(r"^time: *([\d.]+) s, of them *([\d.]+) s", done.stdout, re.M)
    if done.returncode != 0 or not found:
        row.skipped = f"failed: {(done.stderr or done.stdout).strip()[:300]}"
        return 0, 0
    if row.output:
        row.skipped = no_effect(row, summary)
        history.unlink()
    return float(found[1]), float(found[2])


def measure(rows: list[Row], options: argparse.Namespace, folder: Path) -> None:
    """Measures all rows in turn. Repetition 0 warms up, and every repetition begins with another
    row."""
    for repetition in range(options.repetitions + 1):
        for i in range(len(rows)):
            row = rows[(i + repetition) % len(rows)]
            if row.skipped:
                continue
            total, output = run(row, options, folder)
            if repetition > 0 and not row.skipped:
                row.total.append(total)
                row.output_seconds.append(output)
        if sys.stderr.isatty():
            print(f"\r{repetition} of {options.repetitions}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def result(row: Row, none: Row, inline: Row, options: argparse.Namespace) -> dict:
    known = {"name": row.name, "service": row.service if row.output else "none"}
    known |= {"servers": row.servers, "ranks": options.ranks}
    if row.skipped:
        return known | {"skipped": row.skipped}
    pairs = list(zip(row.total, none.total, inline.total, strict=True))
    hidden = [1 - (t - n) / (i - n) for t, n, i in pairs if i > n]
    shares = [o / t for o, t in zip(row.output_seconds, row.total, strict=True)]
    return known | {
        "total_seconds": statistics.median(row.total),
        "output_seconds": statistics.median(row.output_seconds),
        "output_share": statistics.median(shares),
        "ratio_to_no_output": statistics.median(t / n for t, n, _ in pairs),
        "hidden_fraction": statistics.median(hidden) if row.output and hidden else None,
        "repetitions": row.total,
    }


def print_table(results: list[dict], options: argparse.Namespace) -> None:
    megabytes = options.nx * options.ny * (3 * options.layers + 2) * 4 / 1e6
    limit = f"{options.bandwidth / 1e6:.0f} MB/s at most" if options.bandwidth else "no limit"
    print(
        f"shallow_water {options.nx} x {options.ny} x {options.layers}, {options.hours} hours, "
        f"{megabytes:.1f} MB an hour, {options.ranks} ranks, {limit}; "
        f"medians of {options.repetitions} repetitions\n"
    )
    print(
        f"{'output':<12}{'seconds':>9}{'x none':>9}{'output s':>10}{'share %':>9}{'hidden %':>10}"
    )
    for r in results:
        if "skipped" in r:
            print(f"{r['name']:<12}  skipped: {r['skipped']}")
            continue
        hidden = r["hidden_fraction"]
        print(
            f"{r['name']:<12}{r['total_seconds']:>9.3f}{r['ratio_to_no_output']:>9.3f}"
            f"{r['output_seconds']:>10.3f}{100 * r['output_share']:>9.1f}"
            + (f"{100 * hidden:>10.0f}" if hidden is not None else f"{'-':>10}")
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="run bench model", description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--ranks",
        type=int,
        default=max(1, len(os.sched_getaffinity(0)) - 1),
        help="ranks of the model (all cores but one, which is left for the writer)",
    )
    parser.add_argument(
        "--services",
        default="none,serial,inline,background,servers:1",
        help="kinds of output: none, serial, inline, background, servers:N",
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--nx", type=int, default=256)
    parser.add_argument("--ny", type=int, default=160)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hours", type=int, default=36, help="model time in hours (36)")
    parser.add_argument(
        "--steps-an-hour", type=int, default=15, help="model steps per hour of model time (15)"
    )
    parser.add_argument(
        "--bandwidth",
        type=int,
        default=200_000_000,
        help="limit in bytes per second for all writers; 0: no limit (200 MB/s)",
    )
    parser.add_argument(
        "--dir", type=Path, default=Path("."), help="directory for the files written"
    )
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--timeout", type=int, default=600, help="limit per run in seconds (600)")
    parser.add_argument("launch", nargs="+", help="after --: mpirun and its flags")
    options = parser.parse_args()
    names = options.services.split(",")
    # The ways that the others are compared with.
    names = [n for n in ("none", "inline") if n not in names] + names
    rows = [make_row(name) for name in names]
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="model-bench-") as folder:
        measure(rows, options, Path(folder).resolve())
    none, inline = (next(r for r in rows if r.name == name) for name in ("none", "inline"))
    for standard in (none, inline):
        if standard.skipped:
            sys.exit(f"model_bench: {standard.name}: {standard.skipped}")
    results = [result(row, none, inline, options) for row in rows]
    print_table(results, options)
    if options.json:
        given = {k: v for k, v in vars(options).items() if isinstance(v, int | str)}
        options.json.write_text(json.dumps({"options": given, "results": results}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
