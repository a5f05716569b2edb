# SPDX-License-Identifier: Apache-2.0
"""Zarr arrays of the variables of one netCDF file, or of several that are joined."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ._read import File, Variable, counts, open_values

# Number of references from which contiguous data without filters get larger chunks, and largest
# number of all.
MANY, MOST = 100_000, 1_000_000
# Sizes in bytes: largest variable that is copied because there can be no references to it; copied
# chunk; largest chunk that is cut so that there are fewer references.
MOST_COPIED, COPIED_CHUNK, LARGEST_CUT = 16 << 20, 1 << 20, 1 << 30
DEFLATE, SHUFFLE, FLETCHER32, ZSTD = 1, 2, 3, 32015  # filters of HDF5
CODECS = {DEFLATE: {"id": "zlib", "level": 1}, ZSTD: {"id": "zstd", "level": 1}}
CODECS |= {SHUFFLE: {"id": "shuffle"}, FLETCHER32: {"id": "fletcher32"}}
# Beginning of each file of references; the library removes such files beside a file it replaces.
BEGIN = '{"version":1,"refs":{\n'


@dataclass
class Array:
    """A Zarr array: a variable of one file, or of all files if it has records."""

    parts: list[Variable]
    shape: list[int]
    chunk: list[int] = field(default_factory=list)
    fill: Any = None
    filters: list[dict[str, Any]] = field(default_factory=list)
    copied: bool = False

    @property
    def first(self) -> Variable:
        return self.parts[0]

    def copy(self) -> bool:
        """Decides that the data are copied, if they are small enough. Returns true if they are."""
        if math.prod(self.shape) * self.first.dtype.itemsize > MOST_COPIED:
            return False
        self.copied, self.filters, self.chunk = True, [], [max(1, n) for n in self.shape]
        if self.first.record:
            most = COPIED_CHUNK // max(1, self.first.record_bytes)
            self.chunk[0] = min(self.chunk[0], max(1, most))
        return True


def differences(first: File, other: File) -> Iterator[str]:
    """Yields the reasons why a file cannot be joined to the first one, which may be the same."""
    if not other.record_dimension:
        yield f"{other.path}: it has no record dimension along which to join files"
        return
    for v in other.variables.values():
        if other.record_dimension in v.dimensions[v.record :]:
            yield (
                f"{other.path}: variable '{v.name}': the record dimension is not its first one "
                "only: files cannot be joined along it"
            )
    for name, v in first.variables.items():
        if name not in other.variables:
            yield f"{other.path}: it has no variable '{name}'; {first.path} differs"
            continue
        theirs = other.variables[name].decisive(other.lengths)
        for what, value in v.decisive(first.lengths).items():
            if value != theirs[what]:
                how = f"attribute {what}: " if what else ""
                yield (
                    f"{other.path}: variable '{name}': {how}{theirs[what]}, but in {first.path} "
                    f"{value}"
                )
    for name in other.variables.keys() - first.variables.keys():
        yield f"{other.path}: it has a variable '{name}', which {first.path} does not have"


def chunk_differences(files: Sequence[File], parts: Sequence[Variable]) -> Iterator[str]:
    """Yields the reasons why the chunks of a variable cannot be those of one Zarr array.

    Args:
        parts: the variable in each file; of one file if it has no records
    """
    first = parts[0]
    for file, p in zip(files, parts, strict=False):
        for what, own, theirs in (
            ("chunks", p.chunk, first.chunk),
            ("filters", p.filters, first.filters),
        ):
            if own != theirs:
                yield f"{file.path} has the {what} {own}, but {files[0].path} {theirs}"
        if p.chunk and p is not parts[-1] and p.shape[0] % p.chunk[0]:
            yield (
                f"{file.path} has {p.shape[0]} records, not a multiple of the {p.chunk[0]} of a "
                "chunk"
            )


def is_small(v: Variable, elements: int, copied: int) -> bool:
    """Tests if the values of a variable are copied: those of up to `copied` bytes, or with records
    of a thousandth of that."""
    size = elements * v.dtype.itemsize
    return size <= copied or (v.record and v.record_bytes <= copied // 1024)


def largest_divisor(n: int, most: int) -> int:
    """Returns the largest divisor that is at most `most`, and at least 1."""
    pairs = ((k, n // k) for k in range(1, math.isqrt(n) + 1) if n % k == 0)
    return max((d for pair in pairs for d in pair if d <= most), default=1)


def cut(shape: Sequence[int], size: int, most: int, beyond: int) -> list[int]:
    """Cuts contiguous elements into the largest chunks of at most `most` bytes that divide a
    dimension evenly or else, as all chunks of Zarr have the same size, reach at most `beyond` bytes
    beyond its end. Cuts into larger ones where these would be smaller than a sixteenth of that."""
    chunk = [1] * len(shape)
    row = size
    for d in reversed(range(len(shape))):
        n = max(1, shape[d])
        if n > 1 and n > most // row:
            chunk[d] = cut_dimension(n, row, most, beyond)
            break
        chunk[d] = n
        row *= n
    return chunk


def cut_dimension(n: int, row: int, most: int, beyond: int) -> int:
    even = largest_divisor(n, most // row)
    if even * row >= most // 16:
        return even
    longest, shortest = max(1, most // row), max(1, most // 16 // row)
    for number in range(-(-n // longest), n // shortest + 1):
        uneven = -(-n // number)
        if -(-n // uneven) * uneven - n <= beyond // row:
            return uneven
    return n


class Maker:
    """Makes the references of joined files."""

    def __init__(self, files: list[File], most_chunk: int, copied: int, notes: list[str]) -> None:
        self.files, self.copied, self.notes = files, copied, notes
        self.records = [file.records for file in files]
        self.arrays = [self.array(name) for name in files[0].variables]
        self.cut_all(most_chunk)

    def array(self, name: str) -> Array:
        first = self.files[0].variables[name]
        parts = [file.variables[name] for file in self.files] if first.record else [first]
        a = Array(parts, list(first.shape), fill=first.fill)
        if first.record:
            a.shape[0] = sum(self.records)
        why = next((p.why for p in parts if p.why), "") or self.why_not(a)
        small = is_small(first, math.prod(a.shape), self.copied)
        if (small or why) and not a.copy() and why:
            raise ValueError(
                f"{self.files[0].path}: variable '{name}': {why}; leave it out (--skip)"
            )
        return a

    def why_not(self, a: Array) -> str:
        """Sets chunks, filters and the fill value. Returns a reason why there can be no references,
        or nothing."""
        first = a.first
        for why in chunk_differences(self.files, a.parts):
            return why
        a.chunk = list(first.chunk or ())
        length: int = math.prod(a.chunk) * first.dtype.itemsize
        for kind, element in first.filters:
            if kind == SHUFFLE and element <= 1:
                continue
            if kind == SHUFFLE and length % element:
                return (
                    f"the codec shuffle of Zarr readers takes whole elements of {element} bytes "
                    "only, and another filter comes before it"
                )
            if kind not in CODECS:
                return f"Zarr has no codec for HDF5's filter {kind}"
            # Compressed data can have any length.
            length = 1 if kind in (DEFLATE, ZSTD) else length + 4 * (kind == FLETCHER32)
            own = {"elementsize": element} if kind == SHUFFLE else {}
            a.filters.append(own | CODECS[kind])
        # Without a missing chunk, a variable without _FillValue gets no fill value: readers would
        # take values equal to it for missing data.
        missing = {p.missing for p in a.parts if p.is_missing()}
        if len(missing) > 1:
            return "its fill value differs by file"
        if missing and a.fill not in (None, *missing):
            return "its fill value in HDF5 differs from its attribute _FillValue"
        a.fill = missing.pop() if missing else a.fill
        return ""

    def cut_all(self, most: int) -> None:
        """Chooses the chunks of all contiguous data so that there are not too many references."""
        while True:
            for a in self.arrays:
                if not a.copied and a.first.chunk is None:
                    a.chunk = self.choose_chunk(a, most)
            numbers = [math.prod(counts(a.shape, a.chunk)) for a in self.arrays]
            if sum(numbers) <= (MANY if most < LARGEST_CUT else MOST):
                return
            if most >= LARGEST_CUT:
                worst = self.arrays[numbers.index(max(numbers))].first.name
                raise ValueError(
                    f"{self.files[0].path}: {sum(numbers)} references, most of them to variable "
                    f"'{worst}': more than {MOST} are not written to one JSON file"
                )
            most *= 2

    def choose_chunk(self, a: Array, most: int) -> list[int]:
        first, size = a.first, a.first.dtype.itemsize
        ends = zip(self.files, a.parts, strict=False)
        beyond = min((f.size - p.end for f, p in ends if p.end), default=MOST_COPIED)
        inner = first.shape[first.record :]
        chunk = cut(inner, size, most, beyond)
        if not first.record:
            return chunk
        dense = all(p.stride == p.record_bytes for p in a.parts)
        common = math.gcd(*self.records)
        if dense and common and first.record_bytes and chunk == [max(1, n) for n in inner]:
            return [largest_divisor(common, max(1, most // first.record_bytes)), *chunk]
        return [1, *chunk]

    def text(self) -> str:
        refs: dict[str, Any] = {
            ".zgroup": json_text({"zarr_format": 2}),
            ".zattrs": json_text(self.files[0].attributes),
        }
        copies = self.read_copies()
        for a in self.arrays:
            v = a.first
            refs[f"{v.name}/.zarray"] = json_text(
                {
                    "zarr_format": 2,
                    "shape": a.shape,
                    "chunks": a.chunk,
                    "dtype": v.dtype.str,
                    "order": "C",
                    "fill_value": a.fill,
                    "compressor": None,
                    "filters": a.filters or None,
                }
            )
            refs[f"{v.name}/.zattrs"] = json_text(
                v.attributes | {"_ARRAY_DIMENSIONS": v.dimensions}
            )
            pieces = copied_pieces(a, copies[v.name]) if a.copied else self.pieces(a)
            for at, place in pieces:
                refs[f"{v.name}/{'.'.join(map(str, at)) or 0}"] = place
        lines = (f"{json_text(key)}:{json_text(value)}" for key, value in refs.items())
        return BEGIN + ",\n".join(lines) + "\n}}\n"

    def pieces(self, a: Array) -> Iterator[tuple[tuple[int, ...], list]]:
        """Yields the position of each chunk, and where it is."""
        shift = 0  # chunks along the records in the files before
        for file, p in zip(self.files, a.parts, strict=False):
            for at, offset, size in places_of(p, a.chunk):
                at = (at[0] + shift, *at[1:]) if p.record else at
                yield at, [file.name, offset, size]
            if p.record:
                shift += -(-p.shape[0] // a.chunk[0])

    def read_copies(self) -> dict[str, bytes]:
        """Reads the values that are copied. Checks that those without records are equal in all
        files, and notes times that do not increase."""
        copies: dict[str, bytes] = {}
        before = None
        for file in self.files:
            with open_values(file.path) as data:
                for a in (a for a in self.arrays if a.copied):
                    name, v = a.first.name, data[a.first.name]
                    values = v[...] if v.size else np.empty(v.shape, a.first.dtype)
                    own = np.asarray(values).astype(a.first.dtype).tobytes()
                    if not a.first.record and copies.setdefault(name, own) != own:
                        raise ValueError(
                            f"{file.path}: variable '{name}': its values differ from those in "
                            f"{self.files[0].path}, and it has no record dimension; leave it out "
                            "(--skip)"
                        )
                    if a.first.record:
                        copies[name] = copies.get(name, b"") + own
                    if name == file.record_dimension and v.size and a.first.dtype.kind != "S":
                        if before and values.flat[0] <= before[1]:
                            self.notes.append(
                                f"{file.path}: variable '{name}' begins with {values.flat[0]}, but "
                                f"the file before, {before[0]}, ends with {before[1]}"
                            )
                        before = file.name, values.flat[-1]
        return copies


def json_text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def copied_pieces(a: Array, data: bytes) -> Iterator[tuple[tuple[int, ...], str]]:
    size = math.prod(a.chunk) * a.first.dtype.itemsize
    for k in range(0, len(data), size):
        at = tuple(k // size if d == 0 else 0 for d in range(len(a.shape)))
        yield at, "base64:" + base64.b64encode(data[k : k + size].ljust(size, b"\0")).decode()


def places_of(v: Variable, chunk: list[int]) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yields the position, offset and size of each chunk in one file."""
    if v.chunk is not None:
        number = counts(v.shape, v.chunk)
        for at, place in sorted(v.chunks.items()):
            if all(i < n for i, n in zip(at, number, strict=True)):
                yield at, *place
    elif v.offset is not None:
        size = v.dtype.itemsize
        steps = [math.prod(v.shape[d + 1 :]) * size for d in range(len(v.shape))]
        if v.record:
            steps[0] = v.stride
        steps = [step * c for step, c in zip(steps, chunk, strict=True)]
        for at in product(*map(range, counts(v.shape, chunk))):
            offset = v.offset + sum(i * step for i, step in zip(at, steps, strict=True))
            yield at, offset, math.prod(chunk) * size
