# SPDX-License-Identifier: Apache-2.0
"""Reasons why files of one stream cannot be joined into one Zarr array for each variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ._join import chunk_differences, differences, is_small
from ._read import File, open_values, read_file

SMALL = 64 << 10  # values of up to this many bytes are copied by `thalweg zarr`, and compared here


def reasons(paths: Sequence[str]) -> Iterator[str]:
    """Yields all reasons why netCDF files cannot be joined along their record dimension in this
    order: one line each, with the file, the variable and the values.

    Raises:
        OSError: a file cannot be read
        ValueError: a file is damaged, or has a type that Zarr lacks
    """
    files = [read_file(path, path, (), []) for path in paths]
    first = files[0]
    for file in files:
        yield from differences(first, file)
    for name, v in first.variables.items():
        parts = [file.variables[name] for file in files if name in file.variables]
        elements = sum(int(np.prod(p.shape)) for p in parts)
        if len(parts) < len(files) or is_small(v, elements, SMALL):
            continue
        for why in chunk_differences(files, parts if v.record else parts[:1]):
            yield f"variable '{name}': {why}"
        for file, p in zip(files, parts, strict=True):
            # Files with the same _FillValue, or without, can still differ in that of HDF5.
            if p.fill == v.fill and p.missing != v.missing:
                yield (
                    f"{file.path}: variable '{name}': fill value {p.missing} in HDF5, but in "
                    f"{first.path} {v.missing}"
                )
    yield from value_reasons(files)


def value_reasons(files: Sequence[File]) -> Iterator[str]:
    """Yields records that are not in order, and small variables without records that differ."""
    time = files[0].record_dimension
    fixed: dict[str, np.ndarray] = {}
    before: tuple[str, float] | None = None
    for file in files:
        with open_values(file.path) as data:
            for name, v in file.variables.items():
                if v.record or not is_small(v, int(np.prod(v.shape)), SMALL):
                    continue
                values = np.asarray(data[name][...])
                theirs = fixed.setdefault(name, values)
                if theirs.shape == values.shape and theirs.tobytes() != values.tobytes():
                    pairs = zip(values.ravel(), theirs.ravel(), strict=True)
                    own, other = next(p for p in pairs if p[0].tobytes() != p[1].tobytes())
                    yield f"{file.path}: variable '{name}': {own}, but in {files[0].path} {other}"
            v = file.variables.get(time)
            if v is None or not v.record or v.dtype.kind == "S" or 0 in v.shape:
                continue
            times = np.asarray(data[time][...]).ravel()
            back = np.flatnonzero(times[1:] <= times[:-1])
            if back.size:
                k = int(back[0])
                yield (
                    f"{file.path}: variable '{time}': {times[k + 1]} in record {k + 1} follows "
                    f"{times[k]}"
                )
            if before and times[0] <= before[1]:
                yield (
                    f"{file.path}: variable '{time}': begins with {times[0]}, but the file before, "
                    f"{before[0]}, ends with {before[1]}"
                )
            before = file.path, times[-1]
