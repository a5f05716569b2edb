# SPDX-License-Identifier: Apache-2.0
"""Runs the library on machines that SimGrid simulates, and shows the results."""

import argparse
import json
import sys
from pathlib import Path

import simulation


def pair(text):
    name, equal, value = text.partition("=")
    if not equal or not name:
        raise argparse.ArgumentTypeError(f"'{text}': expected name=value")
    return name, value


def number(text):
    name, value = pair(text)
    try:
        float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}': expected name=number") from None
    return name, value


def numbers(text):
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected numbers as 4,16,64")
    return values


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./run scale", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--build", required=True, help=argparse.SUPPRESS)
    add("--machine", choices=simulation.MACHINES, default="parallel")
    add("--ranks", type=numbers, default=[4, 16, 64], metavar="N,N", help="of the model")
    add("--per-node", type=int, default=32, metavar="N", help="ranks of a node")
    add("--methods", default=",".join(simulation.METHODS), metavar="M,M")
    add("--servers", type=int, default=0, metavar="N", help="ranks for each 100 of the model")
    add(
        "--workload",
        default="fv-b",
        help="of thalweg-bench --list, in its own size, or e3sm-f, e3sm-g",
    )
    add("--steps", type=int, default=2)
    add("--compute", type=float, default=0, metavar="S", help="seconds of computing a step")
    add("--settings", default="", help="of the library: 'name=value; ...'")
    add("--set", type=number, action="append", default=[], metavar="NAME=VALUE",
        help="a number of the machine: lab/scale/README.md")  # fmt: skip
    add("--argument", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="of thalweg-scale: grid, scale, nx, ny, nz, variables, copies, puts, read, "
        "restart")  # fmt: skip
    add("--seconds", type=float, help="of real time, at most, for each run")
    add("--json", metavar="FILE", help="all reports, as a list")
    options = parser.parse_args(arguments)
    options.methods = options.methods.split(",")
    for method in options.methods:
        if method not in simulation.METHODS:
            parser.error(f"no method '{method}': there are {', '.join(simulation.METHODS)}")
    return options


def single_runs(options):
    """Makes a run for each number of ranks and method, and prints a table."""
    reports, failed = [], 0
    for ranks in options.ranks:
        for method in options.methods:
            try:
                run = simulation.run_of(options, ranks, method)
                reports.append(simulation.simulate(options.build, run))
                line = simulation.table(reports[-1:]).splitlines()[1]
                print(f"  {' '.join(line.split())}", file=sys.stderr, flush=True)
            except simulation.RunError as e:
                failed += 1
                print(f"scale: {method} on {ranks} ranks: {e}", file=sys.stderr)
    if reports:
        r = reports[0]
        print(f"machine {options.machine}, simulated by {r['simulator']['version']}; ", end="")
        print(f"{r['workload']}, {r['step_bytes'] / 1e6:.0f} MB a step")
        print("messages, MB: of the rank that has most, in a step; heap: of the largest rank")
        print(simulation.table(reports))
    return reports, failed


def main(arguments):
    options = parse(arguments)
    try:
        reports, failed = single_runs(options)
    except simulation.RunError as e:
        print(f"scale: {e}", file=sys.stderr)
        return 1
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=2) + "\n")
    return 1 if failed or not reports else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
