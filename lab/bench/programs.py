#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures programs that know nothing of this library, or a whole model, by several ways in turn.

netcdf, pnetcdf: programs that call only netCDF or PnetCDF, plain and under `thalweg run`, and the
same by this library's own calls. A process writes each file twice; the first one, for which
libraries are loaded, is left out. As netCDF is often built without PnetCDF, its classic files with
a communicator are compared with PnetCDF's blocking and nonblocking calls: `original` is the faster
one. Files of `serial` have no communicator. model: the example model without output and with hourly
output by every service. zarr: 24 or 1 levels of variables, by this library as netCDF-4 and as Zarr,
and by zarr-python; a table in Markdown. Each figure is the median of the repetitions.
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
    "model": ["none", "serial", "inline", "background", "servers:1"],
    "zarr": ["24", "1"],
}
ONE_PROCESS = ("serial/", "start")
SMALL = ("alone", *CALLS)  # cases of netcdf for the first number of ranks only

NAMELIST = """&shallow_water_nml
  nx = {nx}, ny = {ny}, layers = {layers}, dt = {dt}, steps = {steps}, interval = {interval}
  method = '{method}', output = '{output}'
  progress = .false., summary = .false.
/
"""


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


def run_model(name, options, folder):
    """Runs the model once. Returns the seconds in total and in output, or the reason for none."""
    service, _, servers = name.partition(":")
    history, summary = folder / "history.nc", folder / "summary.json"
    steps = 15  # an hour
    text = NAMELIST.format(
        nx=options.nx, ny=options.ny, layers=options.layers, dt=3600 / steps,
        steps=options.hours * steps, interval=steps,
        method="serial" if name == "serial" else "auto",
        output="" if name == "none" else history.name,
    )  # fmt: skip
    (folder / "model.nml").write_text(text)
    wanted = service if service in ("background", "servers") else "inline"
    ranks = int(options.ranks) + int(servers or 0)
    output = run(
        [*options.launch, "-n", ranks, options.bin / "shallow_water", "model.nml"],
        folder,
        THALWEG_SERVICE=wanted,
        THALWEG_SERVERS=servers or "0",
        THALWEG_BANDWIDTH=str(options.bandwidth),
        THALWEG_SUMMARY=str(summary),
    )
    found = re.search(r"^time: *([\d.]+) s, of them *([\d.]+) s", output, re.M)
    if name != "none":
        history.unlink()
        was = json.loads(summary.read_text())["files"][-1]["service"]
        if was != wanted:
            return f"no effect: the service was {was}"
    return float(found[1]), float(found[2])


def measure_model(options):
    """Prints a row for each way of output, and writes them as JSON."""
    names = options.cases or CASES["model"]
    names = [n for n in ("none", "inline") if n not in names] + names
    times, skipped = {name: [] for name in names}, {}
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="model-bench-") as made:
        # Repetition 0 warms up, and every repetition begins with another row.
        for repetition in range(options.repetitions + 1):
            for i in range(len(names)):
                name = names[(i + repetition) % len(names)]
                found = skipped.get(name) or run_model(name, options, Path(made).resolve())
                if isinstance(found, str):
                    skipped[name] = found
                elif repetition > 0:
                    times[name].append(found)
    megabytes = options.nx * options.ny * (3 * options.layers + 2) * 4 / 1e6
    limit = f"{options.bandwidth / 1e6:.0f} MB/s at most" if options.bandwidth else "no limit"
    print(
        f"shallow_water {options.nx} x {options.ny} x {options.layers}, {options.hours} hours, "
        f"{megabytes:.1f} MB an hour, {options.ranks} ranks, {limit}; "
        f"medians of {options.repetitions} repetitions\n\n"
        f"{'output':<12}{'seconds':>9}{'x none':>9}{'output s':>10}{'share %':>9}{'hidden %':>10}"
    )
    results = []
    for name in names:
        if name in skipped:
            results.append({"name": name, "skipped": skipped[name]})
            print(f"{name:<12}  skipped: {skipped[name]}")
            continue
        rows = list(zip(times[name], times["none"], times["inline"], strict=True))
        middle = {
            "total_seconds": [t[0] for t, _, _ in rows],
            "ratio_to_no_output": [t[0] / n[0] for t, n, _ in rows],
            "output_seconds": [t[1] for t, _, _ in rows],
            "output_share": [t[1] / t[0] for t, _, _ in rows],
            "hidden_fraction": [
                1 - (t[0] - n[0]) / (i[0] - n[0]) for t, n, i in rows if i[0] > n[0]
            ],
        }
        middle = {k: statistics.median(v) if v else 0 for k, v in middle.items()}
        results.append({"name": name, **middle, "repetitions": [t[0] for t in times[name]]})
        total, ratio, output, share, hidden = middle.values()
        print(
            f"{name:<12}{total:>9.3f}{ratio:>9.3f}{output:>10.3f}{100 * share:>9.1f}"
            + (f"{100 * hidden:>10.0f}" if name != "none" else f"{'-':>10}")
        )
    if options.json:
        options.json.write_text(json.dumps({"results": results}, indent=2) + "\n")


def measure_zarr(options):
    """Prints a row for each number of levels and of ranks: MB/s, and ratios of times."""
    commit = run(["git", "rev-parse", "--short=8", "HEAD"], None).strip()
    print(
        f"{date.today()}, commit {commit}, medians of {options.repetitions} repetitions, MB/s\n\n"
        "| levels, ranks | netCDF-4 | Zarr | zarr-python | zstd: netCDF-4 | Zarr | zarr-python "
        "| Zarr : netCDF-4 | zarr-python : Zarr |\n" + "|---" * 9 + "|"
    )
    for levels in options.cases or CASES["zarr"]:
        for ranks in options.ranks.split(","):
            command = [*options.launch, "-n", ranks, sys.executable, STORES, "."]
            command += [options.repetitions, levels]
            output = run(command, options.folder, PYTHONPATH=str(options.bin.parent / "python"))
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
    cores = str(max(1, len(os.sched_getaffinity(0)) - 1))  # one is left for the writer
    ranks = {"netcdf": "4,16", "pnetcdf": "4", "zarr": "1,2,4,8,16"}.get(which, cores)
    add("--ranks", default=ranks, help=f"numbers of ranks ({ranks})")
    add("--repetitions", type=int, default=5)
    add("--folder", "--dir", type=Path, default=Path("."), help="where the files are written")
    add("--bin", type=Path, default=Path("build/release/bin"), help=argparse.SUPPRESS)
    add("--launch", type=shlex.split, default=["mpirun"], help=argparse.SUPPRESS)
    if which == "pnetcdf":
        add("--maps", type=Path, help="folder of E3SM-IO's map_{f,g}_case_16p.nc")
    else:
        parser.set_defaults(maps=None)
    if which == "model":
        for name, default in (("nx", 256), ("ny", 160), ("layers", 8)):
            add(f"--{name}", type=int, default=default)
        add("--hours", type=int, default=36, help="model time in hours (36)")
        add("--bandwidth", type=int, default=200_000_000,
            help="limit in bytes per second for all writers; 0: no limit (200 MB/s)")  # fmt: skip
        add("--json", type=Path, help="write the results to this file")
    add("cases", nargs="*", help="default: all of " + " ".join(CASES.get(which, [])))
    options = parser.parse_args()
    options.bin, options.folder = options.bin.resolve(), options.folder.resolve()
    if options.which == "model":
        measure_model(options)
    elif options.which == "zarr":
        measure_zarr(options)
    else:
        measure_calls(options.which, options)


if __name__ == "__main__":
    main()
