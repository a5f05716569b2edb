# SPDX-License-Identifier: Apache-2.0
"""Measures a program that calls netCDF, plain and under `thalweg run`, and the same file by this
library's own calls: they take turns, and each figure is the median of the repetitions. A process
writes each file twice; the first one, for which libraries are loaded, is left out. As netCDF is
often built without PnetCDF, classic files with a communicator are compared with PnetCDF's blocking
and nonblocking calls: `original` is the faster one. Files of `serial` have no communicator."""

import argparse
import os
import re
import statistics
import subprocess
from pathlib import Path

GRIDS = ["t85", "fv-b", "fv-d", "cmaq-ca", "wrf"]
CASES = [f"{g}/{form}" for g in GRIDS for form in ("classic", "netcdf4", "deflate")]
CASES += ["ufs/netcdf4", "ufs/deflate", "fv-d/reading", "fv-b/computing", "alone"]
CASES += ["serial/classic", "serial/levels", "serial/netcdf4", "serial/deflate"]
CASES += ["inquire", "redefine", "access", "start"]
ONE_PROCESS = ("serial/", "start")
SMALL = ("alone", "inquire", "redefine", "access")  # cases for the first number of ranks only


def run(command, folder):
    environment = dict(os.environ, THALWEG_TELL="no")
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return float(re.findall(r"[0-9.]+(?= s)", done.stdout)[-1])


def methods(case, launch, programs, path):
    """The commands to compare, by name."""
    own, pnetcdf, tool = programs
    call = [*launch, own, case, path]
    taken = [tool, "run", "--serial=yes"]
    grid, _, way = case.partition("/")
    if way == "computing":
        return {
            "original": call,
            "taken": [*taken, "service=background", *call],
            "own": ["env", "THALWEG_SERVICE=background", *call, "own"],
        }
    found = {"original": call, "taken": [*taken, *call]}
    if way in ("classic", "reading") and grid != "serial":
        other = [*launch, pnetcdf]
        if way == "reading":
            found["original"] = [*other, f"{grid}/reading", path]
        else:
            found["original"] = [*other, f"{grid}/blocking", path]
            found["nonblocking"] = [*other, f"{grid}/nonblocking", path]
    if way:
        found["own"] = [*call, "own"]
    return found


def measure(case, ranks, arguments):
    one = case.startswith(ONE_PROCESS)
    launch = [] if one else [*arguments.launch.split(), "-n", str(ranks)]
    path = "netcdf_bench.nc"
    programs = arguments.program, arguments.pnetcdf_program, arguments.tool
    times = {}
    for _ in range(arguments.repetitions):
        for name, command in methods(case, launch, programs, path).items():
            times.setdefault(name, []).append(run(command, arguments.folder))
    (Path(arguments.folder) / path).unlink(missing_ok=True)
    found = {name: statistics.median(t) for name, t in times.items()}
    original = min(found["original"], found.get("nonblocking", found["original"]))
    own = found.get("own")
    print(
        f"{case:16} {1 if one else ranks:5} {original:8.3f} s {found['taken']:10.3f} s"
        f" {found['taken'] / original:6.2f}"
        + (f" {own:8.3f} s {found['taken'] / own:6.2f}" if own else ""),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(prog="./run bench netcdf", description=__doc__)
    parser.add_argument("--ranks", default="4,16", help="numbers of ranks (4,16)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", default=".", help="where the files are written")
    for hidden in ("--program", "--pnetcdf-program", "--tool", "--launch"):
        parser.add_argument(hidden, required=True, help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", help="default: all of " + " ".join(CASES))
    arguments = parser.parse_args()
    print(
        f"{'case':16} {'ranks':>5} {'original':>10} {'thalweg run':>12} {'ratio':>6}"
        f" {'own calls':>10} {'ratio':>6}"
    )
    for number, ranks in enumerate(int(n) for n in arguments.ranks.split(",")):
        for case in arguments.cases or CASES:
            if number == 0 or not case.startswith((*ONE_PROCESS, *SMALL)):
                measure(case, ranks, arguments)


main()
