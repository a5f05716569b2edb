# SPDX-License-Identifier: Apache-2.0
"""Measures a program that has only PnetCDF's names, plain and under `thalweg run`, and for grids
one that makes this library's own calls: they take turns, and each figure is the median of the
repetitions. A process writes each file twice; the first one, for which libraries are loaded, is
left out."""

import argparse
import os
import re
import statistics
import subprocess
from pathlib import Path

GRIDS = ["t85", "fv-b", "fv-d", "cmaq-ca", "wrf"]
E3SM = ["e3sm-f", "e3sm-g"]
CASES = [f"{g}/{calls}" for g in GRIDS for calls in ("blocking", "nonblocking")]
CASES += [f"{g}/reading" for g in GRIDS]
CASES += [*E3SM, "alone", "alone-together", "pairs", "ask"]


def run(command, folder):
    environment = dict(os.environ, THALWEG_TELL="no")
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return [float(n) for n in re.findall(r"[0-9.]+(?=[, ])", done.stdout.splitlines()[-1] + " ")]


def main():
    parser = argparse.ArgumentParser(prog="./run bench pnetcdf", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--maps", type=Path, help="folder of E3SM-IO's map_{f,g}_case_16p.nc")
    parser.add_argument("--folder", default=".", help="where the files are written")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--own", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--launch", required=True, help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", help="default: all of " + " ".join(CASES))
    arguments = parser.parse_args()
    chosen = arguments.cases or [c for c in CASES if arguments.maps or c not in E3SM]
    print(f"{'case':22} {'PnetCDF':>9} {'thalweg run':>12} {'ratio':>6}   of own calls")
    for case in chosen:
        path = "pnetcdf_bench.nc"
        command = [*arguments.launch.split(), arguments.program, case, path]
        if case in E3SM:
            command.append(str(arguments.maps.resolve() / f"map_{case[-1]}_case_16p.nc"))
        own = [*arguments.launch.split(), arguments.own, case, path] if "/" in case else []
        times = {"plain": [], "taken": [], "own": []}
        for _ in range(arguments.repetitions):
            times["plain"].append(run(command, arguments.folder))
            times["taken"].append(run([arguments.tool, "run", *command], arguments.folder))
            if own:
                times["own"].append(run(own, arguments.folder))
        (Path(arguments.folder) / path).unlink(missing_ok=True)
        plain, taken, by_own = (
            [statistics.median(t) for t in zip(*times[k], strict=True)] for k in times
        )
        print(
            f"{case:22} {plain[-1]:7.3f} s {taken[-1]:10.3f} s {taken[-1] / plain[-1]:6.2f}", end=""
        )
        if by_own:
            print(f"   {taken[-1] / by_own[-1]:.2f}", end="")
        if case in E3SM:
            print(f"   first record {taken[0] / taken[1]:.2f} of a later one", end="")
        print(flush=True)


main()
