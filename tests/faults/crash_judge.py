# SPDX-License-Identifier: Apache-2.0
"""Judges the files that remain after a loss of power: by netCDF-C or zarr, `recover`, and an
append."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import netCDF4
import numpy as np
import zarr
from crash_log import Mark

NAME = "history.nc"
NX = 40
FIELDS = {"temperature": 1, "salt": 2, "area": 3}
APPENDED = 9  # version of the record that the judge appends
LIMIT = 30  # seconds for one call


@dataclass
class Promise:
    """The promises of calls up to some moment. Versions are those of crash_model.cpp."""

    generation: int = -1  # number of the newest file for which there is a promise; -1: none
    records: int = 0
    complete: bool = False  # the file has its final name
    newest: int = 0  # number of the newest file that may exist
    rewritten: int = -1  # records before this one have version 1; -1: no record is rewritten
    dropped: int = -1  # from this record on, either all have version 1, or all have version 0

    def take(self, mark: Mark) -> None:
        _, what, number, version = mark.words
        n, v = int(number), int(version)
        if what == "withdraw":
            self.records, self.complete = 0, False
        elif what == "create":
            self.newest = max(self.newest, v)
        elif what == "rewrite":
            self.rewritten = max(self.rewritten, 0)
        elif what == "drop":
            self.dropped, self.records = n, min(self.records, n)
        elif self.rewritten >= 0:
            self.rewritten = max(self.rewritten, n)
        elif self.dropped >= 0 or v <= self.generation:
            self.records = max(self.records, n)
            self.complete |= what == "complete"
        else:
            self.generation, self.records = v, n
            self.complete = what == "complete"

    def key(self) -> tuple:
        return tuple(vars(self).values())

    def allowed(self, generation: int, record: int) -> tuple[list[int], bool]:
        """Returns the versions that a record may have, and whether it may have several of them."""
        if self.rewritten >= 0:
            return ([1], False) if record < self.rewritten else ([0, 1], True)
        if 0 <= self.dropped <= record:
            return [0, 1], False
        return [generation], False


def promise_at(marks: list[Mark], moment: float) -> Promise:
    promise = Promise()
    for mark in marks:
        if mark.moment <= moment:
            promise.take(mark)
    return promise


def values(name: str, version: int, record: int, index: np.ndarray) -> np.ndarray:
    return 1e6 * FIELDS[name] + 1e5 * version + 1e3 * record + index + 1


@dataclass
class Content:
    """The contents of one file."""

    generation: int
    records: int
    wrong: list[tuple[str, int]]  # wrong (variable, record); -1: fixed-size
    lacks: list[str] = field(default_factory=list)


def first_indices(data: netCDF4.Dataset) -> np.ndarray:
    """Returns the global index of each element of a record, for a whole file or for a tile."""
    begin = {}
    for dim in "yx":
        cut = getattr(data, f"domain_decomposition_{dim}", None)
        begin[dim] = 0 if cut is None else int(cut[2]) - 1
    y = begin["y"] + np.arange(len(data.dimensions["y"]))
    x = begin["x"] + np.arange(len(data.dimensions["x"]))
    return y[:, None] * NX + x[None, :]


def read(path: Path, promise: Promise) -> Content:
    """Reads a file or a store. Raises an error if netCDF-C or zarr cannot read it."""
    if path.is_dir():
        return read_store(path, promise)
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        generation = int(getattr(data, "generation", -1))
        if generation < 0 and "area" in data.variables:  # a restart
            generation = int((data["area"][...].flat[0] - 3e6) // 1e5)
        index = first_indices(data)
        records = len(data.dimensions["time"]) if "time" in data.dimensions else 0
        found = Content(generation, records, [])
        for name in FIELDS:
            if name not in data.variables:
                found.lacks.append(name)
            elif "time" not in data[name].dimensions:
                version = 0 if "time" in data.dimensions else generation
                if not np.array_equal(data[name][...], values(name, version, 0, index)):
                    found.wrong.append((name, -1))
            else:
                check_records(name, data[name], records, promise, index, found)
    return found


def read_store(path: Path, promise: Promise) -> Content:
    """Reads a Zarr store. Raises errors of zarr-python if this is not possible."""
    data = zarr.open_consolidated(path)
    generation, shape = int(data.attrs.get("generation", -1)), data["temperature"].shape
    index = np.arange(shape[-2])[:, None] * NX + np.arange(shape[-1])
    found = Content(generation, shape[0], [])
    for name in FIELDS:
        if name not in data:
            found.lacks.append(name)
        elif "time" not in data[name].metadata.dimension_names:
            if not np.array_equal(data[name][...], values(name, 0, 0, index)):
                found.wrong.append((name, -1))
        else:
            check_records(name, data[name], shape[0], promise, index, found)
    return found


def check_records(
    name: str, variable, records: int, promise: Promise, index, found: Content
) -> None:
    for r in range(min(records, variable.shape[0])):
        got = variable[r]
        versions, mixed = promise.allowed(found.generation, r)
        matches = [got == values(name, v, r, index) for v in [*versions, APPENDED]]
        good = np.any(matches, axis=0).all() if mixed else any(m.all() for m in matches)
        if not good:
            found.wrong.append((name, r))


class Server:
    """The process that recovers and appends (crash_model --serve)."""

    def __init__(self, program: str, scratch: Path):
        self.command = [program, "--serve"]
        self.environment = dict(os.environ, TMPDIR=str(scratch))
        for name in ("btl_vader_backing_directory", "orte_tmpdir_base"):
            self.environment[f"OMPI_MCA_{name}"] = str(scratch)
        self.process: subprocess.Popen | None = None

    def ask(self, line: str) -> tuple[int, str]:
        """Returns the status and the text of a call; raises ChildProcessError if the call crashed
        or did not return."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        answer = self.process.stdout.readline() if ready else ""
        if not answer:
            self.process.kill()
            code = self.process.wait()
            self.process = None
            raise ChildProcessError(f"{line}: {f'exit code {code}' if ready else 'no answer'}")
        status, _, text = answer.strip().partition(" ")
        return int(status), text

    def end(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


@dataclass
class Verdict:
    problems: list[str] = field(default_factory=list)
    holes: int = 0  # number of accepted records that are wrong, but were never promised
    refused: int = 0  # number of files that a call refused with a reason
    appended: int = 0


class Judge:
    def __init__(self, folder: Path, server: Server):
        self.folder = folder
        self.server = server
        self.summed = False  # `recover` must find every hole
        self.live = False  # the file has its own name while it is written
        self.tile_names: list[str] = []

    def judge(self, state: dict, promise: Promise, restart: bool, durable: bool) -> Verdict:
        self.write(state)
        self.promise, self.durable = promise, durable
        self.verdict = Verdict()
        try:
            self.judge_files(state, restart)
        except ChildProcessError as error:
            self.say(str(error))
        return self.verdict

    def write(self, state: dict) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, content in state.items():
            if content is None:
                (self.folder / name).mkdir()
            else:
                (self.folder / name).write_bytes(content)

    def say(self, text: str) -> None:
        self.verdict.problems.append(text)

    def judge_files(self, state: dict, restart: bool) -> None:
        if any(name.endswith("zarr.json") for name in state):
            self.judge_file(NAME, restart)
            return
        if any(state.get(name, b"") is None for name in (NAME, NAME + ".part")):
            self.judge_folder()
            return
        if self.tile_names:
            for name in self.tile_names:  # a single process cannot append to a set of tiles
                self.judge_file(name, restart)
        elif self.judge_file(NAME, restart):
            self.append(self.folder / NAME)

    def judge_folder(self) -> None:
        """Judges a folder with a file for each variable. Such files are read without recovery."""
        folder = self.folder / NAME
        if not folder.exists():
            if self.promise.complete:
                self.say("the folder lacks its name")
            folder = self.folder / (NAME + ".part")
        for name in ("temperature", "salt"):
            self.check(folder / f"{name}.nc", folder.suffix == ".nc")

    def judge_file(self, name: str, restart: bool) -> bool:
        """Recovers and checks a file.
        @return true if the file can be appended to"""
        path = self.folder / name
        promised = self.promise
        if path.exists() and not self.live:
            self.check(path, True, own=True)
        if restart:
            if promised.complete and not path.exists():
                self.say(f"{name}: a complete restart is missing")
            return False
        status, text = self.server.ask(f"recover 0 {path}")
        if status != 0 and self.must_replace(path):
            status, text = self.server.ask(f"recover 1 {path}")
        if status != 0:
            self.verdict.refused += 1
            if promised.records > 0 and not path.exists():
                self.say(f"{name}: {promised.records} records were promised: {text}")
        return path.exists() and self.check(path, False, text) and status == 0

    def must_replace(self, path: Path) -> bool:
        """Tests if the file with the final name is older than the newest promised one, which
        must replace it."""
        if not path.exists() or self.promise.records == 0:
            return False
        with contextlib.suppress(OSError, RuntimeError, AttributeError):
            return read(path, self.promise).generation < self.promise.generation
        return True

    def check(self, path: Path, published: bool, text: str = "", own: bool = False) -> bool:
        """Checks a file.
        @return true if all of the file is right"""
        promised = self.promise
        told = f" ({text})" if text else ""
        try:
            found = read(path, promised)
        except (OSError, RuntimeError, AttributeError, KeyError, IndexError, ValueError) as error:
            known = promised.records > 0 or promised.complete
            if (self.durable and own) or known:
                self.say(f"{path.name}: cannot be read: {error}{told}")
            else:
                self.verdict.refused += 1
            return False
        older = found.generation < promised.generation
        if older and (promised.complete or not own):
            self.say(f"{path.name}: generation {found.generation} instead of {promised.generation}")
        lacking = found.generation == promised.generation and found.records < promised.records
        if lacking and (not own or promised.complete):
            self.say(f"{path.name}: {found.records} of {promised.records} promised records{told}")
        wrong = [
            (v, r)
            for v, r in found.wrong
            if (self.durable and (published or r >= 0))
            or (r < promised.records and found.generation <= promised.generation)
        ]
        wrong = [w for w in wrong if w[1] >= 0 or promised.records > 0 or self.durable]
        if wrong:
            self.say(f"{path.name}: wrong {wrong[:4]} of {found.records} records{told}")
        if self.summed and not own and path.with_name(path.name + ".sums").exists():
            # A chunk that was never written has no checksum, either.
            silent = [
                (v, r)
                for v, r in found.wrong
                if f"'{v}'" not in text and (r >= 0 or promised.records > 0)
            ]
            if silent:
                self.say(f"{path.name}: holes without a word: {silent[:4]}{told}")
        self.verdict.holes += len(found.wrong) - len(wrong)
        return not found.wrong

    def append(self, path: Path) -> None:
        """Adds a record to a file. Without durable=yes, the file may be damaged."""
        before = read(path, self.promise)
        status, text = self.server.ask(f"append {path}")
        if status != 0:
            if self.durable:
                self.say(f"{path.name}: cannot be continued: {text}")
            self.verdict.refused += 1
            return
        self.verdict.appended += 1
        try:
            after = read(path, self.promise)
        except (OSError, RuntimeError) as error:
            after = Content(0, 0, [], [str(error)])
        if after.records == before.records + 1 and not after.wrong:
            return
        self.verdict.holes += 1
        if self.durable:
            self.say(
                f"{path.name}: {after.records} records after an append to {before.records}; "
                f"wrong: {after.wrong[:4]} {after.lacks}"
            )
