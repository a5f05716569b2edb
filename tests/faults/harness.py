# SPDX-License-Identifier: Apache-2.0
"""Runs the victim, and checks the files that it leaves."""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import netCDF4
import numpy as np
from classic import RECORDS_AT, Header, read_header

FILES = ("history.nc", "sparse.nc", "static.nc", "restart.nc")

# Settings that reach different code, as NAME: (settings, format). The first four are used by
# default. The setups named packed are for services: all writers compress, and agree on addresses in
# the file. With the last setup, MPI-IO loses errors, so only few promises hold.
SETUPS = {
    "record": ("method=record; writers=2; piece=4KiB", "cdf2"),
    "direct": ("method=direct; durable=yes", "cdf2"),
    "tiles": ("method=tiles; writers=3; node_size=2; publish=live", "cdf2"),
    "serial": ("method=serial; piece=4KiB; format=cdf5; durable=yes", "cdf5"),
    "packed": ("format=netcdf4; deflate=1; chunks=y=5; piece=4KiB", "netcdf4"),
    "packed-nodes": ("format=netcdf4; deflate=1; chunks=y=5; node_size=2", "netcdf4"),
    "pnetcdf": ("storage=pnetcdf; writers=2", "cdf2"),
}


def common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--victim", required=True)
    parser.add_argument("--inject", required=True, help="the library of faults")
    parser.add_argument("--services", default=default_services(), help="see services.txt")
    parser.add_argument(
        "--setups", default=",".join(list(SETUPS)[:4]), help="of " + ", ".join(SETUPS)
    )
    parser.add_argument("--ranks", type=int, default=4, help="of the model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the files behind")
    parser.add_argument("launcher", nargs="+", help="after --: mpirun and its flags, to -n")


def default_services() -> str:
    lines = Path(__file__).with_name("services.txt").read_text().splitlines()
    return " ".join(line for line in lines if not line.startswith("#"))


@dataclass
class Service:
    name: str
    settings: str
    extra: int  # number of ranks besides the model's

    @property
    def inline(self) -> bool:
        return self.name == "inline"


def services(text: str) -> list[Service]:
    result = []
    for name in text.replace(",", " ").replace(";", " ").split():
        kind, _, number = name.partition(":")
        extra = int(number or 1) if kind == "servers" else 0
        settings = f"service={kind}" + (f"; servers={extra}" if extra else "")
        result.append(Service(name, settings, extra))
    return result


# ---- running ----------------------------------------------------------------------------------


def processes_below(pid: int) -> list[int]:
    """Returns the descendants of a process, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = Path("/proc", entry, "stat").read_text()
                children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    result, todo = [], [pid]
    while todo:
        found = children.get(todo.pop(), [])
        result += found
        todo += found
    return result


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Job:
    """One mpirun of the victim in a folder of its own, which also receives the files that Open
    MPI leaves when processes are killed."""

    def __init__(self, args, service: Service, root: Path, *more: str, faults=None, limit=30):
        scratch = root / "mpi"
        scratch.mkdir(exist_ok=True)
        environment = dict(os.environ, TMPDIR=str(scratch), THALWEG_TEST_LIMIT=str(limit))
        for name in ("btl_vader_backing_directory", "osc_sm_backing_directory", "orte_tmpdir_base"):
            environment[f"OMPI_MCA_{name}"] = str(scratch)
        exported = {"LD_PRELOAD": str(args.inject), **(faults or {})}
        # Set these variables for the ranks, not for the launcher, with any launcher.
        variables = [f"{name}={value}" for name, value in exported.items()]
        ranks = str(args.ranks + service.extra)
        command = [*args.launcher, ranks, "env", *variables, args.victim]
        self.output_file = (root / "output").open("w+")
        self.process = subprocess.Popen(
            [*command, "--folder", str(root), *more],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output_file,
            stderr=subprocess.STDOUT,
        )

    def wait(self, seconds: float) -> int | None:
        """Waits for the job. Returns its exit code; None if the job had to be killed at the end
        of the time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill_all([*processes_below(self.process.pid), self.process.pid])
            self.process.wait()
            return None

    def output(self) -> str:
        self.output_file.seek(0)
        return self.output_file.read()


@contextlib.contextmanager
def folder(keep: bool, base: str | None = None):
    """Makes an empty folder, in memory if possible: thousands of small files are written."""
    if base is None:
        base = os.environ.get("THALWEG_TEST_DIR") or (
            "/dev/shm" if os.path.isdir("/dev/shm") else "/tmp"
        )
    path = Path(tempfile.mkdtemp(prefix="thalweg_faults_", dir=base))
    try:
        yield path
    finally:
        if keep:
            print(f"kept: {path}")
        else:
            shutil.rmtree(path, ignore_errors=True)


# ---- what the files should be -----------------------------------------------------------------


class Reference:
    """The files of a run without faults with service inline. The victim has compared them with
    its formulas."""

    def __init__(self, args, setup_format: str, steps: int):
        self.steps = steps
        self.files: dict[str, list] = {}
        with folder(False) as root:
            job = Job(
                args,
                services("inline")[0],
                root,
                "--look",
                "--keep-restarts",
                "--steps",
                str(steps),
                "--settings",
                f"format={setup_format}",
            )
            if job.wait(120) != 0:
                raise SystemExit("the run without faults failed:\n" + job.output())
            for name in FILES:
                stem = name.removesuffix(".nc")
                found = [root / "runs/0" / name]
                if name == "restart.nc":
                    found = [root / f"runs/0/{stem}.{g}.nc" for g in range((steps + 1) // 2)]
                self.files[name] = [self.read(p) for p in found]

    def read(self, path: Path) -> tuple[bytes, Header]:
        data = path.read_bytes()
        return data, read_header(data)

    def is_begun(self, path: Path) -> bool:
        """Tests if a file already has its definitions."""
        return read_header(path.read_bytes()) is not None

    def complete(self, name: str, path: Path, number: int) -> str:
        """Checks a complete file with a given number of records, or of a given generation.
        Returns the error."""
        data = path.read_bytes()
        if name == "restart.nc":
            return "" if data == self.files[name][number][0] else f"is not generation {number}"
        wanted, header = self.files[name][0]
        if header.record_bytes:
            size = header.record_begin + number * header.record_bytes
            count = header.record_count(number)
            wanted = wanted[:RECORDS_AT] + count + wanted[RECORDS_AT + len(count) : size]
        if data == wanted:
            return ""
        at = next((i for i, (a, b) in enumerate(zip(data, wanted, strict=False)) if a != b), -1)
        return f"is not as it should be with {number} records: {len(data)} bytes of " + (
            f"{len(wanted)}, first difference at {at}"
        )

    def committed(self, name: str, path: Path, records: int, fixed: list[str]) -> str:
        """Checks an unfinished file, which must have at least a given number of records, and the
        fixed-size variables. Returns the error."""
        data = path.read_bytes()
        header = read_header(data)
        if header is None:
            return "has no header" if records or fixed else ""
        wanted, its = self.files[name][0]
        if header.layout() != its.layout():
            return "has the wrong header"
        if header.records < records:
            return f"has {header.records} records, but {records} were committed"
        if header.records > self.steps:
            return f"has {header.records} records, more than were written"
        for v in its.variables:
            numbers = range(header.records) if v.record else [0] if v.name in fixed else []
            for r in numbers:
                part = its.extent(v, r)
                if data[part] != wanted[part]:
                    return f"has {header.records} records, and '{v.name}' of record {r} is wrong"
        return ""


@dataclass
class Values:
    """The values in a netCDF-4 file."""

    records: int
    record: dict[str, np.ndarray]
    fixed: dict[str, np.ndarray]


class PackedReference(Reference):
    """A Reference for netCDF-4 files, whose values are compared instead of their bytes."""

    def read(self, path: Path) -> Values:
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            of = {True: {}, False: {}}
            for variable in data.variables.values():
                of["time" in variable.dimensions][variable.name] = variable[...]
            records = len(data.dimensions["time"]) if "time" in data.dimensions else 0
        return Values(records, of[True], of[False])

    def is_begun(self, path: Path) -> bool:
        try:
            self.read(path)
            return True
        except (OSError, RuntimeError):
            return False

    def complete(self, name: str, path: Path, number: int) -> str:
        if opened := opens(path):
            return opened
        wanted = self.files[name][number if name == "restart.nc" else 0]
        got = self.read(path)
        if wanted.record and got.records != number:
            return f"has {got.records} records instead of {number}"
        return self.difference(wanted, got, got.records, list(wanted.fixed))

    @staticmethod
    def is_fill(values: np.ndarray) -> bool:
        fill = netCDF4.default_fillvals[values.dtype.str[1:]] if values.dtype != "S1" else b""
        return bool(np.all(values == fill))

    def committed(self, name: str, path: Path, records: int, fixed: list[str]) -> str:
        if opened := opens(path):
            return opened if records or fixed else ""
        got = self.read(path)
        if not records <= got.records <= self.steps:
            return f"has {got.records} records, but {records} of {self.steps} were committed"
        # A record that was being counted may already exist for some of the variables.
        return self.difference(self.files[name][0], got, records, fixed)

    def difference(self, wanted: Values, got: Values, records: int, fixed: list[str]) -> str:
        """Compares a file, which must have at least a given number of records."""
        for name, values in wanted.record.items():
            for r in range(got.records):
                if r >= records and self.is_fill(got.record[name][r]):
                    continue
                if not np.array_equal(got.record[name][r], values[r]):
                    return f"has {records} records, and '{name}' of record {r} is wrong"
        for name in fixed:
            if not np.array_equal(got.fixed[name], wanted.fixed[name]):
                return f"has a wrong '{name}'"
        return ""


def make_reference(args, form: str, steps: int) -> Reference:
    return (PackedReference if form == "netcdf4" else Reference)(args, form, steps)


def opens(path: Path) -> str:
    """Opens a file by netCDF-C. Returns the error."""
    try:
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            for variable in data.variables.values():
                variable[...]
        return ""
    except (OSError, RuntimeError) as error:
        return f"netCDF cannot read it: {error}"


@dataclass
class FileLog:
    """The results of the calls on a file in a run."""

    committed: int = 0
    fixed: list[str] = field(default_factory=list)
    closed: int = -1
    failed: str = ""


def read_log(path: Path, service: Service) -> dict[str, FileLog]:
    """Reads from the log which records were committed by calls that have returned: tw_sync
    commits all of them; with service inline, tw_end_step does so as well."""
    logs = {name: FileLog() for name in FILES}
    if not path.exists():
        return logs
    for line in path.read_text().splitlines():
        name, what, *rest = line.split(" ")
        log = logs[name]
        if what == "sync" or (what == "end_step" and service.inline):
            log.committed = int(rest[0])
            log.fixed = rest[1:]
        elif what == "closed":
            log.closed = int(rest[0])
        elif what == "failed" and not log.failed:
            log.failed = " ".join(rest)
    return logs


def judge_files(
    run: Path,
    logs: dict[str, FileLog],
    reference: Reference,
    steps: int,
    settings: str,
    killed: bool,
) -> list[str]:
    """Checks the files that a run has left. Returns the errors."""
    problems = []
    live = "publish=live" in settings

    def say(path: Path, wrong: str) -> None:
        if wrong:
            problems.append(f"{path.name} {wrong}")

    there = {p.name for p in run.iterdir()} if run.exists() else set()
    if killed:
        there -= {f".{name}.lock" for name in FILES}
    # If a restart has failed, its unfinished file is kept when the next one is written.
    there -= {f"{name}.part.1" for name, log in logs.items() if log.failed}
    # The same holds for logs of chunks that are not in the index yet, and for logs of changes in
    # place.
    unfinished = FILES if killed else [name for name, log in logs.items() if log.failed]
    kept = [f".{name}{end}" for name in unfinished for end in ("", ".part")]
    there -= {name + log for name in kept for log in (".places", ".redo")}
    for name in sorted(there - {n + end for n in FILES for end in ("", ".part")}):
        problems.append(f"{name} should not be there")
    for name in FILES:
        log = logs[name]
        restart = name == "restart.nc"
        final, part = run / name, run / (name + ".part")
        done = log.closed >= 0
        last = done and (not restart or log.closed == (steps - 1) // 2)
        if not killed and not log.failed and not last:
            problems.append(f"{name} was neither closed nor did it fail")
        if done and not final.exists():
            problems.append(f"{name} is closed but not there")
        if final.exists():
            # A live file has its final name from the start; only its log shows if it is
            # complete.
            partial = live and not last
            if restart:
                # The restart has the last generation that was closed, or the next one, if its
                # tw_close had not returned.
                first = max(log.closed, 0)
                wrongs = [
                    reference.complete(name, final, g)
                    for g in range(first, min(first + 2, len(reference.files[name])))
                ]
                if all(wrongs) and not partial:
                    say(final, wrongs[0])
            elif partial:
                say(final, reference.committed(name, final, log.committed, log.fixed))
            else:
                number = log.closed if done else steps if name != "static.nc" else 0
                say(final, reference.complete(name, final, number))
            if not partial or reference.is_begun(final):
                say(final, opens(final))
        if part.exists():
            if live or (done and not restart):
                problems.append(f"{part.name} should not be there")
            if not killed and not log.failed:
                problems.append(f"{part.name} should not be there: nothing failed")
            if not restart:
                say(part, reference.committed(name, part, log.committed, log.fixed))
            if reference.is_begun(part):
                say(part, opens(part))
        if not final.exists() and not part.exists() and (log.committed or log.fixed):
            problems.append(f"{name} is not there, though {log.committed} records were committed")
    return problems
