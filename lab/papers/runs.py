# SPDX-License-Identifier: Apache-2.0
"""Runs of thalweg-bench: each writes its results to its own JSON file, which is kept."""

import json
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .ranks import ranks_of

# Keys of a row that does not count; `wrong`: its file had wrong contents.
NO_FIGURES = ("error", "wrong")
LIMIT = 900  # seconds of a run


@dataclass(frozen=True)
class Run:
    """One start of thalweg-bench."""

    name: str
    ranks: int
    arguments: tuple[str, ...]


@dataclass
class Record:
    """The result of a run: the report of thalweg-bench, or the reason why there is none."""

    name: str
    ranks: int
    arguments: list[str]
    seconds: float = 0
    error: str = ""
    report: dict = field(default_factory=dict)

    def rows(self) -> dict[str, dict]:
        """Returns all results by method or way of output."""
        rows = self.report.get("results", [])
        return {row.get("name", row.get("method")): row for row in rows}

    def complete(self) -> bool:
        rows = self.rows().values()
        return not self.error and not any({*NO_FIGURES} & row.keys() for row in rows)


class Results(dict[str, Record]):
    """The records of runs, by name."""

    def rows(self, run: str) -> dict[str, dict]:
        """Returns the results of a run by method, without those that have no figures."""
        rows = self[run].rows() if run in self else {}
        return {k: row for k, row in rows.items() if not {*NO_FIGURES} & row.keys()}

    def reason(self, run: str, method: str) -> str:
        """Returns the reason why a method has no figures in a run."""
        if run not in self or self[run].error:
            return self[run].error if run in self else f"{run} has not run"
        row = self[run].rows().get(method, {"error": "it was not asked for"})
        return next(row[k] for k in NO_FIGURES if k in row).strip()[:200]


class Bench:
    """Starts thalweg-bench and keeps its output in a folder."""

    def __init__(self, program: str, launch: list[str], folder: Path, scratch: Path) -> None:
        self.program = program
        self.launch = launch
        self.folder = folder
        self.scratch = scratch

    def load(self, run: Run) -> Record | None:
        """Returns the complete results that an earlier run has left."""
        try:
            record = Record(**json.loads((self.folder / f"{run.name}.json").read_text()))
        except (OSError, json.JSONDecodeError):
            return None
        same = record.arguments == list(run.arguments)
        return record if same and record.complete() else None

    def measure(self, run: Run) -> Record:
        arguments = list(run.arguments)
        record = Record(run.name, ranks_of(arguments, run.ranks), arguments)
        start = time.monotonic()
        output = self.folder / "bench.json"
        output.unlink(missing_ok=True)
        command = [*self.launch, "-n", str(record.ranks), self.program, *arguments]
        command += ["--no-table", "--dir", str(self.scratch), "--json", str(output)]
        pipes = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
        try:
            done = subprocess.run(command, timeout=LIMIT, **pipes)
            # 1: a method could not be measured or was wrong; the report tells which.
            if done.returncode in (0, 1) and output.exists():
                record.report = json.loads(output.read_text())
            else:
                record.error = last_line(done.stderr) or f"status {done.returncode}"
        except subprocess.TimeoutExpired:
            record.error = f"not done after {LIMIT} s"
        output.unlink(missing_ok=True)
        record.seconds = time.monotonic() - start
        (self.folder / f"{run.name}.json").write_text(json.dumps(vars(record), indent=1) + "\n")
        return record


def last_line(text: str) -> str:
    """Returns the last line of thalweg-bench on standard error, without the launcher's own
    lines."""
    lines = [line for line in text.splitlines() if line.startswith("thalweg-bench:")]
    return lines[-1].removeprefix("thalweg-bench: ") if lines else text.strip()[-200:]


def command_of(record: Record) -> str:
    """Returns the command that measures this again."""
    words = shlex.join(record.arguments)
    if record.arguments[0] == "overlap":
        return f"./run bench {words}"
    restart = "restart-" if record.arguments[0] == "read" else ""
    return f"./run bench {restart}{words} --ranks {record.ranks}"
