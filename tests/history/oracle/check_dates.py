#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares dates and times with cftime: check_dates.py PROGRAM COUNT, a count for each calendar."""

import subprocess
import sys
from fractions import Fraction

import cftime
import numpy as np

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
UNITS = [
    ("days since 1850-01-01 00:00:00", 86400),
    ("hours since 2000-02-28 06:30:00", 3600),
    ("minutes since 1582-10-04 00:00:00", 60),
    ("seconds since 0001-01-01 00:00:00", 1),
]
AT_A_TIME = 50000


def rows(program, calendar, units, count, seed):
    command = [program, calendar, units, str(count), str(seed)]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(found, "i8").reshape(-1, 6)


def date(row, calendar):
    year, month, day, time = (int(v) for v in row[:4])
    second, micro = divmod(time, 1000000)
    clock = (second // 3600, second // 60 % 60, second % 60, micro)
    return cftime.datetime(year, month, day, *clock, calendar=calendar)


def check(program, calendar, units, length, count, seed):
    found = rows(program, calendar, units, count, seed)
    assert len(found) == count
    dates = [date(row, calendar) for row in found]
    expected = np.array(cftime.date2num(dates, units, calendar=calendar), "f8")
    values = found[:, 4].copy().view("f8")
    wrong = np.flatnonzero(values != expected)
    for i in wrong[:5]:
        print(f"{calendar}, {units}: {dates[i]}: {values[i]!r}, cftime says {expected[i]!r}")
    # The value must be the exact quotient, rounded to a double.
    some = slice(None, None, max(1, count // 2000))
    for row, value in zip(found[some], values[some], strict=True):
        exact = Fraction(int(row[5]), length * 1000000)
        assert float(exact) == value, (units, row)
    whole = [i for i in range(0, count, max(1, count // 2000)) if found[i, 3] % 1000000 == 0]
    back = cftime.num2date(values[whole], units, calendar=calendar)
    for i, other in zip(whole, back, strict=True):
        # cftime rounds values in days and hours to about a microsecond.
        apart = abs(round((other - dates[i]).total_seconds() * 1000000))
        assert apart <= 200, (calendar, units, dates[i], other)
    return len(wrong)


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    wrong = 0
    for calendar in CALENDARS:
        for seed, (units, length) in enumerate(UNITS):
            left = count // len(UNITS)
            while left > 0:
                some = min(left, AT_A_TIME)
                wrong += check(program, calendar, units, length, some, seed * 1000003 + left)
                left -= some
        print(f"{calendar}: {count} dates", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
