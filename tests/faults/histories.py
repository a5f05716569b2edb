# SPDX-License-Identifier: Apache-2.0
"""Lets writers, an appender, readers and `recover` work on one file at the same time, kills some of
them, and compares what each of them has read with what a model permits.

histories.py --actor PROGRAM [--seconds S] [--seed N] [--only A,B]

The model: the file is replaced as a whole when a writer closes its file, or when `recover`
completes the file of a killed writer. Appending makes the file longer, record by record. So each
read returns the records of one writer, followed by those of appenders, each with as many records as
it had when it ended or was killed. A read returns all records that were complete before it began,
and no fewer than an earlier read.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

SETTINGS = {
    "classic": "format=cdf2; method=direct",
    "background": "format=cdf5; service=background; durable=yes",
    "summed": "format=cdf2; checksums=yes",
    "nc4": "format=netcdf4",
    "nc4-deflate": "format=netcdf4; deflate=1; chunks=x=100; checksums=yes",
    "nc4-background": "format=netcdf4; deflate=1; chunks=x=100; service=background",
}
ROLES = ("write", "write", "append", "recover", "read", "read", "netcdf")
CHANGES = ("write", "append", "recover")
OK, NOT_FOUND, EXISTS, STATE, FORMAT, IN_USE = 0, -3, -4, -10, -13, -15
NO_FILE = 2  # ENOENT, which netCDF-C returns unchanged
HDF_ERROR = -101  # netCDF-C's code
NEVER = float("inf")


@dataclass
class Operation:
    number: int
    kind: str
    begin: float
    end: float = NEVER  # end of the operation; for a killed process, the time of its death
    code: int | None = None  # status; None: the process was killed
    text: str = ""
    counted: list[tuple[float, int]] = field(default_factory=list)  # time and records of promises
    closing: tuple[float, int] | None = None

    @property
    def killed(self) -> bool:
        return self.code is None

    def promised(self, before: float = NEVER) -> int:
        """Returns the number of records that were promised before a time."""
        return max((n for when, n in self.counted if when < before), default=0)

    def overlaps(self, other: Operation) -> bool:
        return self.begin <= other.end and other.begin <= self.end

    @property
    def earliest(self) -> float:
        """Returns the earliest time at which the file of a writer can have replaced another one."""
        return self.closing[0] if self.closing else self.begin

    def records(self) -> list[tuple[int, int]]:
        """Returns the records that were read: their numbers, and who wrote them."""
        runs = (run.split(":") for run in self.text.split())
        return [(int(n), int(of)) for n, of in runs]


def read_log(path: Path, deaths: dict[int, float]) -> list[Operation]:
    """Reads what an actor did.
    @param deaths: times of deaths, by the number of the last operation before them"""
    operations: list[Operation] = []
    for line in path.read_text().splitlines():
        what, when, number, *rest = line.split(" ", 3)
        rest = rest[0] if rest else ""
        if what == "begin":
            operations.append(Operation(int(number), rest, float(when)))
            continue
        last = operations[-1]
        if what == "counted":
            last.counted.append((float(when), int(rest)))
        elif what == "closing":
            last.closing = (float(when), int(rest))
        else:
            code, _, text = rest.partition(" ")
            last.end, last.code, last.text = float(when), int(code), text
    for o in operations:
        if o.killed:
            o.end = min(t for n, t in deaths.items() if n // 10000 == o.number // 10000)
    return operations


class History:
    """The operations of a run, and what is wrong with them."""

    def __init__(self, operations: list[Operation]):
        self.all = sorted(operations, key=lambda o: o.begin)
        self.by_number = {o.number: o for o in self.all}
        self.changes = [o for o in self.all if o.kind in CHANGES]
        self.writes = [o for o in self.all if o.kind == "write" and o.code in (OK, None)]
        self.appends = [o for o in self.all if o.kind == "append" and o.code == OK]
        self.reads = [o for o in self.all if o.kind in ("read", "netcdf")]
        self.wrong: list[str] = []

    def check(self) -> list[str]:
        for o in self.all:
            if o.killed:
                continue
            if o.code != OK:
                self.check_error(o)
            elif o in self.reads:
                self.check_read(o)
        good = [r for r in self.reads if r.code == OK and r.records()]
        for earlier, later in pairwise(sorted(good, key=lambda r: r.end)):
            if earlier.end < later.begin:
                self.check_order(earlier, later)
        return self.wrong

    def complain(self, o: Operation, why: str) -> None:
        self.wrong.append(f"{o.kind} {o.number} at {o.begin:.6f}: {why} ({o.code} {o.text})")

    def was_there(self, o: Operation) -> bool:
        return any(w.code == OK and w.end < o.begin for w in self.writes)

    def check_error(self, o: Operation) -> None:
        died = any(c.killed and c.begin < o.end for c in self.changes)
        if o.code in (NOT_FOUND, NO_FILE) or "no such file" in o.text.lower():
            if self.was_there(o):
                self.complain(o, "the file is there")
        elif o.code == IN_USE and o.kind in CHANGES:
            if not any(c is not o and c.overlaps(o) for c in self.changes):
                self.complain(o, "nobody else has the file")
        elif o.code == STATE and o.kind == "read":  # netCDF-4: the file was replaced meanwhile
            if not any(c.kind in ("write", "recover") and c.overlaps(o) for c in self.changes):
                self.complain(o, "nobody has replaced the file")
        elif o.code == HDF_ERROR and o.kind == "netcdf":  # HDF5 read an index that was changing
            if not any(c.kind in ("append", "recover") and c.overlaps(o) for c in self.changes):
                self.complain(o, "nobody changed the file")
        elif not (o.kind == "recover" and o.code in (EXISTS, FORMAT) and died):
            # The file of a killed run may be shorter than the complete one, or lack its
            # definitions.
            self.complain(o, "unexpected error")

    def check_read(self, read: Operation) -> None:
        seen = read.records()
        if not seen:
            # A killed writer may have defined its file without counting a record.
            if not any(w.killed for w in self.writes):
                self.complain(read, "a file without records")
            return
        origins = [self.by_number.get(of) for _, of in seen]
        if None in origins:
            return self.complain(read, "a record of nobody, or of several")
        # A killed writer may have counted no record before others append.
        empty = origins[0].kind == "append" and any(w.killed for w in self.writes)
        first = "append" if empty else "write"
        if [o.kind for o in origins] != [first] + ["append"] * (len(seen) - 1):
            return self.complain(read, "not a writer's records and then appended ones")
        total = 0
        for (n, _), origin in zip(seen, origins, strict=True):
            total += n
            self.check_part(read, origin, total, origin is origins[-1])
        self.check_newest(read, origins)

    def check_part(self, read: Operation, origin: Operation, total: int, last: bool) -> None:
        """Checks the number of records of one operation that were read, the last of which is
        `total`."""
        if origin.begin > read.end:
            self.complain(read, f"{origin.number} had not begun")
        if origin.code not in (OK, None):
            self.complain(read, f"{origin.number} had failed")
        if origin.closing and total > origin.closing[1]:
            self.complain(read, f"more records than {origin.number} wrote")
        growing = origin.kind == "append" and last and origin.end > read.begin
        if origin.code == OK and not growing and total != origin.closing[1]:
            self.complain(read, f"{origin.number} has {origin.closing[1]} records")
        if total < origin.promised(read.begin if growing else NEVER):
            self.complain(read, f"{origin.number} had promised {origin.promised()} records")
        if origin.kind == "write" and origin.code == OK and origin.earliest > read.end:
            self.complain(read, f"{origin.number} was not closed yet")

    def check_newest(self, read: Operation, origins: list[Operation]) -> None:
        """Checks that the read has returned everything that was complete before it began."""
        first = origins[0]
        for w in self.writes:
            if w.code == OK and w.end < read.begin and first.end < w.earliest:
                return self.complain(read, f"{w.number} had replaced these records")
        if first.code != OK:
            return None
        for a in self.appends:
            if first.end < a.begin and a.end < read.begin and a not in origins:
                return self.complain(read, f"the records of {a.number} are missing")
        return None

    def check_order(self, earlier: Operation, later: Operation) -> None:
        """Checks that a later read has not returned less than an earlier one."""
        before, after = earlier.records(), later.records()
        if before[0][1] != after[0][1]:
            old, new = self.by_number[after[0][1]], self.by_number[before[0][1]]
            if old.end < new.earliest:
                self.complain(later, f"{earlier.number} had seen the file of {new.number}")
            return
        if sum(n for n, _ in after) < sum(n for n, _ in before):
            self.complain(later, f"{earlier.number} had seen more: {earlier.text}")


class Actor:
    """A process that is started again when it is killed."""

    def __init__(self, args, place: Path, name: str, index: int, role: str, until: float):
        self.args, self.place, self.name, self.role, self.until = args, place, name, role, until
        self.log, self.errors = place / f"log.{index}", place / f"errors.{index}"
        self.first = index * 1000000
        self.deaths: dict[int, float] = {}
        self.start()

    def start(self) -> None:
        self.first += 10000
        command = [self.args.actor, self.role, self.place / "a.nc", self.log, self.first]
        command += [self.args.seed * 7919 + self.first, max(0.05, self.until - time.monotonic())]
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*map(str, command), SETTINGS[self.name]], stderr=errors
            )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.deaths[self.first] = time.monotonic()
        self.start()

    def finish(self) -> list[Operation]:
        code = self.process.wait(timeout=60)
        if code != 0:
            raise SystemExit(f"histories: {self.role} ends with {code} ({self.name})")
        if said := self.errors.read_text():
            print(f"  {self.role} said: {said[:200]}")
        return read_log(self.log, self.deaths)


def run(args, name: str, choose: random.Random, seconds: float, place: Path) -> list[Operation]:
    until = time.monotonic() + seconds
    actors = [Actor(args, place, name, i + 1, role, until) for i, role in enumerate(ROLES)]
    mortal = [a for a in actors if a.role in CHANGES]
    while time.monotonic() < until - 0.1:
        time.sleep(choose.uniform(0, 0.15))
        choose.choice(mortal).kill()
    operations = [o for a in actors for o in a.finish()]
    for i, role in enumerate(("recover", "read", "netcdf")):
        last = Actor(args, place, name, len(ROLES) + 1 + i, role, 0)
        operations += last.finish()
    return operations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--actor", required=True, help="the program histories_actor")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="of " + ", ".join(SETTINGS))
    parser.add_argument("--keep", action="store_true", help="leave the logs of failed runs behind")
    args = parser.parse_args()
    choose = random.Random(args.seed)
    names = args.only.split(",") if args.only else list(SETTINGS)
    end = time.monotonic() + args.seconds
    failed = runs = 0
    while runs == 0 or time.monotonic() < end:
        for name in names:
            seconds = min(10.0, max(0.4, args.seconds / len(names)))
            place = Path(tempfile.mkdtemp(prefix="thalweg_histories_", dir=os.getcwd()))
            operations = run(args, name, choose, seconds, place)
            history = History(operations)
            wrong = history.check()
            runs += 1
            done = sum(o.code == OK for o in operations)
            read = sum(o.code == OK for o in history.reads)
            killed = sum(o.killed for o in operations)
            print(f"{name}: {done} operations, {read} of them reads; {killed} killed", flush=True)
            for text in wrong[:20]:
                print(f"  wrong: {text}")
            failed += bool(wrong) or read == 0
            if not (wrong and args.keep):
                shutil.rmtree(place)
    print(f"histories: {runs} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
