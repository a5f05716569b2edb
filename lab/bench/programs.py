#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures programs that know nothing of this library, and Zarr stores, by several ways in turn.

netcdf, pnetcdf: programs that call only netCDF or PnetCDF, plain and under `thalweg run`, and the
same by this library's own calls. A process writes each file twice; the first one, for which
libraries are loaded, is left out. As netCDF is often built without PnetCDF, its classic files with
a communicator are compared with PnetCDF's blocking and nonblocking calls: `original` is the faster
one. Files of `serial` have no communicator. zarr: variables of 24 or 1 levels, by this library as
netCDF-4 and as Zarr, and by zarr-python; a table in Markdown. Each figure is the median of the
repetitions.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from itertools import product
from pathlib import Path

GRIDS = ["t85", "fv-b", "fv-d", "cmaq-ca", "wrf"]
STORES = Path(__file__).resolve().parent / "zarr_stores.py"
CALLS = ["inquire", "redefine", "access"]
CASES = {
    "netcdf": [f"{g}/{form}" for g in GRIDS for form in ("classic", "netcdf4", "deflate")]
    + ["ufs/netcdf4", "ufs/deflate", "fv-d/reading", "fv-b/computing", "alone"]
    + [f"serial/{form}" for form in ("classic", "levels", "netcdf4", "deflate")]
    + [*CALLS, "start"],
    "pnetcdf": [f"{g}/{calls}" for g in GRIDS for calls in ("blocking", "nonblocking")]
    + [f"{g}/reading" for g in GRIDS]
    + ["e3sm-f", "e3sm-g", "alone", "alone-together", "pairs", "ask"],
    "zarr": ["24", "1"],
}
ONE_PROCESS = ("serial/", "start")
SMALL = ("alone", *CALLS)  # cases of netcdf for the first number of ranks only


def run(command, folder, **environment):
    """Runs a command. Returns its output, or exits with its error."""
    kept = {k: v for k, v in os.environ.items() if not environment or not k.startswith("THALWEG_")}
    kept |= {"THALWEG_TELL": "no"} | environment
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def ways_of(which, case, launch, options):
    """Returns the commands to compare, by name."""
    path = f"{which}_bench.nc"
    call = [*launch, options.bin / f"bench-{which}", case, path]
    own = [*launch, options.bin / "bench-own", case, path]
    taken = [options.bin / "thalweg", "run"]
    grid, _, way = case.partition("/")
    if which == "pnetcdf":
        if case.startswith("e3sm"):
            call.append(options.maps.resolve() / f"map_{case[-1]}_case_16p.nc")
        return {"original": call, "taken": [*taken, *call]} | ({"own": own} if way else {})
    taken.append("--serial=yes")
    if way == "computing":
        background = ["env", "THALWEG_SERVICE=background", *own]
        return {"original": call, "taken": [*taken, "service=background", *call], "own": background}
    found = {"original": call, "taken": [*taken, *call]}
    if way in ("classic", "reading") and grid != "serial":
        other = [*launch, options.bin / "bench-pnetcdf"]
        first = "reading" if way == "reading" else "blocking"
        found["original"] = [*other, f"{grid}/{first}", path]
        if way == "classic":
            found["nonblocking"] = [*other, f"{grid}/nonblocking", path]
    return found | ({"own": own} if way else {})


def measure_calls(which, options):
    """Prints a row for each case and number of ranks."""
    print(
        f"{'case':22} {'ranks':>5} {'original':>10} {'thalweg run':>12} {'ratio':>6}"
        f" {'own calls':>10} {'ratio':>6}"
    )
    for number, ranks in enumerate(int(n) for n in options.ranks.split(",")):
        for case in options.cases or CASES[which]:
            if case.startswith("e3sm") and not options.maps:
                continue
            if number > 0 and which == "netcdf" and case.startswith((*ONE_PROCESS, *SMALL)):
                continue
            one = which == "netcdf" and case.startswith(ONE_PROCESS)
            launch = [] if one else [*options.launch, "-n", str(ranks)]
            times = {}
            for _ in range(options.repetitions):
                for name, command in ways_of(which, case, launch, options).items():
                    line = run(command, options.folder).splitlines()[-1] + " "
                    found = [float(n) for n in re.findall(r"[0-9.]+(?=[, ])", line)]
                    times.setdefault(name, []).append(found)
            (options.folder / f"{which}_bench.nc").unlink(missing_ok=True)
            middle = {
                name: [statistics.median(t) for t in zip(*runs, strict=True)]
                for name, runs in times.items()
            }
            original = min(
                middle["original"][-1], middle.get("nonblocking", middle["original"])[-1]
            )
            taken = middle["taken"]
            text = f"{case:22} {1 if one else ranks:5} {original:8.3f} s {taken[-1]:10.3f} s"
            text += f" {taken[-1] / original:6.2f}"
            if "own" in middle:
                text += f" {middle['own'][-1]:8.3f} s {taken[-1] / middle['own'][-1]:6.2f}"
            if case.startswith("e3sm"):
                text += f"   first record {taken[0] / taken[1]:.2f} of a later one"
            print(text, flush=True)


def measure_zarr(options):
    """Prints a row for each number of levels and of ranks: MB/s, and ratios of times."""
    commit = run(["git", "rev-parse", "--short=8", "HEAD"], None).strip()
    print(
        f"{date.today()}, commit {commit}, medians of {options.repetitions} repetitions, MB/s\n\n"
        "| levels, ranks | netCDF-4 | Zarr | zarr-python | zstd: netCDF-4 | Zarr | zarr-python "
        "| Zarr : netCDF-4 | zarr-python : Zarr |\n" + "|---" * 9 + "|"
    )
    rows = product(options.cases or CASES["zarr"], options.ranks.split(","))
    # All files stay until the end, see empty() in zarr_stores.py.
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="zarr-bench-") as made:
        for levels, ranks in rows:
            command = [*options.launch, "-n", ranks, sys.executable, STORES, f"{levels}-{ranks}"]
            command += [options.repetitions, levels]
            (Path(made) / f"{levels}-{ranks}").mkdir()
            output = run(command, made, PYTHONPATH=str(options.bin.parent / "python"))
            found = json.loads(output.splitlines()[-1])
            size = found.pop("megabytes")
            cells = [f"{size / statistics.median(times):.0f}" for times in found.values()]
            for a, b in (("zarr", "netcdf4"), ("python", "zarr")):
                both = [zip(found[a + c], found[b + c], strict=True) for c in ("", "-zstd")]
                ratios = [statistics.median(x / y for x, y in pairs) for pairs in both]
                cells.append(", ".join(f"{ratio:.2f}" for ratio in ratios))
            print(f"| {levels}, {ranks} | {' | '.join(cells)} |", flush=True)


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else ""
    parser = argparse.ArgumentParser(
        prog=f"./run bench {which}",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("which", choices=CASES)
    ranks = {"netcdf": "4,16", "pnetcdf": "4"}.get(which, "1,2,4,8,16")
    add("--ranks", default=ranks, help=f"numbers of ranks ({ranks})")
    add("--repetitions", type=int, default=5)
    add("--folder", "--dir", type=Path, default=Path("."), help="where the files are written")
    add("--bin", type=Path, default=Path("build/release/bin"), help=argparse.SUPPRESS)
    add("--launch", type=shlex.split, default=["mpirun"], help=argparse.SUPPRESS)
    if which == "pnetcdf":
        add("--maps", type=Path, help="folder of E3SM-IO's map_{f,g}_case_16p.nc")
    else:
        parser.set_defaults(maps=None)
    add("cases", nargs="*", help="default: all of " + " ".join(CASES.get(which, [])))
    options = parser.parse_args()
    options.bin, options.folder = options.bin.resolve(), options.folder.resolve()
    if options.which == "zarr":
        measure_zarr(options)
    else:
        measure_calls(options.which, options)


if __name__ == "__main__":
    main()
