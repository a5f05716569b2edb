#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares histories of random configurations and schedules with the model of history_model.py,
bit for bit. Arguments: program, number of cases, launcher and its flags up to -n. Prints the seed,
which THALWEG_TEST_SEED sets."""

import os
import random
import sys
import tempfile
from itertools import accumulate
from pathlib import Path

import netCDF4
import numpy as np
from history_model import SECONDS, Case, Field, Stream, run

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
EVERY = [(6, "hour"), (12, "hour"), (1, "day"), (2, "day"), (5, "day"), (1, "week"), (1, "month")]
# Inner windows that divide those of the stream if both are counted from the same time.
INNER = {(1, "day"): (6, "hour"), (2, "day"): (1, "day"), (1, "month"): (1, "day")}
# Intervals one after another: N, unit, and the end in days after the first one; 0: for ever.
CHAINS = [
    [(6, "hour", 2), (1, "day", 10), (5, "day", 0)],
    [(12, "hour", 6), (3, "day", 0)],
    [(1, "hour", 1), (2, "hour", 0)],
]


def random_windows(choose: random.Random, stream: Stream) -> None:
    """Gives a stream windows of different lengths, or the bins of a cycle."""
    stream.anchor = "calendar"
    kind = choose.randrange(4)
    if kind == 0:
        stream.every = choose.choice(CHAINS)
        stream.anchor = choose.choice(["start", "1999-12-30T05:00:00"])
    elif kind == 1:
        times = {*choose.sample(range(1, 40), choose.randint(0, 5)), 40}
        stream.every = ("times", tuple(43200 * t for t in sorted(times)))
    elif kind == 2:
        stream.every = (1, "season")
    else:
        stream.every = choose.choice([(1, "month"), (5, "day"), ("run",)])
        stream.op = "mean"
        stream.bins = choose.choice([(21600, "second"), (10800, "second")])
        if stream.every == ("run",):
            stream.bins = choose.choice([(1, "day"), (1, "month"), (1, "season")])


def random_stream(choose: random.Random, number: int, always: list[str], some: list[str]) -> Stream:
    every = choose.choice([*EVERY, ("run",)])
    stream = Stream(f"s{number}", [], every)
    stream.op = choose.choice(["mean", "mean", "min", "max", "sum", "rms", "mean_square", "std"])
    if len(every) == 2:
        stream.anchor = choose.choice(["calendar", "start", "1999-12-30T05:00:00"])
    stream.counts = choose.random() < 0.4
    stream.partial = choose.choice(["write", "drop"])
    stream.at_close = "write" if every == ("run",) else choose.choice(["write", "drop"])
    stream.stamp = choose.choice(["begin", "middle", "end"])
    if choose.random() < 0.4:
        random_windows(choose, stream)
        every = stream.every
    if not stream.bins and choose.random() < 0.2:
        stream.op, stream.counts = choose.choice(["difference", "rate"]), False
    elif not stream.bins and choose.random() < 0.1:
        stream.op, stream.counts = choose.choice(["mean", "rms"]), True
        stream.local = tuple(choose.sample([0, 1.5, 13.5, 23.25], choose.randint(1, 2)))
    fixed = every not in ((1, "month"), (1, "season"), ("run",))
    stream.fields = choose.sample(always, 2)
    if choose.random() < 0.25:
        stream.start = choose.choice(["2000-02-02", "2000-02-02T13:00:00"])
    elif every != ("run",) and stream.partial == "write":
        stream.fields += some
    if choose.random() < 0.2 and every in [("run",), *EVERY[:-1]]:  # else there may be none
        stream.to = choose.choice(["2000-03-01"] + ["2000-02-20T06:00:00"] * (not stream.bins))
    if stream.op in ("difference", "rate") or stream.local:
        stream.partial = "write"
    elif stream.op in ("mean", "rms") and choose.random() < 0.3:
        stream.weight = "W"
    elif not stream.bins and isinstance(every, tuple) and every in INNER and choose.random() < 0.4:
        stream.inner = (choose.choice(["max", "min", "mean"]), INNER[every])
    elif choose.random() < 0.3:
        stream.min_valid = choose.choice([0.25, 0.5, 1.0])
    if stream.op == "std" and stream.counts and not stream.inner and choose.random() < 0.5:
        stream.ddof = 1
    if fixed and choose.random() < 0.3:
        stream.new_file = choose.choice([(1, "month"), (10, "day")])
    return stream


def may_pass(stream: Stream, longest: int) -> bool:
    """Tests if no step passes a whole window without counting in it."""
    finest = stream.inner[1] if stream.inner else stream.bins or stream.every
    if stream.splits() or finest == ("run",) or finest[-1] in ("month", "season"):
        return True
    if finest[0] == "times":
        return longest <= 43200
    if isinstance(finest, list):
        finest = finest[0]
    return finest[0] * SECONDS[finest[1]] >= longest


def random_case(folder: Path, choose: random.Random) -> Case:
    numbers = np.random.default_rng(choose.randrange(1 << 32))
    missing = ["none", "fixed", "varying"]
    fields = [
        Field("W"),
        *(Field(f"A{i}", choose.choice(["f8", "f4"]), m) for i, m in enumerate(missing)),
    ]
    fields += [Field("I", "i4", choose.choice(missing)), Field("S", "f8", choose.choice(missing))]
    step = choose.choice([3600, 7200, 10800, 18000, 21600])
    length = choose.choice([70, 150, 300])
    steps = [step] * length
    if choose.random() < 0.4:
        lengths = [1800, 3600, 10000, 50000, 100000, 250000]
        steps = [choose.choice(lengths[: choose.randint(2, 6)]) for _ in range(70)]
        length = len(steps)
    case = Case(
        folder,
        choose.choice(CALENDARS),
        choose.choice(["2000-01-30", "2000-01-29T12:00:00", "2000-02-01"]),
        fields,
        [],
        choose.choice([1, 5, 40]),
        list(accumulate(steps, initial=0 if choose.random() < 0.3 else None)),
    )
    for n in range(choose.randint(1, 4)):
        stream = random_stream(choose, n, ["A0", "A1", "A2", "I"], ["S"])
        while not may_pass(stream, max(steps)):
            stream = random_stream(choose, n, ["A0", "A1", "A2", "I"], ["S"])
        case.streams.append(stream)
    # Without this, the length of the first step is not known, so it must not pass a window.
    case.settings = f"step={steps[0]}"
    length = len(case.times)
    own = [f.name for f in fields if f.name[0] == "A" and choose.random() < 0.2]
    mask = numbers.random(case.elements) < 0.3
    for i in range(length):
        sent = {}
        for f in fields:
            if f.name == "S" and i > 0 and choose.random() < 0.4:
                continue
            x = (100 * numbers.standard_normal(case.elements)).astype(f.type)
            if f.missing == "fixed":
                x[mask] = f.value
            if f.missing == "varying":
                x[numbers.random(case.elements) < 0.4] = f.value
            sent[f.name] = np.maximum(x, 0) if f.name == "W" else x
        case.sent.append(sent)
        case.weights.append({name: choose.choice([0.0, 0.25, 1.0, 3.0]) for name in own})
    case.restarts = set(choose.sample(range(length - 1), choose.choice([0, 0, 1, 3])))
    return case


def same(a, b) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def check(case: Case) -> list[str]:
    wrong = []
    for stream in case.streams:
        expected = case.expected(stream)
        found = {p.stem for p in case.folder.glob(f"{stream.name}*.nc")}
        if found != {stream.name + key for key in expected}:
            wrong.append(f"{stream}: the files are {sorted(found)}, not {sorted(expected)}")
            continue
        for key, records in expected.items():
            with netCDF4.Dataset(case.folder / f"{stream.name}{key}.nc") as file:
                file.set_auto_mask(False)
                times, bounds = file["time"][:], file["time_bnds"][:]
                if times.tolist() != [r[0] for r in records] or bounds.tolist() != [
                    [r[1], r[2]] for r in records
                ]:
                    wrong.append(
                        f"{stream}: {key}: {bounds.tolist()}, not {[r[:3] for r in records]}"
                    )
                    continue
                for name in stream.fields:
                    right = np.array([r[3][name] for r in records])
                    if not same(file[name][:], right):
                        bad = np.argwhere(file[name][:] != right)[:3].tolist()
                        wrong.append(f"{stream}: {name}{key} differs at {bad}")
    return wrong


def main() -> None:
    program, count, launcher = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seed = int(os.environ.get("THALWEG_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}", flush=True)
    wrong = 0
    for first in range(0, count, 50):
        with tempfile.TemporaryDirectory() as root:
            numbers = range(first, min(count, first + 50))
            cases = [random_case(Path(root, str(n)), random.Random(seed + n)) for n in numbers]
            run(launcher, 1 + first // 50 % 3, program, cases, Path(root, "schedule"))
            for number, case in zip(numbers, cases, strict=True):
                problems = check(case)
                wrong += bool(problems)
                for problem in problems:
                    print(
                        f"case {number} ({case.calendar}, {case.start}, last {case.times[-1]} s,"
                        f" restarts {sorted(case.restarts)}): {problem}"
                    )
    print(f"{count} cases, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
