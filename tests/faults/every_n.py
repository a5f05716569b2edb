# SPDX-License-Identifier: Apache-2.0
"""Makes every system call that writes a file fail, one per run, and checks the consequences.

every_n.py --victim PROGRAM --inject LIBRARY [options] -- mpirun FLAGS -n

A first run counts the calls of each rank. Then there is a run for each of them and for each kind of
fault: eio and enospc must be returned as promised (the victim checks the results of calls), with
the right file, variable and record; short, eintr and delay must have no effect. The remaining files
are checked after each run. --sample N takes N calls of each kind, evenly.
"""

import argparse
import re
import shutil
import sys
import time
from pathlib import Path

from harness import (
    SETUPS,
    Job,
    Reference,
    Service,
    common_arguments,
    folder,
    judge_files,
    make_reference,
    read_log,
    services,
)

HARMFUL = ("eio", "enospc")


def evenly(items: list, number: int) -> list:
    if number <= 0 or len(items) <= number:
        return items
    return [items[(2 * i + 1) * len(items) // (2 * number)] for i in range(number)]


def make_plan(calls: list[int], kinds: list[str], sample: int) -> list[tuple[int, str, str]]:
    """Returns (rank, call, kind) for each run; rank -1 stands for all ranks."""
    one_by_one = [(r, str(n)) for r, most in enumerate(calls) for n in range(1, most + 1)]
    plan = []
    for shift, kind in enumerate(kinds):
        # If not all calls are tested, each kind of fault gets different calls.
        turned = one_by_one[shift * 7 :] + one_by_one[: shift * 7]
        plan += [(rank, at, kind) for rank, at in evenly(turned, sample)]
        if kind in HARMFUL:  # from this call on, the disk stays broken
            plan += [(-1, f"{n}+", kind) for n in evenly(range(1, max(calls)), 2)]
        elif kind != "eintr":
            plan.append((-1, "every", kind))
    return plan


class Series:
    """The runs of one service and one setup."""

    def __init__(self, args, service: Service, setup: str, reference: Reference):
        self.args = args
        self.service = service
        self.name = f"{service.name}, {setup}"
        self.settings = f"{service.settings}; {SETUPS[setup][0]}"
        self.reference = reference
        self.packed = SETUPS[setup][1] == "netcdf4"
        self.problems: list[str] = []
        self.fired = 0

    def execute(self, root: Path, plan: list[tuple[int, tuple]]) -> dict[int, tuple]:
        """Runs the plan. If a run hangs or ends the program, runs the rest of the plan again."""
        results: dict[int, tuple] = {}
        for attempt in range(4):
            left = [(i, run) for i, run in plan if i not in results]
            lines = [f"{i} {run[0]} {run[1]} {run[2]}" for i, run in left]
            (root / "plan").write_text("\n".join(lines) + "\n")
            job = Job(
                self.args,
                self.service,
                root,
                *("--plan", str(root / "plan"), "--steps", str(self.args.steps)),
                *("--settings", self.settings),
                limit=self.args.limit,
            )
            code = job.wait(30 + self.args.limit + len(left))
            before = len(results)
            if (root / "results").exists():
                for line in (root / "results").read_text().splitlines():
                    index, calls, fired = line.split("\t")
                    results[int(index)] = ([int(n) for n in calls.split()], fired)
            if code == 0:
                break
            self.problems.append(f"exit code {code}; the program's output:\n{job.output()[:20000]}")
            if all(i in results for i, _ in plan):
                break
            # The run that hung or crashed is not repeated.
            culprit = next(i for i, _ in plan if i not in results)
            results[culprit] = ([], "")
            self.problems.append(f"run {culprit} ({dict(plan)[culprit]}) did not end")
            shutil.rmtree(root / "runs" / str(culprit), ignore_errors=True)
            if attempt == 3 or len(results) == before:
                self.problems.append("given up")
                break
        return results

    def judge(self, root: Path, index: int, run: tuple, fired: str) -> None:
        rank, at, kind = run
        logs = read_log(root / "logs" / str(index), self.service)
        failed = {name for name, log in logs.items() if log.failed}
        wrong = []
        if kind in HARMFUL and fired:
            call, offset, size, path = fired.split(" ", 3)
            name = Path(path).name.removesuffix(".part")
            # No call has to report errors of ftruncate, which HDF5 hides, or of the log of chunks
            # (.places), without which the file is complete as well.
            untold = self.packed and (call == "ftruncate" or path.endswith(".places"))
            if not failed and not untold:
                wrong.append("no call told of it")
            elif rank >= 0 and name in logs and failed != {name}:
                wrong.append(f"files that failed: {', '.join(sorted(failed))}")
            elif name in failed and "write" in call:
                if self.packed:
                    wrong += self.judge_packed_place(rank, call, logs[name].failed)
                else:
                    wrong += self.judge_place(name, int(offset), int(size), logs[name].failed)
        elif failed:
            wrong += [f"failed: {logs[name].failed}" for name in failed]
        where = root / "runs" / str(index)
        wrong += judge_files(
            where, logs, self.reference, self.args.steps, self.settings, killed=False
        )
        self.problems += [
            f"run {index}: {kind} in call {at} of rank {rank} ({fired or 'not reached'}): {text}"
            for text in wrong
        ]
        if not self.args.keep:
            shutil.rmtree(where, ignore_errors=True)

    def judge_place(self, name: str, offset: int, size: int, text: str) -> list[str]:
        """Checks that the text names a variable and record that was part of the failed write."""
        header = self.reference.files[name][0][1]
        if offset < header.data_begin or text == "in tw_finalize":
            return []
        variable = re.search(r"variable '(\w+)'", text)
        record = re.search(r"record (\d+)", text)
        if not variable:
            return [f"the variable is missing: {text}"]
        for v in header.variables:
            if v.name != variable.group(1):
                continue
            if v.record != bool(record):
                return [f"the record: {text}"]
            part = header.extent(v, int(record.group(1)) if record else 0)  # padding may follow
            if offset < part.stop + 3 and part.start < offset + size:
                return []
        return [f"the wrong variable or record: {text}"]

    def judge_packed_place(self, rank: int, call: str, text: str) -> list[str]:
        """Checks the text of a failed write of HDF5's index, which belongs to no variable. The
        first writer writes the index, so it makes most calls."""
        of_index = rank < 0 or self.calls[rank] == max(self.calls)
        if of_index or "write" not in call or text == "in tw_finalize" or "variable '" in text:
            return []
        return [f"the variable is missing: {text}"]

    def go(self) -> None:
        start = time.monotonic()
        with folder(self.args.keep) as root:
            counted = self.execute(root, [(0, (-1, "0", "none"))])
            calls = self.calls = counted[0][0]
            kinds = self.args.kinds.split(",")
            if self.packed and "eintr" in kinds:  # HDF5 does not repeat ftruncate
                kinds.remove("eintr")
            runs = make_plan(calls, kinds, self.args.sample) if sum(calls) else []
            plan = list(enumerate(runs, 1))
            results = self.execute(root, plan) if sum(calls) else {}
            for index, run in [(0, (-1, "0", "none")), *plan]:
                if index in results:
                    self.fired += bool(results[index][1])
                    self.judge(root, index, run, results[index][1])
        if not self.fired:
            self.problems.append("no fault was ever reached")
        print(
            f"every_n: {self.name}: {sum(calls)} calls ({' '.join(map(str, calls))}), "
            f"{len(plan)} runs, {self.fired} faults, {len(self.problems)} problems, "
            f"{time.monotonic() - start:.1f} s",
            flush=True,
        )
        for problem in self.problems[:20]:
            print(f"  {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common_arguments(parser)
    parser.add_argument("--kinds", default="eio,enospc,short,eintr,delay:300")
    parser.add_argument("--sample", type=int, default=12, help="calls of each kind; 0: all")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--limit", type=int, default=20, help="seconds a call may take")
    args = parser.parse_args()
    references = {}
    bad = 0
    for setup in args.setups.split(","):
        form = SETUPS[setup][1]
        if form not in references:
            references[form] = make_reference(args, form, args.steps)
        for service in services(args.services):
            series = Series(args, service, setup, references[form])
            series.go()
            bad += len(series.problems)
    print("every_n: " + (f"{bad} problems" if bad else "all is well"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
