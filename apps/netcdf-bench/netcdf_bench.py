# SPDX-License-Identifier: Apache-2.0
"""Compares a program that calls netCDF, plain and with the shim preloaded, with this
library's own calls: the methods take turns, and each line has the median of the rounds.
Each round writes four files in one process and leaves out the first one."""

import argparse
import os
import re
import statistics
import subprocess


def seconds(command, shim=None):
    environment = dict(os.environ, THALWEG_TELL="no")
    if shim:
        environment["LD_PRELOAD"] = shim
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = [float(s) for s in re.findall(r": ([0-9.]+) s, ", done.stdout)]
    # The first file of a process loads libraries and begins a session.
    return found[1:], done.stderr.strip().splitlines()[:1]


def methods(arguments):
    form = f"format={arguments.format}"
    yield "thalweg", ["method=thalweg", form], False
    yield "netcdf under thalweg", ["method=netcdf", form], True
    yield "netcdf plain", ["method=netcdf", form], False
    if arguments.format != "netcdf4":
        yield "pnetcdf blocking", ["method=pnetcdf", form], False
        yield "pnetcdf nonblocking", ["method=pnetcdf-nonblocking", form], False


def main():
    parser = argparse.ArgumentParser(prog="./run bench netcdf", description=__doc__)
    parser.add_argument("--format", choices=["cdf5", "netcdf4"], default="cdf5")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--shim", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--launch", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "sizes",
        nargs="*",
        help="of the program: vars=20 records=4 lev=16 lat=256 "
        "lon=512 deflate=0 independent=0 fill=0 path=FILE",
    )
    arguments = parser.parse_args()
    times, problems = {}, {}
    for _ in range(arguments.rounds):
        for name, options, preload in methods(arguments):
            command = [*arguments.launch.split(), arguments.program, "repeat=4", *options]
            took, problem = seconds([*command, *arguments.sizes], preload and arguments.shim)
            if took:
                times.setdefault(name, []).extend(took)
            else:
                problems[name] = problem
    for name, _, _ in methods(arguments):
        if name in times:
            print(f"{name:34} {statistics.median(times[name]):8.3f} s")
        else:
            print(f"{name:34} not possible: {' '.join(problems[name])}")


main()
