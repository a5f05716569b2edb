# SPDX-License-Identifier: Apache-2.0
"""Runs of thalweg-bench: each writes its results to its own JSON file, which is kept."""

import json
import re
import shlex
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .ranks import ranks_of

# Keys of a row that does not count; `wrong`: its file had wrong contents.
NO_FIGURES = ("error", "skipped", "wrong")
UNKNOWN = "this build does not know it"
SETTINGS_ERROR = re.compile(r"(unknown setting '[^']*'|setting '[^']*' \([^)]*\) is '[^']*')")


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
    arguments: tuple[str, ...] = ()
    seconds: float = 0
    error: str = ""
    report: dict = field(default_factory=dict)

    def complete(self) -> bool:
        """Tests if another build could not add to the results."""
        rows = self.report.get("results", [])
        return not self.error and not any({*NO_FIGURES} & row.keys() for row in rows)


class UnmeasuredError(Exception):
    """A run has no results."""


def short_reason(text: str) -> str:
    """Returns an error of the library without its list of known values."""
    found = SETTINGS_ERROR.search(text)
    if found:
        return f"{UNKNOWN}: {found[1]}"
    return text.strip()[:200] or "no reason was given"


class Results:
    """The records of runs, by name."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def add(self, record: Record) -> None:
        self.records[record.name] = record

    def report(self, run: str) -> dict:
        record = self.records.get(run)
        if record is None:
            raise UnmeasuredError(f"{run} has not run")
        if record.error:
            raise UnmeasuredError(record.error)
        return record.report

    def rows(self, run: str) -> dict[str, dict]:
        """Returns the results of a run by method or way of output, without those that have no
        figures."""
        try:
            rows = self.report(run)["results"]
        except UnmeasuredError:
            return {}
        named = {row.get("name", row.get("method")): row for row in rows}
        return {k: row for k, row in named.items() if not {*NO_FIGURES} & row.keys()}

    def reason(self, run: str, method: str) -> str:
        """Returns the reason why a method has no figures in a run."""
        try:
            rows = self.report(run)["results"]
        except UnmeasuredError as e:
            return short_reason(str(e))
        for row in rows:
            if row.get("name", row.get("method")) == method:
                return short_reason(next((row[k] for k in NO_FIGURES if k in row), ""))
        return "it was not asked for"

    def missing(self, runs: Iterable[str], methods: Iterable[str]) -> list[tuple[str, str]]:
        """Returns the methods without figures in any of the runs, each with the reason."""
        runs = list(runs)
        found = set().union(*(self.rows(run).keys() for run in runs)) if runs else set()
        return [(m, self.reason(runs[0], m)) for m in methods if m not in found and runs]


class Bench:
    """Starts thalweg-bench and keeps its output in a folder."""

    def __init__(self, program: Path, launch: list[str], folder: Path, scratch: Path) -> None:
        self.program = program
        self.launch = launch
        self.folder = folder
        self.scratch = scratch

    def path(self, run: Run) -> Path:
        return self.folder / f"{run.name}.json"

    def load(self, run: Run) -> Record | None:
        try:
            known = json.loads(self.path(run).read_text())
        except (OSError, json.JSONDecodeError):
            return None
        return Record(**(known | {"arguments": tuple(known["arguments"])}))

    def measure(self, run: Run, timeout: float) -> Record:
        record = Record(run.name, run.ranks, run.arguments)
        start = time.monotonic()
        try:
            record.ranks = ranks_of(list(record.arguments), run.ranks)
            self.start(record, timeout)
        except UnmeasuredError as e:
            record.error = str(e)
        except subprocess.TimeoutExpired:
            record.error = f"not done after {timeout:.0f} s"
        record.seconds = time.monotonic() - start
        self.path(run).write_text(json.dumps(vars(record), indent=1) + "\n")
        return record

    def start(self, record: Record, timeout: float) -> None:
        output = self.folder / "bench.json"
        output.unlink(missing_ok=True)
        command = [*self.launch, "-n", str(record.ranks), str(self.program), *record.arguments]
        command += ["--no-table", "--dir", str(self.scratch), "--json", str(output)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
        )
        text = output.read_text() if output.exists() else ""
        output.unlink(missing_ok=True)
        if "was not expected" in done.stderr:
            raise UnmeasuredError(f"{UNKNOWN}: {last_line(done.stderr)}")
        # 1: a method could not be measured or was wrong; the report tells which.
        if done.returncode not in (0, 1) or not text:
            raise UnmeasuredError(last_line(done.stderr) or f"status {done.returncode}")
        record.report = json.loads(text)


def last_line(text: str) -> str:
    """Returns the last line of thalweg-bench on standard error, without the launcher's own
    lines."""
    lines = [line for line in text.splitlines() if line.startswith("thalweg-bench:")]
    return lines[-1].removeprefix("thalweg-bench: ") if lines else text.strip()[-200:]


def command_of(record: Record) -> str:
    """Returns the command that measures this again."""
    if record.arguments and record.arguments[0] == "overlap":
        return f"./run bench {shlex.join(record.arguments)}"
    words = shlex.join(record.arguments)
    if record.arguments and record.arguments[0] == "read":
        words = f"restart-{words}"
    return f"./run bench {words} --ranks {record.ranks}"
