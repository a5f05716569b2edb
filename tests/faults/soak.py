# SPDX-License-Identifier: Apache-2.0
"""Kills runs at random moments, and judges what is left on the disk.

soak.py --victim PROGRAM --inject LIBRARY [options] -- mpirun FLAGS -n

A model writes to a slow disk; at some moment one rank of the model, one server rank or the whole
job is killed (SIGKILL). After that, netCDF must open every file and find the right values in every
record that a call has committed; a file with its final name must be complete; and no process and no
file may remain outside the run's own folder. The same --seed gives the same choices, but not the
same timing.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

from harness import (
    SETUPS,
    Job,
    Reference,
    common_arguments,
    folder,
    judge_files,
    kill_all,
    make_reference,
    processes_below,
    read_log,
    services,
)

STEPS = (2, 8, 200)
DELAYS = (0, 200, 1000, 4000)  # microseconds per call


def alive(pid: int) -> bool:
    try:
        state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def shared_files(pids: list[int], root: Path) -> set[str]:
    """Returns files outside the folder, in the places of temporary files, that processes have
    open or mapped."""
    found = set()
    for pid in pids:
        try:
            for line in Path("/proc", str(pid), "maps").read_text().splitlines():
                found.add(line.partition("/")[2] and "/" + line.partition("/")[2])
            for link in Path("/proc", str(pid), "fd").iterdir():
                found.add(os.readlink(link))
        except OSError:
            continue  # the file is gone already
    return {
        f for f in found if f.startswith(("/dev/shm/", "/tmp/")) and not f.startswith(str(root))
    }


def made_since(path: str, moment: float) -> bool:
    """Tests if a file is newer than the run: programs and libraries are found as well."""
    try:
        return os.stat(path).st_ctime >= moment
    except OSError:
        return False


class Run:
    def __init__(self, args, choose: random.Random, references: dict[str, Reference]):
        self.args = args
        self.service = choose.choice(services(args.services))
        self.setup = choose.choice(args.setups.split(","))
        self.steps = choose.choice(STEPS)
        self.delay = choose.choice(DELAYS)
        targets = ["rank", "job"] + (["server"] if self.service.extra else [])
        self.target = choose.choice(targets)
        # A moment within the expected time of the run, or a little later.
        calls = 80 if self.setup == "direct" else 15  # per step
        whole = 0.01 + self.steps * (0.001 + calls * self.delay * 1e-6)
        self.moment = choose.random() * min(whole, 1.5) * 1.1
        self.which = choose.random()
        more = f"; {args.settings}" if args.settings else ""
        self.settings = f"{self.service.settings}; {SETUPS[self.setup][0]}{more}"
        self.reference = references[SETUPS[self.setup][1]]
        self.outcome = ""
        self.committed = 0

    def __str__(self) -> str:
        return (
            f"{self.service.name}, {self.setup}, {self.steps} steps, delay {self.delay} us, "
            f"{self.target} killed after {self.moment:.3f} s"
        )

    def pids(self, root: Path) -> tuple[list[int], list[int]]:
        """Returns the process numbers of the model and of the servers, as soon as all of them
        exist."""
        total = self.args.ranks + self.service.extra
        known: dict[int, int] = {}
        for rank in range(total):
            file = root / "pids" / str(rank)
            text = file.read_text() if file.exists() else ""
            if text:
                known[rank] = int(text)
        model = [r for r in known if (root / f"pids/{r}.model").exists()]
        if len(known) < total or len(model) < self.args.ranks:
            return [], []
        return [known[r] for r in model], [pid for r, pid in known.items() if r not in model]

    def go(self, root: Path) -> list[str]:
        problems = []
        began = time.time()
        faults = {
            "THALWEG_FAULT_PATH": str(root / "runs"),
            "THALWEG_FAULT_AT": "every",
            "THALWEG_FAULT_KIND": f"delay:{self.delay}",
        }
        job = Job(
            self.args,
            self.service,
            root,
            *("--steps", str(self.steps), "--settings", self.settings),
            faults=faults if self.delay else None,
        )
        model, servers = [], []
        deadline = time.monotonic() + 30
        while not model and job.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
            model, servers = self.pids(root)
        time.sleep(self.moment)
        everyone = [*processes_below(job.process.pid), job.process.pid]
        outside = shared_files(everyone, root)
        if self.target == "job":
            victims = everyone
        else:
            crowd = servers if self.target == "server" else model
            victims = [crowd[int(self.which * len(crowd))]] if crowd else []
        killed = job.process.poll() is None and any(alive(pid) for pid in victims)
        kill_all(victims if killed else [])
        # If a rank dies, the launcher must end the job.
        code = job.wait(20)
        if code is None:
            problems.append(f"the job did not end; its output:\n{job.output()[:20000]}")
        elif code == 0:
            killed = False
        elif not killed:
            problems.append(f"exit code {code} without a kill; output:\n{job.output()[:20000]}")
        self.outcome = f"{self.target} killed" if killed else "ended before"
        deadline = time.monotonic() + 10
        while any(alive(pid) for pid in everyone) and time.monotonic() < deadline:
            time.sleep(0.01)
        strays = [pid for pid in everyone if alive(pid)]
        if strays:
            problems.append(f"processes left: {strays}")
            kill_all(strays)
        left = sorted(f for f in outside if made_since(f, began))
        if left:
            problems.append(f"files left: {' '.join(left)}")
        logs = read_log(root / "logs/0", self.service)
        self.committed = sum(log.committed for log in logs.values())
        if "FAILED" in job.output() and not killed:
            problems.append(job.output()[:20000])
        return problems + judge_files(
            root / "runs/0", logs, self.reference, self.steps, self.settings, killed=killed
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common_arguments(parser)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600, help="no run begins after that")
    parser.add_argument("--settings", default="", help="more of the session's settings")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    choose = random.Random(args.seed)
    references = {
        form: make_reference(args, form, max(STEPS))
        for form in {SETUPS[setup][1] for setup in args.setups.split(",")}
    }
    start = time.monotonic()
    outcomes: Counter[str] = Counter()
    bad = 0
    records = 0
    for number in range(args.runs):
        if time.monotonic() - start > args.seconds:
            break
        run = Run(args, choose, references)
        with folder(args.keep) as root:
            problems = run.go(root)
        outcomes[run.outcome] += 1
        records += run.committed
        bad += len(problems)
        if problems or args.verbose:
            print(f"soak: run {number}: {run}: {run.outcome}, {run.committed} records committed")
        for problem in problems:
            print(f"  {problem}", flush=True)
    told = ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items()))
    print(
        f"soak: {sum(outcomes.values())} runs ({told}), {records} committed records, "
        f"{time.monotonic() - start:.0f} s, seed {args.seed}: "
        + (f"{bad} problems" if bad else "all is well")
    )
    if not any("killed" in what for what in outcomes):
        print("soak: nothing was killed")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
