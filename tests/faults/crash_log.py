# SPDX-License-Identifier: Apache-2.0
"""Reads what record.c has recorded, and makes the states that a disk may have after a loss of
power.

The model of a file system:
- A change of a file (a write, a length) is safe when a sync of that file began after it and has
  ended. Of the other changes any subset may be on the disk. Of a write, any of its sectors of 512
  bytes may be on the disk, or only the length that it gave to the file; the other bytes are zeros,
  or have their former values.
- Changes of names in one folder reach the disk in their order. A change is safe when a sync of the
  folder began after it and has ended; of the later changes, the first few may be on the disk. A
  name may be on the disk before the content of its file.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

SECTOR = 512
EXHAUSTIVE = 12  # up to this number of unsafe changes at a moment, all subsets are tested
NEVER = float("inf")
WRITE, LENGTH, EXTEND, SYNC, CREATE, FOLDER, RENAME, LINK, REMOVE, MAPPED, MARK = range(1, 12)
ENTRY = struct.Struct("5q4i")


@dataclass(eq=False)
class Change:
    begin: int
    end: int
    inode: int
    offset: int
    what: int
    path: str
    other: str
    data: bytes
    safe_at: float = NEVER  # the moment from which the change cannot be lost


def read_log(folder: Path) -> list[Change]:
    changes = []
    for log in folder.glob("log.*"):
        data = log.read_bytes()
        at = 0
        while at < len(data):
            begin, end, inode, offset, size, what, path, other, _ = ENTRY.unpack_from(data, at)
            at += ENTRY.size
            texts = [data[at : at + path].decode()]
            texts.append(data[at + path : at + path + other].decode())
            at += path + other
            size = size if what == WRITE else 0
            content = data[at : at + size]
            at += size
            changes.append(Change(begin, end, inode, offset, what, *texts, content))
    return sorted(changes, key=lambda c: c.end)


@dataclass(eq=False)
class File:
    changes: list[Change] = field(default_factory=list)


@dataclass(eq=False)
class Naming:
    """A change of the names in a folder: the name `gone` disappears, and `name` refers to
    `what`."""

    change: Change
    gone: str = ""
    name: str = ""
    what: File | Folder | None = None


@dataclass(eq=False)
class Folder:
    names: dict[str, File | Folder] = field(default_factory=dict)  # names after the whole run
    changes: list[Naming] = field(default_factory=list)


@dataclass
class Mark:
    moment: int
    words: list[str]


class Recording:
    """The changes below one folder."""

    def __init__(self, root: Path, changes: list[Change]):
        self.root = Folder()
        self.prefix = str(root) + "/"
        self.marks: list[Mark] = []
        self.files: list[File] = []
        self.folders = [self.root]
        self.by_inode: dict[int, File] = {}
        self.moments: set[float] = set()
        for change in changes:
            self.take(change)
        self.end = max((c.end for c in changes), default=0) + 0.5
        self.moments.add(self.end)

    def find(self, path: str) -> tuple[Folder, str]:
        *folders, name = path.removeprefix(self.prefix).split("/")
        at = self.root
        for part in folders:
            at = at.names[part]
        return at, name

    def take(self, c: Change) -> None:
        if c.what == MARK:
            if c.path.startswith(Path(self.prefix).name + "/"):
                self.marks.append(Mark(c.end, c.path.split()))
                self.moments.add(c.end + 0.5)
            return
        if c.what == SYNC and c.path + "/" == self.prefix:
            self.sync(c, self.root)
        if not c.path.startswith(self.prefix):
            return
        if c.what == MAPPED:
            raise SystemExit(f"crash: {c.path} is mapped: its changes are not recorded")
        if c.what in (WRITE, LENGTH, EXTEND):
            if c.inode in self.by_inode:
                self.by_inode[c.inode].changes.append(c)
            elif not c.path.endswith(" (deleted)"):  # a file without a name is lost in any case
                raise SystemExit(f"crash: nothing was recorded of how {c.path} was created")
        elif c.what == SYNC:
            folder, name = self.find(c.path)
            known = self.by_inode.get(c.inode)
            self.sync(c, known if known is not None else folder.names[name])
        else:
            self.rename(c)

    def rename(self, c: Change) -> None:
        folder, name = self.find(c.path)
        naming = Naming(c)
        if c.what == CREATE:
            naming.name, naming.what = name, File()
            self.files.append(naming.what)
            self.by_inode[c.inode] = naming.what
        elif c.what == FOLDER:
            naming.name, naming.what = name, Folder()
            self.folders.append(naming.what)
        elif c.what == REMOVE:
            naming.gone = name
        else:
            target, naming.name = self.find(c.other)
            if target is not folder:
                raise SystemExit(f"crash: {c.path} moves to another folder")
            naming.gone = name if c.what == RENAME else ""
            naming.what = folder.names[name]
        apply(naming, folder.names)
        folder.changes.append(naming)

    def sync(self, c: Change, what: File | Folder) -> None:
        for known in what.changes:
            change = known.change if isinstance(known, Naming) else known
            if change.end < c.begin and change.safe_at > c.end:
                change.safe_at = c.end
                self.moments.add(c.end - 0.5)

    def points(self) -> list[Point]:
        return [Point(self, moment) for moment in sorted(self.moments)]


def apply(naming: Naming, names: dict) -> None:
    names.pop(naming.gone, None)
    if naming.what is not None:
        names[naming.name] = naming.what


# ---- states -------------------------------------------------------------------------------------

# The part of a write that is on the disk: some of its sectors, all, or none but the length.
NOTHING, ALL, ONLY_LENGTH = "nothing", "all", "length"


@dataclass
class Choice:
    files: dict[Change, object]  # of each unsafe change: NOTHING, ALL, ONLY_LENGTH or its sectors
    folders: list[int]  # number of changes of names that are on the disk


def sectors_of(change: Change) -> int:
    if not change.data:
        return 0
    return (change.offset + len(change.data) - 1) // SECTOR - change.offset // SECTOR + 1


def lengthen(content: bytearray, size: int) -> None:
    if len(content) < size:
        content.extend(bytes(size - len(content)))


def put(content: bytearray, change: Change, part: object) -> None:
    if part == NOTHING:
        return
    if change.what == LENGTH:
        del content[change.offset :]
        lengthen(content, change.offset)
        return
    end = change.offset + len(change.data)
    lengthen(content, end)
    if part == ALL:
        content[change.offset : end] = change.data
    elif part != ONLY_LENGTH:
        first = change.offset // SECTOR
        for sector in part:
            begin = max(change.offset, (first + sector) * SECTOR)
            stop = min(end, (first + sector + 1) * SECTOR)
            content[begin:stop] = change.data[begin - change.offset : stop - change.offset]


class Point:
    """A moment at which power is lost, and the changes that are not safe at that moment."""

    def __init__(self, recording: Recording, moment: float):
        self.recording = recording
        self.moment = moment
        self.unsafe = [
            c for f in recording.files for c in f.changes if c.begin <= moment < c.safe_at
        ]
        self.names = [[n for n in f.changes if n.change.begin <= moment] for f in recording.folders]
        self.safe_names = [
            max((i + 1 for i, n in enumerate(names) if n.change.safe_at <= moment), default=0)
            for names in self.names
        ]

    def unsafe_count(self) -> int:
        names = sum(len(n) - s for n, s in zip(self.names, self.safe_names, strict=True))
        return len(self.unsafe) + names

    def is_small(self) -> bool:
        return self.unsafe_count() <= EXHAUSTIVE

    def folder_choices(self) -> Iterator[tuple[int, ...]]:
        return product(
            *(range(s, len(n) + 1) for n, s in zip(self.names, self.safe_names, strict=True))
        )

    def subsets(self) -> Iterator[Choice]:
        """Yields all subsets of whole changes, then each change in part with all or none of the
        others."""
        for folders in self.folder_choices():
            for bits in product((ALL, NOTHING), repeat=len(self.unsafe)):
                yield Choice(dict(zip(self.unsafe, bits, strict=True)), list(folders))
        for folders in self.folder_choices():
            for others in (ALL, NOTHING):
                for change in self.unsafe:
                    for part in self.parts(change):
                        chosen = dict.fromkeys(self.unsafe, others)
                        chosen[change] = part
                        yield Choice(chosen, list(folders))

    @staticmethod
    def parts(change: Change) -> list[object]:
        n = sectors_of(change)
        if n == 0:
            return []
        found: list[object] = [ONLY_LENGTH]
        if n > 1:
            found += [range(n // 2), range(n // 2, n), range(0, n, 2)]
        return found

    def sample(self, choose: random.Random) -> Choice:
        kept = choose.choice((0.0, 0.1, 0.5, 0.5, 0.9, 1.0))
        torn = choose.choice((0.0, 0.0, 0.1, 0.5))
        chosen: dict[Change, object] = {}
        for change in self.unsafe:
            n = sectors_of(change)
            chosen[change] = ALL if choose.random() < kept else NOTHING
            if n > 0 and choose.random() < torn:
                part = [s for s in range(n) if choose.random() < 0.5]
                chosen[change] = part or ONLY_LENGTH
        if self.unsafe and choose.random() < 0.3:  # let one change differ
            odd = choose.choice(self.unsafe)
            chosen[odd] = NOTHING if chosen[odd] == ALL else ALL
        folders = [
            choose.choice((len(n), choose.randint(s, len(n))))
            for n, s in zip(self.names, self.safe_names, strict=True)
        ]
        return Choice(chosen, folders)

    def content(self, file: File, choice: Choice) -> bytes:
        content = bytearray()
        for change in file.changes:
            if change.begin <= self.moment:
                put(content, change, choice.files.get(change, ALL))
        return bytes(content)

    def state(self, choice: Choice) -> dict[str, bytes | None]:
        """Returns the files by path; for a folder, None."""
        found: dict[str, bytes | None] = {}
        self.add(self.recording.root, "", choice, found)
        return found

    def add(self, folder: Folder, before: str, choice: Choice, found: dict) -> None:
        number = self.recording.folders.index(folder)
        names: dict[str, File | Folder] = {}
        for naming in self.names[number][: choice.folders[number]]:
            apply(naming, names)
        for name, what in names.items():
            if isinstance(what, Folder):
                found[before + name] = None
                self.add(what, before + name + "/", choice, found)
            else:
                found[before + name] = self.content(what, choice)

    def describe(self, choice: Choice) -> list[str]:
        """Describes which of the unsafe changes are missing."""
        lines = []
        names = {f: name for name, f in self.recording.root.names.items()}
        for file in self.recording.files:
            for c in file.changes:
                part = choice.files.get(c, ALL)
                if part == ALL:
                    continue
                kind = "write" if c.what == WRITE else "length"
                told = part if isinstance(part, str) else f"sectors {list(part)}"
                lines.append(
                    f"{c.end}: {kind} of {len(c.data)} bytes at {c.offset} of "
                    f"{names.get(file, 'a file')}: {told}"
                )
        for folder, n in zip(self.names, choice.folders, strict=True):
            lines += [f"{x.change.end}: name {x.gone} -> {x.name} is missing" for x in folder[n:]]
        return lines
