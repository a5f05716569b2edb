# SPDX-License-Identifier: Apache-2.0
"""Tests that, with durable=yes, data are on the device before anything refers to them.

durable.py --victim PROGRAM --inject LIBRARY [options] -- mpirun FLAGS -n

The library of faults notes when each process writes, syncs and renames. Written data are safe when
a sync of that file by the same process began after the write and has ended. These must be safe:

- records, before the number of records in the header counts them;
- that number, before the process that wrote it writes anything else to the file;
- a whole file, before it gets its final name; the folder is synced after that.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from classic import RECORDS_AT, read_header
from harness import SETUPS, Job, Service, common_arguments, folder, services

STEPS = 4


class Call(NamedTuple):
    begin: int
    end: int
    rank: int
    name: str
    offset: int
    bytes: int
    data: str  # for a write, its first bytes
    path: str

    @property
    def changes(self) -> bool:
        return "write" in self.name or "truncate" in self.name

    @property
    def syncs(self) -> bool:
        return "sync" in self.name

    def counts(self) -> int | None:
        """Returns the number of records, if the call writes it; otherwise None."""
        is_count = "write" in self.name and self.offset == RECORDS_AT and self.bytes in (4, 8)
        return int(self.data, 16) if is_count else None


def read_trace(path: Path) -> list[Call]:
    calls = []
    for line in path.read_text().splitlines():
        begin, end, rank, name, offset, size, data, where = line.split(" ", 7)
        numbers = (int(begin), int(end), int(rank), name, int(offset), int(size))
        calls.append(Call(*numbers, data, where))
    return sorted(calls)


def is_safe(change: Call, calls: list[Call], moment: int) -> bool:
    return any(
        c.syncs and c.rank == change.rank and c.begin >= change.end and c.end <= moment
        for c in calls
    )


def judge_file(name: Path, calls: list[Call], renamed: Call, seen: Counter) -> list[str]:
    """Checks the calls on one file, up to its rename."""
    problems = []
    header = read_header(name.read_bytes())
    counted = 0
    for call in calls:
        records = call.counts()
        if not records or records <= counted:
            continue
        counted = records
        seen["counts"] += 1
        end = header.record_begin + records * header.record_bytes
        for change in calls:
            if not (change.changes and change.end < call.begin):
                continue
            if not header.record_begin <= change.offset < end:
                continue
            seen["records"] += 1
            if not is_safe(change, calls, call.begin):
                problems.append(f"{name}: {records} records are counted before {change} is safe")
        later = (c for c in calls if c.changes and c.rank == call.rank and c.begin >= call.end)
        after = next(later, None)
        if after is not None and not is_safe(call, calls, after.begin):
            problems.append(f"{name}: {after} comes before the count of {records} records is safe")
    for change in calls:
        if change.changes and not is_safe(change, calls, renamed.begin):
            problems.append(f"{name}: has its name before {change} is safe")
    return problems


def judge(calls: list[Call], run: Path, seen: Counter) -> list[str]:
    problems = []
    for renamed in [c for c in calls if c.name == "rename"]:
        seen["renames"] += 1
        part = renamed.path + ".part"
        before = [c.begin for c in calls if c.name == "rename" and c.path == renamed.path]
        since = max((t for t in before if t < renamed.begin), default=0)
        own = [c for c in calls if c.path == part and since < c.begin < renamed.begin]
        problems += judge_file(Path(renamed.path), own, renamed, seen)
        if not any(
            c.syncs and c.path == str(run) and c.rank == renamed.rank and c.begin >= renamed.end
            for c in calls
        ):
            problems.append(f"{renamed.path}: the folder is not synced after the rename")
    return problems


def run_once(args, service: Service, setup: str) -> list[str]:
    settings = f"{service.settings}; {SETUPS[setup][0]}; durable=yes"
    with folder(args.keep) as root:
        run, trace = root / "runs/0", root / "trace"
        faults = {"THALWEG_FAULT_PATH": str(run), "THALWEG_FAULT_TRACE": str(trace)}
        more = ("--steps", str(STEPS), "--settings", settings, "--keep-restarts")
        run.mkdir(parents=True)
        job = Job(args, service, root, *more, faults=faults)
        code = job.wait(60)
        if code != 0:
            return [f"exit code {code}; the program's output:\n{job.output()[:20000]}"]
        seen = Counter()
        problems = judge(read_trace(trace), run, seen)
        if min(seen["renames"], seen["counts"], seen["records"]) < STEPS:
            problems.append(f"too little was seen: {dict(seen)}")
        return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common_arguments(parser)
    args = parser.parse_args()
    bad = 0
    for service in services(args.services):
        for setup in args.setups.split(","):
            problems = run_once(args, service, setup)
            print(f"durable: {service.name}, {setup}: {len(problems)} problems")
            for problem in problems[:20]:
                print(f"  {problem}")
            bad += len(problems)
    print("durable: " + (f"{bad} problems" if bad else "all is well"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
