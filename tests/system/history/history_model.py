# SPDX-License-Identifier: Apache-2.0
"""Computes the records that a history writes from its rules (docs/history.md), by numpy and
cftime; and makes cases for history_schedules.cpp, which runs them. Times are whole seconds since
the start."""

import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import cftime
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "history/oracle"))
from check_numbers import Model, missing_in

DIFFERENCES = ("difference", "rate")
AVERAGES = ("mean", "rms", "mean_square", "std")
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
FILL = 1e20


class Clock:
    def __init__(self, calendar: str, start: str):
        self.calendar, self.start = calendar, self.parse(start, calendar)
        self.units = f"seconds since {start.replace('T', ' ')}"

    @staticmethod
    def parse(text: str, calendar: str):
        day, _, time = text.partition("T")
        numbers = [int(n) for n in day.split("-") + (time or "0:0:0").split(":")]
        return cftime.datetime(*numbers, calendar=calendar)

    def seconds(self, date) -> int:
        return round(float(cftime.date2num(date, self.units, self.calendar)))

    def date(self, seconds: int):
        return cftime.num2date(seconds, self.units, self.calendar)

    def midnight(self, year, month=1, day=1) -> int:
        return self.seconds(cftime.datetime(year, month, day, calendar=self.calendar))

    def months_later(self, date, months: int) -> int:
        year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
        for day in range(date.day, 0, -1):
            try:
                later = date.replace(year=year, month=month + 1, day=day)
                return self.seconds(later)
            except ValueError:
                continue
        raise AssertionError

    def boundaries(self, every: tuple, anchor: str, end: int) -> list[int]:
        """Returns all boundaries that are needed for samples from 0 to the end, in order."""
        if isinstance(every, list):
            return self.chain(every, anchor, end)
        if every[0] == "times":
            return [-(10**12), *every[1], 10**12]
        n, unit = every
        if unit == "season":
            n, unit, anchor = 3, "month", f"{self.start.year - 1}-12-01"
        origin = self.start
        if anchor not in ("calendar", "start"):
            origin = self.parse(anchor, self.calendar)
        elif anchor == "calendar":
            first = unit == "month" or unit == "year"
            origin = origin.replace(hour=0, minute=0, second=0)
            origin = origin.replace(month=1, day=1) if first else origin
        if unit in SECONDS:
            length, phase = n * SECONDS[unit], self.seconds(origin)
            first = (0 - phase) // length - 1
            return [phase + k * length for k in range(first, (end - phase) // length + 3)]
        n *= 12 if unit == "year" else 1
        first = (self.start.year - origin.year - 1) * 12 // n - 1
        found = []
        while not found or found[-1] <= end:
            found.append(self.months_later(origin, n * (first + len(found))))
        return found

    def chain(self, every: list, anchor: str, end: int) -> list[int]:
        """Returns the boundaries of intervals (N, unit, days after the origin at which it ends)."""
        origin = (
            self.start if anchor in ("calendar", "start") else self.parse(anchor, self.calendar)
        )
        origin, found = self.seconds(origin), []
        for n, unit, days in every:
            length = n * SECONDS[unit]
            begin = found[-1] if found else origin - (origin // length + 1) * length
            stop = origin + days * 86400 if days else max(end, begin) + 2 * length
            found += range(begin + (length if found else 0), stop + 1, length)
        return found


@dataclass
class Field:
    name: str
    type: str = "f8"
    missing: str = "none"
    value: float = -999.0

    def attributes(self) -> str:
        return f"missing={self.missing};missing_value={self.value};coordinates=lon lat"


@dataclass
class Stream:
    name: str
    fields: list[str]
    every: tuple  # window of the stream; ("run",): the whole run
    op: str = "mean"
    anchor: str = "calendar"
    start: str = ""  # the key `from` of the stream; empty: none
    to: str = ""
    counts: bool = False
    partial: str = "write"
    at_close: str = "drop"
    stamp: str = "middle"
    min_valid: float = 0.0
    ddof: int = 0
    weight: str = ""
    inner: tuple = ()  # operation and window of the inner operation; empty: none
    new_file: tuple = ()
    bins: tuple = ()  # length of the bins of a cycle: (seconds, "second"), (1, "month"), ...
    local: tuple = ()  # local solar times in hours

    def splits(self) -> bool:
        """Tests if a sample counts in each window with the part of its step that lies there."""
        return (self.inner[0] if self.inner else self.op) in AVERAGES and not self.counts

    def toml(self, folder: Path) -> str:
        def text(every):
            if isinstance(every, list):
                return [f"{n} {unit}" + f" to {days} days" * (days > 0) for n, unit, days in every]
            return every[0] if len(every) == 1 else f"{every[0]} {every[1]}"

        day = bool(self.bins) and self.bins[1] == "second"
        keys = {
            "name": self.name,
            "fields": self.fields,
            "every": text(self.every),
            "op": "diurnal" if day else "climatology" if self.bins else self.op,
            "type": "double",
            "path": str(
                folder / (self.name + ("_{start:YYYYMMDD}.nc" if self.new_file else ".nc"))
            ),
            "stamp": self.stamp,
            "weights": "count" if self.counts else "duration",
        }
        for name, value in (("from", self.start), ("to", self.to), ("weight", self.weight)):
            if value:
                keys[name] = value
        if self.every[0] == "times":
            del keys["every"]
            keys["times"] = [f"{t} seconds" for t in self.every[1]]
        if self.every != ("run",):
            keys |= {"anchor": self.anchor, "partial": self.partial, "at_close": self.at_close}
            if self.every[0] == "times":
                del keys["anchor"]
        if self.op in DIFFERENCES or self.local:
            del keys["weights"]
        if self.op in DIFFERENCES:
            keys.pop("partial", None)
        if self.bins:
            keys["bins"] = 86400 // self.bins[0] if day else self.bins[1]
        if self.local:
            keys["local_time"] = list(self.local)
        if self.new_file:
            keys["new_file"] = text(self.new_file)
        lines = [
            f"{name} = {value if isinstance(value, (list, int)) else repr(str(value))}"
            for name, value in keys.items()
        ]
        for name, value in (("min_valid", self.min_valid), ("ddof", self.ddof)):
            if value:
                lines.append(f"{name} = {value}")
        if self.inner:
            lines.append(f"inner = {{ op = '{self.inner[0]}', every = '{text(self.inner[1])}' }}")
        return "[[stream]]\n" + "\n".join(lines) + "\n"


@dataclass
class Case:
    folder: Path
    calendar: str
    start: str
    fields: list[Field]
    streams: list[Stream]
    elements: int
    times: list[int]
    sent: list[dict] = field(default_factory=list)  # arrays that are sent in each step, by name
    weights: list[dict] = field(default_factory=list)  # the model's weights of these samples
    restarts: set = field(default_factory=set)  # numbers of the steps after which the run restarts
    settings: str = "-"  # of the history; '-': none
    more: str = ""  # additional TOML of the configuration

    def write(self, schedule) -> None:
        self.folder.mkdir()
        config, data = self.folder / "history.toml", self.folder / "data"
        units = '[history]\ntime_units = "seconds since START"\n'
        config.write_text(units + "".join(s.toml(self.folder) for s in self.streams) + self.more)
        words = (self.calendar, self.start, config, data, self.elements, self.settings)
        print("case", *words, file=schedule)
        for f in self.fields:
            print("field", f.name, f.type, f.attributes(), file=schedule)
        with data.open("wb") as out:
            for step, (time, sent) in enumerate(zip(self.times, self.sent, strict=True)):
                words = []
                own = self.weights[step] if self.weights else {}
                for name, values in sent.items():
                    words += [name, str(out.tell()), str(own.get(name, "-"))]
                    out.write(values.tobytes())
                    out.write(b"\0" * (-out.tell() % 8))
                print("step", time, *words, file=schedule)
                if step in self.restarts:
                    print("restart", self.folder / "restart.nc", file=schedule)
        print("end", file=schedule)

    def begin(self, stream: Stream) -> int:
        clock = Clock(self.calendar, self.start)
        return (
            max(0, clock.seconds(clock.parse(stream.start, clock.calendar))) if stream.start else 0
        )

    def longitudes(self) -> np.ndarray:
        return 7.5 * np.arange(self.elements) - 50

    def expected(self, stream: Stream) -> dict:
        """Returns the expected records by the date in the name of their file: (time, begin, end,
        values by field)."""
        clock, last = Clock(self.calendar, self.start), self.times[-1]
        begin = self.begin(stream)
        to = clock.seconds(clock.parse(stream.to, clock.calendar)) if stream.to else None
        if stream.every == ("run",):
            windows = [(begin, begin, last if to is None or to > last else to)]
        else:
            b = clock.boundaries(stream.every, stream.anchor, last)
            windows = [(c, max(c, begin), d) for c, d in pairwise(b)]
        files, bases = {}, {}
        for name in stream.fields:
            at_begin = [i for i, t in enumerate(self.times) if t == begin]
            bases[name] = (begin, self.sent[at_begin[0]].get(name)) if at_begin else (begin, None)
        for nominal, first, end in windows:
            if not self.samples(stream, first, end) or (to is not None and end > to):
                continue
            drops = stream.partial == "drop" and stream.op not in DIFFERENCES
            if drops and nominal < first and stream.every != ("run",):
                continue
            stop = min(end, last)
            if end > last and (stream.at_close == "drop" or end >= 10**12):
                continue
            key = ""
            if stream.new_file:
                periods = clock.boundaries(stream.new_file, stream.anchor, end)
                date = clock.date(max(p for p in periods if p < end))
                key = f"_{date.year:04}{date.month:02}{date.day:02}"
            for parts in self.parts(stream, first, stop):
                lo, hi = parts[0]
                stamp = {"begin": lo, "middle": (lo + hi) / 2, "end": hi}[stream.stamp]
                values = {}
                for name in stream.fields:
                    if stream.op in DIFFERENCES:
                        values[name] = self.difference(stream, name, first, stop, bases)
                    else:
                        values[name] = self.result(stream, name, parts, first, stop)
                files.setdefault(key, []).append((stamp, lo, parts[-1][1], values))
        return files

    def parts(self, stream: Stream, first: int, stop: int) -> list[list[tuple]]:
        """Returns for each record of a window the times to which it belongs."""
        if not stream.bins:
            return [[(first, stop)]]
        clock, found = Clock(self.calendar, self.start), {}
        for c, d in pairwise(clock.boundaries(stream.bins, "calendar", stop)):
            if d > first and c < stop:
                date = clock.date(c)
                key = {
                    "second": c - clock.midnight(date.year, date.month, date.day),
                    "day": (date.month, date.day),
                    "month": date.month,
                    "season": date.month,
                }[stream.bins[1]]
                found.setdefault(key, []).append((max(c, first), min(d, stop)))
        return [p for p in found.values() if any(self.samples(stream, *part) for part in p)]

    def difference(self, stream: Stream, name: str, first: int, stop: int, bases: dict):
        f = next(f for f in self.fields if f.name == name)
        inside = [
            (t, self.sent[i][name])
            for i, t in enumerate(self.times)
            if first < t <= stop and name in self.sent[i]
        ]
        (before, base), bases[name] = bases[name], inside[-1] if inside else (0, None)
        if base is None or not inside:
            return np.full(self.elements, FILL)
        time, x = inside[-1]
        valid = np.ones(self.elements, bool)
        if f.missing != "none":
            valid = ~missing_in(x, np.array(f.value, f.type))
            valid &= ~missing_in(base, np.array(f.value, f.type))
        seconds = float(time - before) if stream.op == "rate" else 1.0
        return np.where(valid, (x.astype("f8") - base.astype("f8")) / seconds, FILL)

    def samples(self, stream: Stream, first: int, end: int) -> list[tuple]:
        """Returns the steps whose samples count in a window, and their times; that of a step which
        goes on after the window is the window's end."""
        steps = list(enumerate(pairwise([0, *self.times])))
        found = [(i, t) for i, (_, t) in steps if first < t <= end]
        if stream.splits():
            found += [(i, end) for i, (before, t) in steps if before < end < t and end > first]
        return found

    def result(self, stream: Stream, name: str, parts: list, first: int, stop: int):
        f = next(f for f in self.fields if f.name == name)
        integers = f.type == "i4"
        outer = Model(
            stream.op, self.elements, integers and not stream.inner, stream.min_valid, stream.ddof
        )
        weigh = Durations(stream.counts)
        if not stream.inner:
            for part in parts:
                self.add_all(outer, stream, f, *part, weigh)
        else:
            clock = Clock(self.calendar, self.start)
            b = clock.boundaries(stream.inner[1], stream.anchor, stop)
            of_inner = Durations(stream.counts)
            for c, d in pairwise(b):
                inner = Model(stream.inner[0], self.elements, integers)
                weigh.unit = None
                if d > first:
                    self.add_all(inner, stream, f, max(c, first), min(d, stop), weigh)
                if inner.samples > 0:
                    values, valid = inner.result()
                    w = of_inner.next(first, min(d, stop))
                    outer.add(np.array(values, "f8"), valid, w, None)
        if outer.total == 0:
            return np.full(self.elements, FILL)
        values, valid = outer.result()
        return np.where(valid, np.array(values, "f8"), FILL)

    def add_all(self, to: Model, stream: Stream, f: Field, first: int, end: int, weigh) -> None:
        for i, time in self.samples(stream, first, end):
            x = self.sent[i].get(f.name)
            if x is None:
                continue
            valid = np.ones(self.elements, bool)
            if f.missing != "none":
                valid = ~missing_in(x, np.array(f.value, f.type))
            own = self.sent[i][stream.weight] if stream.weight else None
            if stream.local:
                sent = [t for j, t in enumerate(self.times) if j < i and f.name in self.sent[j]]
                begin = Clock(self.calendar, self.start).parse(self.start, self.calendar)
                noon = begin.hour * 3600 + begin.minute * 60
                from_start = [t for t in sent if t > self.begin(stream)]
                before = from_start[-1] if from_start else self.begin(stream)
                own = np.zeros(self.elements)
                for hour in stream.local:
                    ahead = np.round(self.longitudes() / 360 * 86400e6) - hour * 3600e6
                    days = [np.floor(((t + noon) * 1e6 + ahead) / 86400e6) for t in (before, time)]
                    own[days[1] > days[0]] = 1
            weight = weigh.next(first, time)
            if self.weights and f.name in self.weights[i]:
                weight = self.weights[i][f.name]
                begin = self.times[i - 1] if i > 0 else 0
                part, whole = time - max(begin, first), self.times[i] - begin
                if stream.splits() and part != whole:
                    weight *= part / whole
            to.add(x, valid, weight, own)


def run(launcher: list[str], ranks: int, program: str, cases: list[Case], schedule: Path) -> None:
    with schedule.open("w") as out:
        for case in cases:
            case.write(out)
    done = subprocess.run(
        [*launcher, str(ranks), program, schedule],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "is not complete" not in line]
        sys.exit("\n".join(lines[-30:]))


class Durations:
    """Weights of samples, each of which represents the time since the previous one, in units of
    the first weight."""

    def __init__(self, counts: bool):
        self.counts, self.previous, self.unit = counts, None, None

    def next(self, begin: int, now: int) -> float:
        since = now - (begin if self.previous is None else max(begin, self.previous))
        self.previous = now
        self.unit = self.unit or since
        return 1.0 if self.counts else since / self.unit
