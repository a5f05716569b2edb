# SPDX-License-Identifier: Apache-2.0
"""References (kerchunk's) by which Zarr readers read netCDF files in place: docs/zarr.md.

>>> from thalweg.references import write_references
>>> write_references(["history.2001.nc", "history.2002.nc"], "history.json")

Needs the PyPI packages netCDF4 and h5py. No MPI, and no compiled part of this package.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np

# Number of references from which contiguous data without filters get larger chunks, and largest
# number of all.
MANY, MOST = 100_000, 1_000_000
# Sizes in bytes: largest variable that is copied because there can be no references to it; copied
# chunk; largest chunk that is cut so that there are fewer references.
MOST_COPIED, COPIED_CHUNK, LARGEST_CUT = 16 << 20, 1 << 20, 1 << 30
# Attributes that decide what values mean; they must be equal in all joined files.
DECISIVE = ("units", "calendar", "scale_factor", "add_offset", "_Unsigned", "missing_value")
DECISIVE += ("valid_range", "valid_min", "valid_max", "flag_values", "flag_masks", "flag_meanings")
TYPES = {"i1": "byte", "S1": "char", "i2": "short", "i4": "int", "f4": "float", "f8": "double"}
TYPES |= {"u1": "ubyte", "u2": "ushort", "u4": "uint", "i8": "int64", "u8": "uint64"}
# Attributes of HDF5 in which netCDF-4 keeps its own definitions.
INTERNAL = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}
INTERNAL |= {"_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"}
DEFLATE, SHUFFLE, FLETCHER32, ZSTD = 1, 2, 3, 32015  # filters of HDF5
# Types of attributes that netCDF's classic model has; one string is as good as a text.
SIMPLE = (h5py.h5t.TypeStringID, h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)
# Beginning of each file of references; the library removes such files beside a file it replaces.
BEGIN = '{"version":1,"refs":{\n'


@dataclass
class Variable:
    """A variable of one file, and where its elements are."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    record: bool  # the first dimension is the record dimension
    dtype: np.dtype  # in the byte order of the file
    attributes: dict[str, Any]
    fill: Any = None  # attribute _FillValue, as JSON
    why: str = ""  # reason why there can be no references to its data
    offset: int | None = None  # of the data, or of the first record; None: never written
    stride: int = 0  # from a record to the next
    chunk: tuple[int, ...] | None = None  # None: the data, or those of a record, are contiguous
    filters: list[tuple[int, int]] = field(default_factory=list)  # identifier, size of elements
    chunks: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict)
    missing: Any = None  # value of elements that were never written, as JSON

    @property
    def record_bytes(self) -> int:
        return math.prod(self.shape[self.record :]) * self.dtype.itemsize

    @property
    def end(self) -> int:
        """End of the contiguous data in the file; 0 without data."""
        if self.offset is None or 0 in self.shape:
            return 0
        return (
            self.offset
            + (self.shape[0] - 1 if self.record else 0) * self.stride
            + (self.record_bytes)
        )

    def is_missing(self) -> bool:
        """Tests if some chunk was never written."""
        if self.chunk is None:
            return self.offset is None
        return len(self.chunks) < math.prod(counts(self.shape, self.chunk))

    def decisive(self, lengths: dict[str, int]) -> dict[str, str]:
        """Returns what must be equal in all joined files."""
        shape = (f"{d}={lengths[d]}" if d in lengths else d for d in self.dimensions)
        text = f"it is {TYPES[self.dtype.str[1:]]}({', '.join(shape)})"
        order = " in big-endian byte order" if self.dtype.str[0] == ">" else ""
        own = {"": text + order, "_FillValue": repr(self.fill)}
        return own | {name: repr(self.attributes.get(name)) for name in DECISIVE}


@dataclass
class File:
    path: str
    name: str  # name by which the references refer to it
    size: int
    record_dimension: str
    records: int
    lengths: dict[str, int]  # of the other dimensions
    attributes: dict[str, Any]
    variables: dict[str, Variable]


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


def write_references(
    files: Sequence[str | os.PathLike],
    output: str | os.PathLike | None = None,
    *,
    absolute: bool = False,
    skip: Sequence[str] = (),
    chunk: int = 16 << 20,
    copy: int = 64 << 10,
) -> list[str]:
    """Writes references to a netCDF file, or to several that are joined along their record
    dimension in this order. Returns notes on what is left out and on the order.

    Args:
        output: JSON file to write; the name of the only file with .json added by default
        absolute: refer to the files by absolute paths, not relative to the JSON file
        skip: variables to leave out
        chunk: largest size in bytes of a chunk into which data without filters are cut
        copy: largest size in bytes of a variable that is copied into the JSON file

    Raises:
        OSError: a file cannot be read or written
        ValueError: a file is damaged, files differ, or Zarr cannot express how data are stored
    """
    paths = [os.path.abspath(path) for path in files]
    if output is None and len(paths) != 1:
        raise ValueError("several files need an output")
    target = os.path.abspath(f"{paths[0]}.json" if output is None else output)
    check_target(target)
    notes: list[str] = []
    opened: list[File] = []
    for given, path in zip(map(str, files), paths, strict=True):
        if paths.count(path) > 1:
            raise ValueError(f"{given}: the file is given twice")
        name = path if absolute else name_in(target, path)
        opened.append(read_file(given, name, skip, notes))
        if len(paths) > 1:
            check_joined(opened[0], opened[-1])
    text = Maker(opened, chunk, copy, notes).text()
    temporary = f"{target}.part"
    try:
        Path(temporary).write_text(text, encoding="utf-8")
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return notes


def check_target(path: str) -> None:
    """Checks that the file can be written, and that it replaces no file of another kind."""
    if not os.path.isdir(os.path.dirname(path)):
        raise FileNotFoundError(f"{path}: cannot write references: there is no such directory")
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read(1) not in (b"", b"{"):
                raise ValueError(
                    f"{path}: exists, and is not a JSON file: references do not replace it"
                )


def name_in(target: str, path: str) -> str:
    """Returns the path of a file from the folder of the references."""
    file, own = (
        os.path.join(os.path.realpath(os.path.dirname(p)), os.path.basename(p))
        for p in (path, target)
    )
    name = os.path.relpath(file, os.path.dirname(own))
    if not name.isprintable() and any("\ud800" <= c <= "\udfff" for c in name):
        raise ValueError(f"{path!r}: a path that is not UTF-8 cannot be in a JSON file")
    # Readers take the beginning of a name such as "a:b" for a protocol.
    return f"./{name}" if ":" in name else name


# ---- reading a file -----------------------------------------------------------------------------


def read_file(path: str, name: str, skip: Sequence[str], notes: list[str]) -> File:
    """Reads the definitions of a file, and where its data are."""
    if os.path.isdir(path):
        raise ValueError(
            f"{path}: is a directory; give netCDF files. A folder that is written with files=zarr "
            "needs no references"
        )
    if not os.path.exists(path) and os.path.exists(f"{path}.0000"):
        raise ValueError(f"{path}: a set of tiles has no references; join it by thalweg combine")
    with open_values(path) as data:
        hdf5 = h5py.File(path, "r") if h5py.is_hdf5(path) else None
        with hdf5 or nullcontext():
            return FileReader(path, data, hdf5, skip, notes).read(name)


def open_values(path: str) -> netCDF4.Dataset:
    data = netCDF4.Dataset(path)
    data.set_auto_maskandscale(False)
    data.set_auto_chartostring(False)
    return data


class FileReader:
    def __init__(
        self,
        path: str,
        data: netCDF4.Dataset,
        hdf5: h5py.File | None,
        skip: Sequence[str],
        notes: list[str],
    ) -> None:
        self.path, self.data, self.hdf5, self.skip, self.notes = path, data, hdf5, skip, notes
        unlimited = [d.name for d in data.dimensions.values() if d.isunlimited()]
        self.record = unlimited[0] if unlimited else ""
        self.places = {} if hdf5 else classic_places(path)

    def read(self, name: str) -> File:
        data = self.data
        known = {*data.variables, *self.check_listed()}
        for skipped in self.skip:
            if skipped not in known:
                raise ValueError(f"{self.path}: there is no variable '{skipped}'")
        if data.groups:
            self.notes.append(
                f"{self.path}: {len(data.groups)} groups are left out: only the root group can be "
                "read"
            )
        lengths = {d.name: len(d) for d in data.dimensions.values()}
        records = lengths.pop(self.record, 0)
        attributes = self.attributes(data, self.hdf5, "")
        own = [v for v in data.variables.values() if v.name not in self.skip]
        variables = {v.name: self.variable(v) for v in own}
        size = os.path.getsize(self.path)
        for v in variables.values():
            if not v.why and v.end > size:
                raise ValueError(f"{self.path}: variable '{v.name}': the file ends before its data")
        return File(self.path, name, size, self.record, records, lengths, attributes, variables)

    def object_of(self, name: str) -> h5py.Dataset | None:
        if self.hdf5 is None:
            return None
        return self.hdf5.get(f"_nc4_non_coord_{name}") or self.hdf5[name]

    def check_listed(self) -> set[str]:
        """Checks that netCDF lists all variables except those that are skipped. Returns these."""
        unlisted = set()
        for key in self.hdf5 or ():
            name = key.removeprefix("_nc4_non_coord_")
            of = self.hdf5[key]
            begin = b"This is a netCDF dimension but not a netCDF variable"
            if name in self.data.variables or isinstance(of, h5py.Group | h5py.Datatype):
                continue
            if bytes(of.attrs.get("NAME", b"")).startswith(begin):
                continue
            unlisted.add(name)
            if name not in self.skip:
                raise self.unsupported(name, f"its HDF5 type is {of.dtype}")
        return unlisted

    def unsupported(self, name: str, why: str) -> ValueError:
        return ValueError(f"{self.path}: variable '{name}': {why}; leave it out (--skip)")

    def attributes(self, owner: Any, of: Any, label: str) -> dict[str, Any]:
        """Returns the attributes as JSON has them, and notes those that are left out."""
        found = {}
        listed = owner.ncattrs()
        for name in [*listed, *(set(of.attrs) - set(listed) - INTERNAL if of else ())]:
            simple = not of or isinstance(of.attrs.get_id(name).get_type(), SIMPLE)
            value = owner.getncattr(name) if simple and name in listed else [""]
            if isinstance(value, list):  # netCDF4 returns these for several strings
                self.notes.append(
                    f"{self.path}: '{label}:{name}' is left out: strings and user-defined types "
                    "cannot be read"
                )
            elif name != "_ARRAY_DIMENSIONS":
                text = isinstance(value, str)
                found[name] = value.replace("\0", "") if text else np.asarray(value).tolist()
        return found

    def variable(self, v: netCDF4.Variable) -> Variable:
        if not isinstance(v.datatype, np.dtype):
            kind = "string" if v.dtype is str else "a user-defined type"
            raise self.unsupported(v.name, f"it is of type {kind}")
        of = self.object_of(v.name)
        record = v.dimensions[:1] == (self.record,)
        dtype = v.datatype.newbyteorder(">") if of is None else of.dtype
        attributes = self.attributes(v, of, v.name)
        made = Variable(v.name, v.dimensions, v.shape, record, dtype, attributes)
        fill = v.getncattr("_FillValue") if "_FillValue" in attributes else None
        own = np.dtype("S1") if isinstance(fill, str) else np.asarray(fill).dtype
        if np.size(fill) == 1 and own == dtype.newbyteorder("="):
            del attributes["_FillValue"]
            made.fill = fill_json(fill, dtype)
        if of is None:
            made.offset, made.stride = self.places[v.name]
        else:
            describe_hdf5(made, of)
            if of.file.filename != self.hdf5.filename:
                made.why = "its data are in another file"
        return made


def fill_json(value: Any, dtype: np.dtype) -> Any:
    if dtype.kind == "S":
        text = value.encode() if isinstance(value, str) else bytes(value)
        return base64.b64encode((text or b"\0")[:1]).decode()
    number = np.asarray(value).astype(dtype).item()
    if isinstance(number, float) and not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return number


def classic_places(path: str) -> dict[str, tuple[int, int]]:
    """Returns the offset of each variable in a file of a classic format, and its distance from a
    record to the next."""
    with open(path, "rb") as file:
        version = file.read(4)[3]
        sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}

        def number(size: int) -> int:
            return int.from_bytes(file.read(size), "big")

        def count() -> int:
            return number(8 if version == 5 else 4)

        def entries() -> range:
            number(4)  # tag of the list
            return range(count())

        def name() -> str:
            size = count()
            text = file.read(size)
            file.seek(-size % 4, os.SEEK_CUR)
            return text.decode(errors="replace")

        def skip_attributes() -> None:
            for _ in entries():
                name()
                size = sizes[number(4)] * count()
                file.seek(size + -size % 4, os.SEEK_CUR)

        count()  # records
        lengths = [(name(), count())[1] for _ in entries()]
        skip_attributes()
        found, steps = {}, []
        for _ in entries():
            own = name()
            shape = [lengths[count()] for _ in range(count())]
            skip_attributes()
            bytes_ = sizes[number(4)] * math.prod(shape[1:] if shape[:1] == [0] else shape)
            count()  # size, which is cut off in large variables
            found[own] = number(4 if version == 1 else 8)
            if shape[:1] == [0]:
                steps.append(bytes_)
        # Records are padded to 4 bytes, except those of a record variable alone.
        stride = steps[0] if len(steps) == 1 else sum(n + -n % 4 for n in steps)
        return {own: (offset, stride) for own, offset in found.items()}


def describe_hdf5(made: Variable, of: h5py.Dataset) -> None:
    """Finds where HDF5 keeps the data of a variable."""
    options = of.id.get_create_plist()
    made.missing = fill_json(of.fillvalue, made.dtype)
    numeric = made.dtype.kind in "iuf"
    if (
        (numeric and not of.id.get_type().equal(h5py.h5t.py_create(made.dtype)))
        or options.get_layout() not in (h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED)
        or options.get_external_count()
    ):
        made.why = "Zarr has no equivalent of its type or its layout in HDF5"
        return
    if of.chunks is None:
        made.offset = of.id.get_offset()
        made.stride = made.record_bytes
        return
    made.chunk = of.chunks
    for k in range(options.get_nfilters()):
        kind, _, values, _ = options.get_filter(k)
        made.filters.append((kind, values[0] if kind == SHUFFLE else 0))

    raw = math.prod(made.chunk) * made.dtype.itemsize

    def add(chunk: h5py.h5d.StoreInfo) -> None:
        at = tuple(int(n // c) for n, c in zip(chunk.chunk_offset, made.chunk, strict=True))
        made.chunks[at] = (int(chunk.byte_offset), int(chunk.size))
        # HDF5 can leave chunks at the edges without filters, and does not say so here.
        whole = all((i + 1) * c <= n for i, c, n in zip(at, made.chunk, of.shape, strict=True))
        if chunk.filter_mask or (made.filters and not whole and chunk.size == raw):
            made.why = (
                f"the chunk at byte {chunk.byte_offset} was written without some of its filters"
            )

    if of.file.userblock_size and h5py.version.hdf5_version_tuple < (1, 14, 4):
        made.why = "HDF5 before 1.14.4 does not tell where chunks are after a user block"
        return
    of.id.chunk_iter(add)
    if len(made.chunks) != of.id.get_num_chunks():
        made.why = "HDF5 does not tell where its chunks are"
    if of.shape != made.shape:
        whole = all(
            e == n or e % c == 0 for e, n, c in zip(of.shape, made.shape, made.chunk, strict=True)
        )
        default = netCDF4.default_fillvals[made.dtype.str[1:]]
        beyond = fill_json(default, made.dtype) if made.fill is None else made.fill
        if not whole or beyond != made.missing:
            made.why = "its data set in HDF5 is shorter than its dimensions, and ends in a chunk"


# ---- joining files ------------------------------------------------------------------------------


def check_joined(first: File, other: File) -> None:
    """Checks that a file can be joined to the first one, which may be the same."""
    if not other.record_dimension:
        raise ValueError(f"{other.path}: it has no record dimension along which to join files")
    for v in other.variables.values():
        if other.record_dimension in v.dimensions[v.record :]:
            raise ValueError(
                f"{other.path}: variable '{v.name}': the record dimension is not its first one "
                "only: files cannot be joined along it"
            )
    for name, v in first.variables.items():
        if name not in other.variables:
            raise ValueError(f"{other.path}: it has no variable '{name}'; {first.path} differs")
        theirs = other.variables[name].decisive(other.lengths)
        for what, value in v.decisive(first.lengths).items():
            if value != theirs[what]:
                how = f"attribute {what}: " if what else ""
                raise ValueError(
                    f"{other.path}: variable '{name}': {how}{theirs[what]}, but in {first.path} "
                    f"{value}"
                )
    for name in other.variables.keys() - first.variables.keys():
        raise ValueError(
            f"{other.path}: it has a variable '{name}', which {first.path} does not have"
        )


def counts(shape: Sequence[int], chunk: Sequence[int]) -> list[int]:
    """Returns the number of chunks along each dimension."""
    return [-(-n // c) for n, c in zip(shape, chunk, strict=True)]


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
        size = math.prod(a.shape) * first.dtype.itemsize
        small = size <= self.copied or (first.record and first.record_bytes <= self.copied // 1024)
        if (small or why) and not a.copy() and why:
            raise ValueError(
                f"{self.files[0].path}: variable '{name}': {why}; leave it out (--skip)"
            )
        return a

    def why_not(self, a: Array) -> str:
        """Sets chunks, filters and the fill value. Returns a reason why there can be no references,
        or nothing."""
        first = a.first
        for k, p in enumerate(a.parts):
            path = self.files[k].path
            if (p.chunk, p.filters) != (first.chunk, first.filters):
                return f"its chunks or filters in {path} differ from those in {self.files[0].path}"
            if p.chunk and p is not a.parts[-1] and p.shape[0] % p.chunk[0]:
                return (
                    f"{path} has {p.shape[0]} records, not a multiple of the {p.chunk[0]} of a "
                    "chunk"
                )
        a.chunk = list(first.chunk or ())
        length: int = math.prod(a.chunk) * first.dtype.itemsize
        for kind, element in first.filters:
            if kind == SHUFFLE and element > 1 and length % element:
                return (
                    f"the codec shuffle of Zarr readers takes whole elements of {element} bytes "
                    "only, and another filter comes before it"
                )
            if kind not in (DEFLATE, SHUFFLE, FLETCHER32, ZSTD):
                return f"Zarr has no codec for HDF5's filter {kind}"
            # Compressed data can have any length.
            length = 1 if kind in (DEFLATE, ZSTD) else length + 4 * (kind == FLETCHER32)
            if kind == SHUFFLE and element > 1:
                a.filters.append({"elementsize": element, "id": "shuffle"})
            elif kind != SHUFFLE:
                a.filters.append(
                    {"id": "fletcher32"}
                    if kind == FLETCHER32
                    else {"id": "zlib" if kind == DEFLATE else "zstd", "level": 1}
                )
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
