# SPDX-License-Identifier: Apache-2.0
"""Jobs of the program `model` on hosts, their output, and their files."""

import argparse
import re
import subprocess
import time
from pathlib import Path

import netCDF4
import numpy as np
from hosts import Hosts, enter

COLUMNS = 1024


class CheckError(Exception):
    pass


def require(condition: bool, what: str) -> None:
    if not condition:
        raise CheckError(what)


class Job:
    """One mpirun of the model."""

    def __init__(
        self, hosts: Hosts, ranks: list[int], model: str, path: Path | str, settings: str = "", *,
        steps: int = 3, pace: int = 0, rows: int = 64, flags: tuple = (), before: tuple = (),
        silence: int = 2,
    ):  # fmt: skip
        words = ["--settings", settings, "--steps", steps, "--pace", pace, "--rows", rows]
        self.output_path = hosts.folder / f"output{time.monotonic_ns()}"
        self.what = f"{ranks} {settings}"
        self.begin = time.monotonic()
        with self.output_path.open("w") as output:
            self.process = hosts.mpirun(
                ranks,
                [*before, model, path, *words],
                *flags,
                silence=silence,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        return self.output_path.read_text(errors="replace")

    def committed(self) -> int:
        return max([0, *map(int, re.findall(r"^committed (\d+)$", self.output(), re.MULTILINE))])

    def wait_for(self, records: int, limit: float = 60) -> None:
        """Waits until a number of records is committed."""
        end = time.monotonic() + limit
        while self.committed() < records:
            require(self.process.poll() is None, f"{self.what}: ended early\n{self.output()}")
            require(time.monotonic() < end, f"{self.what}: no record {records}\n{self.output()}")
            time.sleep(0.05)

    def wait(self, limit: float) -> int:
        """Returns the exit code; fails if the job does not end within a number of seconds."""
        begin = time.monotonic()
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise CheckError(
                f"{self.what}: has not ended after {limit} s\n{self.output()}"
            ) from None
        self.seconds = time.monotonic() - begin
        return code

    def succeed(self, limit: float = 60) -> None:
        code = self.wait(limit)
        require(code == 0, f"{self.what}: exit code {code}\n{self.output()}")

    def fail(self, *texts: str, limit: float = 60) -> None:
        """Checks that the job ends with an error that contains all these texts, and not by a
        signal."""
        code = self.wait(limit)
        output = self.output()
        require(code != 0, f"{self.what}: ended well\n{output}")
        require("signal" not in output, f"{self.what}: {output}")
        for text in texts:
            require(text in output, f"{self.what}: does not say '{text}'\n{output}")


def check_file(path: Path, records: int, rows: int = 64, at_least: bool = False) -> int:
    """Checks that the records of a file which the model has written are right.
    @return their number"""
    with netCDF4.Dataset(path) as file:
        found = file["T"][:].filled(np.nan)
    enough = len(found) >= records if at_least else len(found) == records
    require(enough, f"{path}: has {len(found)} records instead of {records}")
    places = np.arange(rows * COLUMNS, dtype=float).reshape(rows, COLUMNS)
    for t, values in enumerate(found):
        wrong = int(np.sum(values != 1e7 * (t + 1) + places))
        require(wrong == 0, f"{path}: {wrong} values of record {t} are wrong")
    return len(found)


def run_case(cases, *options: str) -> None:
    """Runs the case that the first argument names, in namespaces of its own.
    @param cases: functions of the program's arguments
    @param options: names of arguments that the cases need"""
    by_name = {case.__name__: case for case in cases}
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=by_name)
    for option in options:
        parser.add_argument(option, required=True)
    args = parser.parse_args()
    enter()
    by_name[args.case](args)
