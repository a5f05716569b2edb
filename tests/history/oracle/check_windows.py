#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the records of random streams with a model in cftime: check_windows.py PROGRAM CASES"""

import subprocess
import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import cftime
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "system/history"))
from history_model import SECONDS, Clock

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
MICRO = timedelta(microseconds=1)


class Case:
    def __init__(self, seed):
        random = np.random.default_rng(seed)

        def pick(*values):
            return values[random.integers(len(values))]

        self.calendar = pick(*CALENDARS)
        year, month = int(pick(5, 1582, 1899, 1900, 2000, 2003)), int(random.integers(1, 13))
        first = int(random.integers(1, 5)) if random.random() < 0.7 else 1
        hour, minute = (0, 0) if random.random() < 0.5 else (int(random.integers(24)), 30)
        self.start = self.date(year, month, first, hour, minute)
        self.n, self.unit = pick(
            *((1, "month"), (1, "month"), (3, "month"), (5, "month"), (1, "year"), (2, "year")),
            *((1, "day"), (5, "day"), (1, "week")),
            *((6, "hour"), (5, "hour"), (90, "minute"), (1, "hour")),
        )
        self.clock = self.unit in ("hour", "minute")
        months = {"month": 1, "year": 12}
        length = self.n * (SECONDS.get(self.unit) or 28 * 86400 * months[self.unit])
        # From steps much shorter than a window to steps that cross boundaries or cover several
        # windows.
        per_window = float(pick(24, 8, 4, 3, 2.5, 1.7, 1.0, 0.7))
        self.dt = max(1, int(length * 1e6 / per_window))
        if random.random() < 0.8 and self.dt > 3600e6:
            self.dt = int(self.dt // 3600e6 * 3600e6)
        self.steps = int(random.integers(1, 60))
        self.anchor = None
        anchor = pick("calendar", "calendar", "start", "date")
        if anchor == "date":
            self.anchor = self.date(year, month, int(pick(1, 4, 28, 30)), int(pick(0, 12)), 0)
        self.anchor_word = word(self.anchor) if self.anchor else anchor
        self.instant = random.random() < 0.3
        self.initial = bool(self.instant and random.random() < 0.5)
        self.drop = random.random() < 0.3
        self.edge = "begin" if not self.instant and random.random() < 0.3 else "end"
        self.known = self.edge == "begin" and random.random() < 0.5
        run = timedelta(microseconds=self.dt) * self.steps
        # Samples count in each window with the part of their step that lies there.
        self.splits = self.edge == "end" and not self.instant and random.random() < 0.5
        self.first = self.start + run * 0.3 if random.random() < 0.3 else None
        self.last = self.start + run * 0.8 if random.random() < 0.3 else None

    def date(self, *parts):
        """Returns a date; if the calendar lacks it, a later day."""
        for day in (parts[2], 28, 15):
            try:
                return cftime.datetime(*parts[:2], day, *parts[3:], calendar=self.calendar)
            except ValueError:
                continue
        raise AssertionError(parts)

    def line(self):
        every = f"P{'T' if self.clock else ''}{self.n}{self.unit[0].upper()}"
        return " ".join(
            str(int(v) if isinstance(v, bool) else v)
            for v in (
                *(self.calendar, word(self.start), every, self.anchor_word, self.dt, self.steps),
                *(self.instant, self.initial, self.drop, self.edge, self.known, self.splits),
                *(word(self.first), word(self.last)),
            )
        )

    def boundaries(self):
        """Returns the boundaries; none if the windows do not fit the calendar."""
        length = self.n * SECONDS.get(self.unit, 0)
        fits = {"month": 12 % self.n, "year": 0}.get(self.unit, 86400 % length if self.clock else 0)
        if self.anchor_word == "calendar" and fits != 0:
            return []
        start, anchor = (text.partition(".")[0] for text in (word(self.start), self.anchor_word))
        clock = Clock(self.calendar, start)
        end = (self.dt * (self.steps + 1)) // 10**6 + 1
        found = clock.boundaries((self.n, self.unit), anchor, end)
        return [clock.start + timedelta(seconds=b) for b in found]

    def expected(self):
        b = self.boundaries()
        if not b:
            return "REFUSED", []
        begin = max(self.start, self.first) if self.first else self.start
        dt = timedelta(microseconds=self.dt)
        times = [self.start + dt * i for i in range(self.steps + 1)]

        def written(k):
            """Tests if the window from b[k - 1] to b[k] is one of the stream's."""
            return (
                b[k] > begin
                and (not self.last or b[k] <= self.last)
                and (not self.drop or b[k - 1] >= begin)
            )

        def inside(time, k):
            if self.edge == "end":
                return b[k - 1] < time <= b[k]
            return b[k - 1] <= time < b[k]

        def window_of(time):
            return next(k for k in range(1, len(b)) if inside(time, k))

        # Find the first step that covers a whole window which is written, unless samples are split.
        steps = len(times)
        status = "OK"
        for i in range(1, len(times)):
            left, entered = window_of(times[i - 1]), window_of(times[i])
            whole = range(max(left, window_before(b, begin)) + 1, entered)
            if any(written(k) for k in whole) and not self.splits:
                steps, status = i, "COVERED"
                break
        times = times[:steps]
        if self.instant:
            return status, self.instants(b, begin, times)
        records = []
        for k in range(1, len(b)):
            if not written(k):
                continue
            samples = [t for t in times if inside(t, k)]
            samples = [t for t in samples if (t > begin if self.edge == "end" else t >= begin)]
            if self.splits:
                first = max(b[k - 1], begin)
                samples += [
                    b[k] for before, t in pairwise(times) if before < b[k] < t and b[k] > first
                ]
            # A window is complete if a step ends at its end or after it.
            complete = times[-1] >= b[k]
            if self.edge == "begin" and self.known and samples:
                complete = times[-1] + dt >= b[k]
            if complete and samples:
                records.append((max(b[k - 1], begin), b[k], len(samples)))
        return status, records

    def instants(self, b, begin, times):
        records = []
        for i, time in enumerate(times):
            if self.last and time > self.last:
                break
            due = self.initial and time == begin
            if i > 0 and time > begin:
                due = due or any(times[i - 1] < edge <= time and edge > begin for edge in b)
            if due:
                records.append((time, time, 1))
        return records


def window_before(b, begin):
    """Returns the window that contains a time, or ends at it."""
    return next((k for k in range(1, len(b)) if b[k - 1] < begin <= b[k]), 0)


def word(date):
    return "-" if date is None else date.strftime("%Y-%m-%dT%H:%M:%S.%f").replace(" ", "0")


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    cases = [Case(seed) for seed in range(count)]
    asked = "".join(case.line() + "\n" for case in cases)
    run = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    wrong, seen = 0, {}
    for case, answer in zip(cases, answers, strict=True):
        status, records = case.expected()
        seen[status] = seen.get(status, 0) + 1
        seen["records"] = seen.get("records", 0) + len(records)
        numbers = [
            f" {(r[0] - case.start) // MICRO} {(r[1] - case.start) // MICRO} {r[2]}"
            for r in records
        ]
        expected = status + "".join(numbers)
        if answer == expected:
            continue
        wrong += 1
        if wrong <= 3:
            print(f"{case.line()}\n  found    {answer[:300]}\n  expected {expected[:300]}")
    print(f"{count} cases {seen}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
