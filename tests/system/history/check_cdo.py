#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares statistics of a history, bit for bit, with those that CDO and NCO compute from all
samples, which a stream of instants writes beside them. CDO assigns samples to windows by their
dates, so it gets dates that are one second earlier. Arguments: program, launcher and its flags
up to -n. Exits with 77 if neither CDO nor NCO is installed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy as np
from history_model import Case, Field, Stream, run

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
STEP, DAYS = 21600, 800
EVERY = {
    "day": (1, "day"),
    "five": (5, "day"),
    "mon": (1, "month"),
    "seas": (1, "season"),
    "year": (1, "year"),
}
# Operators of CDO that pool the days or months of all years, or the hours of all days, and the bins
# for which a stream has their records.
CYCLES = {
    "ydaymean": (1, "day"),
    "ymonmean": (1, "month"),
    "yseasmean": (1, "season"),
    "dhourmean": (STEP, "second"),
}
OPS = ["mean", "min", "max", "sum", "mean_square", "rms"]
FIELDS = [
    Field(missing, "f4" if missing == "fixed" else "f8", missing)
    for missing in ("none", "fixed", "varying")
]
SAMPLES = """[[stream]]
name = "samples"
fields = ["*"]
every = "step"
op = "instant"
type = "double"
path = "{}/samples.nc"
"""


def make_case(folder: Path, calendar: str, seed: int) -> Case:
    numbers = np.random.default_rng(seed)
    names = [f.name for f in FIELDS]
    streams = [
        Stream(
            f"{every}_{op}",
            names,
            duration,
            op,
            "start" if every == "five" else "calendar",
            counts=True,
        )
        for every, duration in EVERY.items()
        for op in OPS
    ]
    streams += [
        Stream(f"{op}_cycle", names, ("run",), bins=bins, counts=True)
        for op, bins in CYCLES.items()
    ]
    times = [STEP * (i + 1) for i in range(DAYS * 86400 // STEP)]
    case = Case(folder, calendar, "2000-01-01", FIELDS, streams, 6, times)
    case.more = SAMPLES.format(folder)
    for i in range(len(times)):
        sent = {f.name: (1000 * numbers.standard_normal(6)).astype(f.type) for f in FIELDS}
        sent["fixed"][2] = -999
        sent["varying"][numbers.random(6) < 0.5] = -999
        if i < 300:  # leave whole windows without a sample
            sent["varying"][4] = -999
        case.sent.append(sent)
    return case


def read(path: Path, name: str) -> np.ndarray:
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return file[name][:]


def compare(case: Case, stream: Stream, other: Path, count: int, program: str) -> int:
    wrong = 0
    for name in stream.fields:
        ours = read(case.folder / f"{stream.name}.nc", name)[:count]
        theirs = read(other, name)[: len(ours)]
        theirs[np.abs(theirs) >= 1e20] = 1e20
        if len(ours) == 0 or ours.tobytes() != theirs.tobytes():
            wrong += 1
            print(
                f"{case.calendar}: {stream.name}: {name} differs from {program}: "
                f"{np.argwhere(ours != theirs)[:3].tolist()} of {ours.shape}"
            )
    return wrong


def check_cdo(case: Case) -> int:
    wrong = 0
    for stream in case.streams:
        every, op = stream.name.split("_", 1)
        if op == "rms":
            continue
        if op == "cycle":
            every, op = every.removesuffix("mean"), "mean"
        least = op.removesuffix("_square")
        command = f"timsel{least},{5 * 86400 // STEP}" if every == "five" else every + least
        squares = ["-sqr"] if op == "mean_square" else []
        other = case.folder / "cdo.nc"
        shifted = [*squares, "-shifttime,-1second", case.folder / "samples.nc", other]
        subprocess.run(["cdo", "-s", "-O", f"-{command}", *shifted], check=True)
        wrong += compare(case, stream, other, 10**6, "cdo")
    return wrong


def check_nco(case: Case) -> int:
    """Compares the root mean squares of the first windows with NCO, because CDO has no such
    operator."""
    wrong = 0
    for stream in case.streams:
        if not stream.name.endswith("_rms"):
            continue
        ends = read(case.folder / f"{stream.name}.nc", "time_bnds")[:6] / STEP
        parts = []
        for k, (first, last) in enumerate(ends.astype(int)):
            parts.append(case.folder / f"nco{k}.nc")
            window = ["-d", f"time,{first},{last - 1}", case.folder / "samples.nc", parts[-1]]
            subprocess.run(["ncra", "-O", "-h", "-y", "rms", *window], check=True)
        other = case.folder / "nco.nc"
        subprocess.run(["ncrcat", "-O", "-h", *parts, other], check=True)
        wrong += compare(case, stream, other, len(parts), "ncra")
    return wrong


def main() -> None:
    program, launcher = sys.argv[1], sys.argv[2:]
    checks = [c for tool, c in (("cdo", check_cdo), ("ncra", check_nco)) if shutil.which(tool)]
    if not checks:
        print("neither cdo nor ncra is installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as root:
        cases = [make_case(Path(root, c), c, i) for i, c in enumerate(CALENDARS)]
        run(launcher, 2, program, cases, Path(root, "schedule"))
        wrong = sum(check(case) for case in cases for check in checks)
    print(f"{len(cases)} calendars, {len(EVERY) * len(OPS)} streams, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
