# SPDX-License-Identifier: Apache-2.0
"""Loses power at every moment of small runs, in every way in which a disk can lose what was not
synced, and judges what `recover`, netCDF-C and an append make of the rest.

crash.py --model PROGRAM --inject LIBRARY [options] -- mpirun FLAGS -n

Checked in each state (crash_log.py says which there are): with durable=yes, after tw_sync of a
device, and for restarts, every record of which a call has promised that it is there is there; with
durable=yes every record that is counted is right; nothing crashes or hangs. Without, records can be
counted and wrong: holes. They are counted; with checksums=yes, `recover` must name them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from crash_judge import NAME, Judge, Promise, Server, Verdict, promise_at
from crash_log import Choice, Point, Recording, read_log
from harness import folder

RANKS = 3

# Scenarios by name: (mode, steps, settings).
PLAN = {
    "cdf1": ("write", 4, "format=cdf1; durable=yes"),
    "cdf2-direct": ("write", 4, "method=direct; durable=yes"),
    "cdf5-serial": ("late", 3, "format=cdf5; method=serial; durable=yes"),
    "background": ("write", 4, "service=background; durable=yes"),
    "servers": ("write", 4, "service=servers; servers=1; durable=yes"),
    "replace": ("replace", 4, "durable=yes"),
    "live": ("replace", 4, "durable=yes; publish=live"),
    "append": ("append", 3, "durable=yes"),
    "rewrite": ("rewrite", 2, "durable=yes"),
    "drop": ("drop", 2, "durable=yes"),
    "restart": ("restart", 3, ""),
    "restart-nc4": ("restart", 3, "format=netcdf4; deflate=1"),
    "tiles": ("write", 4, "method=tiles; tiles=1x2; files=tiles; durable=yes"),
    "variables": ("write", 4, "files=variable; durable=yes"),
    "summed": ("write", 4, "checksums=yes; durable=yes"),
    "summed-asked": ("write", 4, "checksums=yes"),
    "summed-background": ("write", 4, "checksums=yes; service=background"),
    "summed-append": ("append", 3, "checksums=yes"),
    "summed-nc4": ("write", 4, "format=netcdf4; deflate=1; chunks=y=4; checksums=yes; durable=yes"),
    "asked": ("write", 4, "service=background"),
    "asked-inline": ("write", 4, "method=direct"),
    "nc4": ("late", 4, "format=netcdf4; durable=yes"),
    "nc4-deflate": ("write", 4, "format=netcdf4; deflate=1; chunks=y=4; durable=yes"),
    "nc4-background": (
        "write",
        4,
        "format=netcdf4; deflate=1; chunks=y=4; durable=yes; service=background",
    ),
    "nc4-servers": ("write", 4, "format=netcdf4; durable=yes; service=servers; servers=1"),
    "nc4-append": ("append", 3, "format=netcdf4; deflate=1; chunks=y=4; durable=yes"),
    "nc4-drop": ("drop", 2, "format=netcdf4; deflate=1; chunks=y=4; durable=yes"),
    "nc4-live": ("replace", 3, "format=netcdf4; durable=yes; publish=live"),
    "nc4-late": (
        "late",
        3,
        "format=netcdf4; zstd=1; chunks=y=4; durable=yes; service=servers; servers=1",
    ),
    "nc4-continued": (
        "append",
        3,
        "format=netcdf4; deflate=1; chunks=y=4; durable=yes; service=background",
    ),
    "continued": ("append", 3, "durable=yes; service=background"),
    "dropped": ("drop", 2, "format=cdf5; durable=yes; service=servers; servers=1"),
    "nc4-asked": ("write", 4, "format=netcdf4; deflate=1; chunks=y=4"),
    "zarr": ("write", 4, "format=zarr; zstd=1; chunks=y=4; durable=yes"),
    "zarr-plain": ("write", 4, "format=zarr; durable=yes; service=background"),
    "zarr-servers": ("write", 4, "format=zarr; zstd=1; durable=yes; service=servers; servers=1"),
    "zarr-append": ("append", 3, "format=zarr; zstd=1; durable=yes"),
    "zarr-asked": ("write", 4, "format=zarr; zstd=1; chunks=y=4; checksums=yes"),
}


def record(args, root: Path) -> None:
    """Runs all scenarios in one job, and records the changes of their files."""
    runs, log, scratch = root / "runs", root / "log", root / "mpi"
    for made in (runs, log, scratch):
        made.mkdir()
    plan = root / "plan"
    lines = (f"{name} {mode} {steps} {s}" for name, (mode, steps, s) in scenarios(args).items())
    plan.write_text("".join(line + "\n" for line in lines))
    exported = {
        "LD_PRELOAD": args.inject,
        "THALWEG_RECORD": str(log),
        "THALWEG_FAULT_PATH": str(runs),
    }
    environment = dict(os.environ, TMPDIR=str(scratch))
    for name in ("btl_vader_backing_directory", "orte_tmpdir_base"):
        environment[f"OMPI_MCA_{name}"] = str(scratch)
    variables = [f"{name}={value}" for name, value in exported.items()]
    command = [*args.launcher, str(RANKS), "env", *variables, args.model]
    done = subprocess.run(
        [*command, "--folder", str(runs), "--plan", str(plan)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        raise SystemExit("crash: the run without faults failed:\n" + done.stdout[-10000:])


def scenarios(args) -> dict:
    chosen = args.only.split(",") if args.only else list(PLAN)
    return {name: PLAN[name] for name in chosen}


class Scenario:
    """The states of the files of one run."""

    def __init__(self, name: str, recording: Recording, choose: random.Random):
        self.name = name
        self.mode, _, self.settings = PLAN[name]
        self.durable = "durable=yes" in self.settings or self.mode == "restart"
        self.recording = recording
        self.points = recording.points()
        self.promises = [promise_at(recording.marks, p.moment) for p in self.points]
        self.choose = choose
        self.seen: set[bytes] = set()
        self.counts: Counter[str] = Counter()
        self.whole = [p.subsets() if p.is_small() else None for p in self.points]
        self.left = [i for i, w in enumerate(self.whole) if w is not None]

    def next(self, exhaustive: bool) -> tuple[Point, Choice, Promise] | None:
        """Returns a state that was not judged yet; None if none was found."""
        for _ in range(200):
            if exhaustive and self.left:
                at = self.choose.choice(self.left)
                choice = next(self.whole[at], None)
                if choice is None:
                    self.left.remove(at)
                    continue
            else:
                at = self.choose.randrange(len(self.points))
                choice = self.points[at].sample(self.choose)
            state = self.points[at].state(choice)
            if self.is_new(state, self.promises[at]):
                return self.points[at], choice, self.promises[at]
        return None

    def is_new(self, state: dict, promise: Promise) -> bool:
        digest = hashlib.blake2b(repr(promise.key()).encode(), digest_size=16)
        for path, content in sorted(state.items()):
            digest.update(path.encode() + b"\0" + (content or b"") + b"\0")
        if digest.digest() in self.seen:
            return False
        self.seen.add(digest.digest())
        return True

    def judge(self, judge: Judge, point: Point, choice: Choice, promise: Promise) -> Verdict:
        judge.summed = "checksums=yes" in self.settings
        judge.live = "publish=live" in self.settings or self.mode in ("append", "rewrite", "drop")
        tiled = "files=tiles" in self.settings
        judge.tile_names = [f"{NAME}.000{k}" for k in range(2)] if tiled else []
        verdict = judge.judge(point.state(choice), promise, self.mode == "restart", self.durable)
        self.counts["states"] += 1
        self.counts["holes"] += verdict.holes > 0
        self.counts["refused"] += verdict.refused > 0
        self.counts["appended"] += verdict.appended
        self.counts["problems"] += len(verdict.problems)
        return verdict


def show(scenario: Scenario, number: int, args, point, choice, promise, verdict) -> None:
    print(f"crash: {scenario.name}, state {number}, at {point.moment}: {promise}")
    for problem in verdict.problems:
        print(f"  {problem}")
    for line in point.describe(choice)[: args.lines]:
        print(f"    {line}")
    sys.stdout.flush()


def judge_states(args, all_of: list[Scenario], judge: Judge) -> int:
    """Judges states of all scenarios in turn, until there are no more or time is over."""
    began = time.monotonic()
    bad = number = 0
    left = list(all_of)
    while left and number < args.states and time.monotonic() - began < args.seconds:
        scenario = left[number % len(left)]
        found = scenario.next(args.exhaustive)
        if found is None:
            left.remove(scenario)
            continue
        number += 1
        verdict = scenario.judge(judge, *found)
        bad += len(verdict.problems)
        if verdict.problems and scenario.counts["shown"] < args.show:
            scenario.counts["shown"] += 1
            show(scenario, number, args, *found, verdict)
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--inject", required=True, help="the library that records")
    parser.add_argument("--states", type=int, default=10**9, help="number of states to judge")
    parser.add_argument("--seconds", type=float, default=60, help="no state begins after that")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="of " + ", ".join(PLAN))
    parser.add_argument(
        "--exhaustive", action="store_true", help="all subsets of few changes before samples"
    )
    parser.add_argument("--show", type=int, default=3, help="number of bad states of each scenario")
    parser.add_argument("--lines", type=int, default=12, help="of the description of a state")
    parser.add_argument("--keep", action="store_true", help="leave the files behind")
    parser.add_argument("launcher", nargs="+", help="after --: mpirun and its flags, to -n")
    args = parser.parse_args()
    choose = random.Random(args.seed)
    began = time.monotonic()
    with folder(args.keep) as root:
        record(args, root)
        changes = read_log(root / "log")
        print(f"crash: {len(changes)} changes in {time.monotonic() - began:.1f} s", flush=True)
        all_of = [
            Scenario(name, Recording(root / "runs" / name, changes), choose)
            for name in scenarios(args)
        ]
        server = Server(args.model, root / "mpi")
        bad = judge_states(args, all_of, Judge(root / "state", server))
        server.end()
    total: Counter[str] = Counter()
    for s in all_of:
        total += s.counts
        rest = ", ".join(f"{s.counts[k]} {k}" for k in ("refused", "holes", "appended", "problems"))
        print(
            f"crash: {s.name:15} {len(s.points):4} moments, at most "
            f"{max(p.unsafe_count() for p in s.points):3} unsafe changes, "
            f"{s.counts['states']:6} states: {rest}"
        )
    print(
        f"crash: {total['states']} states, seed {args.seed}: "
        + (f"{bad} problems" if bad else "all is well")
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
