#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs a part of the tests, and shows at the end what failed.

    suite.py --build FOLDER [--suite short|ci|all] [--label L] [--except PATTERN] [PART...]

A PART is a folder of tests/ or src/, or a regular expression for names of tests. tests/suites.toml
says which tests belong to the suites. Only the programs that the chosen tests need are built.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNIT_LABELS = {"unit", "unit-threads"}
NOT_BUILT = "_NOT_BUILT"
# Targets that tests need but do not name in their commands, by folder of tests/.
HIDDEN_TARGETS = {
    "python": ["thalweg_python"],
    "package": ["all"],
    "netcdf": ["netcdf_programs"],
    "netcdf_engine": ["thalweg_shim", "thalweg_fronts"],
    "pnetcdf": ["pnetcdf_programs"],
    "planning": ["lab/all"],  # these are not part of all
    "bench": ["lab/all"],
    "scale": ["lab/all"],
}
SHOWN_LINES = 200


def read_suites() -> dict[str, list[re.Pattern]]:
    """Returns the regular expressions of tests/suites.toml."""
    table = tomllib.loads((ROOT / "tests/suites.toml").read_text())
    return {name: [re.compile(p) for p in patterns] for name, patterns in table.items()}


class Test:
    """A test as ctest lists it."""

    def __init__(self, number: int, entry: dict, build: Path) -> None:
        self.number = number
        self.name: str = entry["name"]
        self.command: list[str] = entry.get("command") or []
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.labels = set(properties.get("LABELS", []))
        self.unbuilt = self.name.endswith(NOT_BUILT)
        self.is_unit = self.unbuilt or bool(self.labels & UNIT_LABELS)
        folder = Path(properties.get("WORKING_DIRECTORY", build))
        inside = folder.is_relative_to(build / "tests")
        self.folder = str(folder.relative_to(build / "tests")) if inside else ""
        if self.folder == ".":  # a unit test of a folder that has no CMakeLists.txt
            self.folder = self.name.split(".")[0].removeprefix("test_").removesuffix(NOT_BUILT)

    def belongs_to(self, folder: str) -> bool:
        return f"{self.folder}/".startswith(f"{folder}/")


def list_tests(build: Path) -> list[Test]:
    """Asks ctest for all tests; programs of unit tests that are built are asked for theirs."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    entries = json.loads(text[text.index("{") :])["tests"]
    return [Test(k, entry, build) for k, entry in enumerate(entries, 1)]


def in_suite(test: Test, suite: str, suites: dict[str, list[re.Pattern]]) -> bool:
    if suite == "all":
        return True
    if any(p.search(test.name) for p in suites["long"]):
        return False
    return suite == "ci" or test.is_unit or any(p.search(test.name) for p in suites["short"])


def near_patterns(folder: str) -> list[re.Pattern]:
    """Returns patterns of the tests nearest to a folder of sources, from mutants.toml."""
    near = tomllib.loads((ROOT / "tests/mutants/mutants.toml").read_text())["near"]
    for entry in near:
        if f"{folder}/".startswith(f"{entry['folder']}/"):
            return [re.compile(p) for p in entry["tests"]]
    return []


def is_folder(path: Path) -> bool:
    """Tests if a path is a folder. A pattern that is longer than a path can be is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def select_part(part: str, tests: list[Test], suite: str, suites: dict) -> list[Test]:
    """Returns the tests of one PART: those in the suite, or, if there are none, all of them."""
    part = part.rstrip("/")
    in_ci = [t for t in tests if in_suite(t, "all" if suite == "all" else "ci", suites)]
    if part.startswith(("src/", "bindings/")):
        name = part.split("/", 1)[1].split("/")[0]
        patterns = near_patterns(part)
        short = [t for t in tests if in_suite(t, suite, suites)]
        return [
            t
            for t in short
            if (t.is_unit and t.belongs_to(name)) or any(p.search(t.name) for p in patterns)
        ]
    folder = part.removeprefix("tests/")
    if not is_folder(ROOT / "tests" / folder) and is_folder(ROOT / "tests/system" / folder):
        folder = f"system/{folder}"
    if is_folder(ROOT / "tests" / folder):
        return [t for t in in_ci if t.belongs_to(folder)] or [
            t for t in tests if t.belongs_to(folder)
        ]
    pattern = re.compile(part)
    found = [t for t in in_ci if pattern.search(t.name)]
    return found or [t for t in tests if pattern.search(t.name)]


def select(options: argparse.Namespace, tests: list[Test]) -> list[Test]:
    suites = read_suites()
    if options.parts:
        wanted = {
            t.number: t for p in options.parts for t in select_part(p, tests, options.suite, suites)
        }
        chosen = [wanted[k] for k in sorted(wanted)]
    else:
        chosen = [t for t in tests if in_suite(t, options.suite, suites)]
    if options.label:
        chosen = [t for t in chosen if options.label in t.labels]
    if options.leave_out:
        chosen = [t for t in chosen if not re.search(options.leave_out, t.name)]
    return chosen


def targets_of(tests: list[Test], build: Path) -> list[str]:
    """Returns what ninja has to build before the tests can run."""
    targets: set[str] = set()
    for test in tests:
        if test.unbuilt:
            targets.add(test.name.removesuffix(NOT_BUILT))
        elif not test.command:  # a program that is not built yet has no command
            targets.add("all")
        for word in test.command:
            path = Path(word)
            if path in (build, build / "bin"):
                targets.add("all")
            elif path.is_relative_to(build) and path.relative_to(build).parts[0] in ("bin", "lib"):
                targets.add(str(path.relative_to(build)))
        targets.update(HIDDEN_TARGETS.get(test.folder.split("/")[0], []))
    return sorted(targets)  # some are not part of all


def compile_targets(build: Path, targets: list[str], jobs: int) -> bool:
    command = ["ninja", "-C", str(build), "-j", str(jobs), *targets]
    if not sys.stdout.isatty():
        command.insert(1, "--quiet")
    return not targets or subprocess.run(command, check=False).returncode == 0


def run_ctest(build: Path, tests: list[Test], jobs: int, report: Path) -> None:
    """Runs tests, a line for each that ends, and leaves their results in a JUnit file."""
    report.unlink(missing_ok=True)
    numbers = ",".join(str(t.number) for t in tests)
    first = tests[0].number
    # Three times as many as cores: MPI waits most of the time that it takes to start and end.
    command = [
        "ctest",
        "--test-dir",
        str(build),
        "-j",
        str(3 * jobs),
        "--output-junit",
        str(report),
    ]
    command += ["-I", f"{first},{first},1,{numbers}"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as job:
        assert job.stdout
        for line in job.stdout:
            if match := re.match(r" *(\d+/\d+) Test +#\d+: (.*)", line):
                show_progress(*match.groups())
    if sys.stdout.isatty():
        print("\r\033[K", end="")


def show_progress(place: str, text: str) -> None:
    """Shows one line that changes on a terminal; in a log, a line for each test."""
    if sys.stdout.isatty() and " Passed " in text:
        print(f"\r\033[K{place} {text.split()[0]}"[:100], end="", flush=True)
    else:
        print(f"{place} {text}", flush=True)


def read_report(report: Path) -> tuple[int, list[tuple[str, str]]]:
    """Returns how many tests passed, and the names and the output of those that failed."""
    passed, failures = 0, []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        status = case.get("status")
        if status == "run":
            passed += 1
        elif status == "fail":
            failures.append((case.get("name", ""), case.findtext("system-out") or ""))
    return passed, failures


def failure_text(name: str, output: str, command: str) -> str:
    lines = output.rstrip().split("\n")
    text = f"\n---- {name} failed {'-' * max(0, 80 - len(name))}\n"
    if len(lines) > SHOWN_LINES:
        text += f"... {len(lines) - SHOWN_LINES} lines before\n"
    text += "\n".join(lines[-SHOWN_LINES:])
    return f"{text}\n---- to run it alone: {command} '^{re.escape(name)}$'\n"


class Times:
    """The durations of earlier runs, by which a run tells the user how long it will take."""

    def __init__(self, build: Path, options: argparse.Namespace) -> None:
        self.file = build / "test-times.json"
        self.key = " ".join([options.suite, options.label, *options.parts]).strip()
        self.start = time.monotonic()
        try:
            self.table = json.loads(self.file.read_text())
        except (OSError, ValueError):
            self.table = {}

    def last(self) -> str:
        known = self.table.get(self.key)
        return (
            f"took {known[0]} s last time, {known[1]} of them to compile"
            if known
            else "the first time"
        )

    def keep(self, compiled: float) -> None:
        total = round(time.monotonic() - self.start)
        self.table[self.key] = [total, round(compiled)]
        self.file.write_text(json.dumps(self.table, indent=1) + "\n")


def describe(tests: list[Test]) -> str:
    unit = sum(t.is_unit for t in tests)
    unbuilt = any(t.unbuilt for t in tests)
    return (
        f"{unit}{' or more' if unbuilt else ''} unit tests and {len(tests) - unit} runs of programs"
    )


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--build", type=Path, required=True)
    options.add_argument("--suite", choices=["short", "ci", "all"], default="short")
    options.add_argument("--label", default="", help="only tests that have it")
    options.add_argument("--except", dest="leave_out", default="", help="a regular expression")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options.add_argument("--notes", type=Path, help="a folder: `totals` and `failures` grow there")
    options.add_argument("--again", default="./run test", help="the command that runs one test")
    options.add_argument("parts", nargs="*", metavar="PART")
    return options.parse_args()


def main() -> int:
    options = read_options()
    build = options.build.resolve()
    times = Times(build, options)
    chosen = select(options, list_tests(build))
    if not chosen:
        print(f"no test belongs to {' '.join(options.parts)}", file=sys.stderr)
        return 2
    print(f"{describe(chosen)}; {times.last()}", flush=True)
    begin = time.monotonic()
    if not compile_targets(build, targets_of(chosen, build), options.jobs):
        return 1
    compiled = time.monotonic() - begin
    print(f"compile ... done in {compiled:.0f} s", flush=True)
    # Rebuilt programs of unit tests may contain other cases now.
    chosen = select(options, list_tests(build))
    report = build / "tests.xml"
    run_ctest(build, chosen, options.jobs, report)
    passed, failures = read_report(report)
    times.keep(compiled)
    text = "".join(failure_text(*failure, options.again) for failure in failures)
    if options.notes:
        with (options.notes / "totals").open("a") as totals:
            totals.write(f"{passed} {len(failures)}\n")
        with (options.notes / "failures").open("a") as notes:
            notes.write(text)
    else:
        print(text, end="")
    seconds = time.monotonic() - begin - compiled
    print(f"tests ... {passed} passed, {len(failures)} failed in {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
