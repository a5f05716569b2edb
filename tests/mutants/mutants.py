#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the sources one line at a time, and finds the tests that fail.

    mutants.py [options]

mutants.toml has the changes ("mutants") and, for each folder of sources, the tests nearest to it.
Each mutant is made in a copy of the sources (--folder), built there, and given to the short suite:
first the nearest tests, then the others, until one fails. A mutant that survives is given to the
nearest of the other tests, or with --all to all of them. At the end, the tests that have failed run
on the unchanged sources: those that fail there, too, prove nothing.

Prints a line for each mutant, and a table; --report keeps both as JSON. Returns 1 if some mutant
survives the short suite.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import suite  # noqa: E402

MUTANTS = HERE / "mutants.toml"
# Limit in seconds for each test without a shorter one, as a mutant may make any test hang.
TEST_LIMIT = 60
GOOD_ENDS = ("Passed", "***Skipped")


OUTPUT = {
    "text": True,
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.STDOUT,
}


def run(command: list[Any], limit: float = 3600, **options: Any) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command],
        timeout=limit,
        check=False,
        **OUTPUT,
        **options,
    )


def read_table() -> dict:
    table = tomllib.loads(MUTANTS.read_text())
    for mutant in table["mutant"]:
        times = (ROOT / mutant["file"]).read_text().count(mutant["line"])
        if times != 1:
            sys.exit(f"{mutant['file']}: {times} times, not once: {mutant['line']}")
    return table


class Tree:
    """A copy of the sources with its own build."""

    def __init__(self, folder: Path, jobs: int, timed: str) -> None:
        self.folder = folder
        self.build = folder / "build/release"
        self.jobs = jobs
        self.timed = re.compile(timed)
        self.tests: list[suite.Test] = []

    def copy(self) -> None:
        """Copies files that have changed, so that only those are built again."""
        listed = run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]).stdout.split(
            "\n"
        )
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names:
            source, copy = ROOT / name, self.folder / name
            if copy.is_file() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
        for top in self.folder.iterdir():
            for copy in [] if top.name == "build" else [*top.glob("**/*")]:
                if copy.is_file() and str(copy.relative_to(self.folder)) not in names:
                    copy.unlink()
        venv = self.folder / "build/venv"
        venv.parent.mkdir(exist_ok=True)
        if not venv.exists():
            venv.symlink_to((ROOT / "build/venv").resolve())

    def prepare(self) -> None:
        self.copy()
        done = run([self.folder / "run", "build", "release"], cwd=self.folder)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\nthe sources as they are cannot be built in {self.folder}")
        self.tests = suite.list_tests(self.build)

    def choose(self, name: str = "", long: bool = False) -> list[int]:
        """Returns the numbers of the tests whose names match, in the short suite or among all
        others."""
        suites = suite.read_suites()
        return [
            i
            for i, test in enumerate(self.tests)
            if re.search(name, test.name)
            and not self.timed.search(test.name)
            and suite.in_suite(test, "short", suites) != long
        ]

    def targets(self, tests: list[int]) -> list[str]:
        """Returns the targets that some tests need: the programs that they name, and the
        libraries."""
        targets = suite.targets_of([self.tests[i] for i in tests], self.build)
        libraries = ["thalweg", "thalweg_fortran", "thalweg_pio", "thalweg_cfio"]
        return [*targets, *libraries] if targets else ["all"]

    def compile(self, targets: list[str]) -> str:
        """Compiles. Returns the compiler's output if it fails, otherwise an empty text."""
        done = run(["ninja", "-C", self.build, "-j", self.jobs, *targets])
        return "" if done.returncode == 0 else done.stdout

    def ctest(self, tests: list[int], seconds: float) -> tuple[dict[int, str], bool]:
        """Runs tests up to the first one that fails. Returns the results, and whether ctest
        ended in time."""
        numbers = ",".join(str(i + 1) for i in tests)
        command = ["ctest", "--test-dir", self.build, "-j", 2 * self.jobs, "--stop-on-failure"]
        command += ["--timeout", TEST_LIMIT, "-I", f"{tests[0] + 1},{tests[0] + 1},1,{numbers}"]
        job = subprocess.Popen(
            [str(word) for word in command],
            start_new_session=True,
            **OUTPUT,
        )
        try:
            text, _ = job.communicate(timeout=seconds)
        except BaseException as stop:
            os.killpg(job.pid, signal.SIGTERM)
            text, _ = job.communicate()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
        ends = re.findall(r"^ *\d+/\d+ Test +#(\d+): \S+ \.+ *(.*?) +[\d.]+ sec$", text, re.M)
        return {int(number) - 1: end for number, end in ends}, job.returncode >= 0

    def test(self, tests: list[int], seconds: float) -> tuple[str, bool]:
        """Returns the name of the first test that fails, or an empty text; and whether all tests
        were run."""
        tests = list(tests)
        while tests:
            ends, complete = self.ctest(tests, seconds)
            failed = next((i for i, end in ends.items() if end not in GOOD_ENDS), None)
            if failed is None:
                return "", complete
            # On a busy machine a test may fail without reason. A test that hangs is not repeated.
            name = self.tests[failed].name
            if "Timeout" in ends[failed] or len(tests) == 1:
                return name, True
            again, _ = self.ctest([failed], seconds)
            if any(end not in GOOD_ENDS for end in again.values()):
                return name, True
            tests = [i for i in tests if i not in ends]
        return "", True


def judge(tree: Tree, mutant: dict, near: list[dict], options: argparse.Namespace) -> dict:
    """Runs the tests on a mutant that is in the tree."""
    patterns = next(n["tests"] for n in near if mutant["file"].startswith(n["folder"]))
    verdict = {"file": mutant["file"], "breaks": mutant["breaks"], "suite": "", "test": ""}
    near_short: list[int] = []
    for pattern in patterns:
        tests = [i for i in tree.choose(pattern) if i not in near_short]
        near_short += tests
        said = tree.compile(tree.targets(tests))
        if said:
            return verdict | {"suite": "compiler", "said": said}
        verdict["test"], _ = tree.test(tests, options.seconds)
        if verdict["test"]:
            return verdict | {"suite": "short"}
    if said := tree.compile(["all"]):
        return verdict | {"suite": "compiler", "said": said}
    rest = [i for i in tree.choose() if i not in near_short]
    verdict["test"], complete = tree.test(rest, options.seconds)
    if verdict["test"]:
        return verdict | {"suite": "short"}
    long = tree.choose("" if options.all else "|".join(patterns), long=True)
    verdict["test"], _ = tree.test(long, options.seconds)
    verdict["suite"] = "long" if verdict["test"] else "none"
    return verdict | ({} if complete else {"said": "not all tests of the short suite in time"})


def check_killers(tree: Tree, verdicts: list[dict]) -> list[str]:
    """Returns the tests that fail without any mutant, too."""
    if said := tree.compile(["all"]):
        sys.exit(said)
    names = {v["test"] for v in verdicts if v["test"]}
    numbers = [i for i, test in enumerate(tree.tests) if test.name in names]
    wrong = []
    while numbers:
        failed, _ = tree.test(numbers, 3600)
        if not failed:
            break
        wrong.append(failed)
        numbers = [i for i in numbers if tree.tests[i].name != failed]
    return wrong


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", default="", help="mutants whose file and text match a pattern")
    options.add_argument("--first", type=int, default=1, help="number of the first mutant")
    options.add_argument("--last", type=int, default=sys.maxsize, help="number of the last one")
    options.add_argument("--seed", type=int, help="in random order, so that a part is a sample")
    options.add_argument("--minutes", type=float, default=240, help="begin none after that")
    options.add_argument("--seconds", type=float, default=900, help="for a set of tests")
    options.add_argument("--all", action="store_true", help="survivors: all tests")
    options.add_argument("--list", action="store_true", help="list the mutants, try none")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options.add_argument("--folder", type=Path, default=ROOT / "build/mutants")
    options.add_argument("--report", type=Path, help="JSON file of results, which goes on")
    return options.parse_args()


def main() -> int:
    options = read_options()
    table = read_table()
    chosen = [
        (k, m)
        for k, m in enumerate(table["mutant"], 1)
        if options.first <= k <= options.last
        and re.search(options.only, f"{m['file']} {m['breaks']}")
    ]
    if options.seed is not None:
        random.Random(options.seed).shuffle(chosen)
    if options.list:
        for k, mutant in chosen:
            print(f"{k:3} {mutant['file']}: {mutant['breaks']}")
        return 0
    tree = Tree(options.folder, options.jobs, table["timed"])
    tree.prepare()
    verdicts: list[dict] = []
    if options.report and options.report.exists():
        verdicts = [v for v in json.loads(options.report.read_text()) if v["suite"] != "compiler"]
    known = {(v["file"], v["breaks"]) for v in verdicts}
    start = time.monotonic()
    for k, mutant in chosen:
        if (mutant["file"], mutant["breaks"]) in known:
            continue
        if time.monotonic() - start > 60 * options.minutes:
            break
        source = tree.folder / mutant["file"]
        text = source.read_text()
        begin = time.monotonic()
        source.write_text(text.replace(mutant["line"], mutant["becomes"]))
        try:
            verdict = judge(tree, mutant, table["near"], options)
        finally:
            source.write_text(text)
        verdict |= {"number": k, "seconds": round(time.monotonic() - begin)}
        verdicts.append(verdict)
        found = f"{verdict['suite']}: {verdict['test']}" if verdict["test"] else verdict["suite"]
        print(f"{k:3} {verdict['seconds']:4} s  {found}  <- {mutant['file']}: {mutant['breaks']}")
        if verdict.get("said"):
            print(verdict["said"][-2000:])
        sys.stdout.flush()
        if options.report:
            options.report.write_text(json.dumps(verdicts, indent=1) + "\n")
    for name in check_killers(tree, verdicts):
        print(f"{name} fails without any mutant, too")
        for verdict in verdicts:
            if verdict["test"] == name:
                verdict["suite"] = "unknown"
    if options.report:
        options.report.write_text(json.dumps(verdicts, indent=1) + "\n")
    count = {
        s: sum(v["suite"] == s for v in verdicts) for s in sorted({v["suite"] for v in verdicts})
    }
    print(f"{len(verdicts)} mutants, found by: " + ", ".join(f"{s} {n}" for s, n in count.items()))
    return 0 if verdicts and set(count) == {"short"} else 1


if __name__ == "__main__":
    sys.exit(main())
