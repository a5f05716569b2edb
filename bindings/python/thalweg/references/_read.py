# SPDX-License-Identifier: Apache-2.0
"""Definitions of netCDF files, and where the data of their variables are."""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import h5py
import netCDF4
import numpy as np

# Attributes that decide what values mean; they must be equal in all joined files.
DECISIVE = ("units", "calendar", "scale_factor", "add_offset", "_Unsigned", "missing_value")
DECISIVE += ("valid_range", "valid_min", "valid_max", "flag_values", "flag_masks", "flag_meanings")
TYPES = {"i1": "byte", "S1": "char", "i2": "short", "i4": "int", "f4": "float", "f8": "double"}
TYPES |= {"u1": "ubyte", "u2": "ushort", "u4": "uint", "i8": "int64", "u8": "uint64"}
SIZES = (0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8)  # of an element, by nc_type
# Attributes of HDF5 in which netCDF-4 keeps its own definitions.
INTERNAL = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}
INTERNAL |= {"_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"}
# Types of attributes that netCDF's classic model has; one string is as good as a text.
SIMPLE = (h5py.h5t.TypeStringID, h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)


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
        records = self.shape[0] - 1 if self.record else 0
        return self.offset + records * self.stride + self.record_bytes

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


def counts(shape: Sequence[int], chunk: Sequence[int]) -> list[int]:
    """Returns the number of chunks along each dimension."""
    return [-(-n // c) for n, c in zip(shape, chunk, strict=True)]


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


@dataclass
class FileReader:
    path: str
    data: netCDF4.Dataset
    hdf5: h5py.File | None  # the same file, if it is one of HDF5
    skip: Sequence[str]
    notes: list[str]

    def __post_init__(self) -> None:
        unlimited = [d.name for d in self.data.dimensions.values() if d.isunlimited()]
        self.record = unlimited[0] if unlimited else ""
        self.places = {} if self.hdf5 else classic_places(self.path, self.data, self.record)

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


def classic_places(path: str, data: netCDF4.Dataset, record: str) -> dict[str, tuple[int, int]]:
    """Returns the offset of each variable in a file of a classic format, and its distance from a
    record to the next."""
    with open(path, "rb") as file:
        version = file.read(4)[3]
        count = 8 if version == 5 else 4  # bytes of a length

        def number(size: int = count) -> int:
            return int.from_bytes(file.read(size), "big")

        def entries() -> range:
            number(4)  # tag of the list
            return range(number())

        def skip(size: int) -> None:
            file.seek(size + -size % 4, os.SEEK_CUR)

        def skip_attributes() -> None:
            for _ in entries():
                skip(number())  # name
                size = SIZES[number(4)]
                skip(size * number())

        number()  # records
        for _ in entries():
            skip(number())
            number()
        skip_attributes()
        offsets = []
        for _ in entries():
            skip(number())
            skip(number() * count)  # dimensions
            skip_attributes()
            number(4)  # type
            number()  # size, which is cut off in large variables
            offsets.append(number(4 if version == 1 else 8))
    steps = [
        math.prod(v.shape[1:]) * v.dtype.itemsize
        for v in data.variables.values()
        if v.dimensions[:1] == (record,)
    ]
    # Records are padded to 4 bytes, except those of a record variable alone.
    stride = steps[0] if len(steps) == 1 else sum(n + -n % 4 for n in steps)
    return {name: (offset, stride) for name, offset in zip(data.variables, offsets, strict=True)}


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
        made.filters.append((kind, values[0] if kind == h5py.h5z.FILTER_SHUFFLE else 0))

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
