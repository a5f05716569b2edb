# SPDX-License-Identifier: Apache-2.0
"""References (kerchunk's) by which Zarr readers read netCDF files in place: docs/zarr.md.

>>> from thalweg.references import write_references
>>> write_references(["history.2001.nc", "history.2002.nc"], "history.json")

Needs the PyPI packages netCDF4 and h5py. No MPI, and no compiled part of this package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ._join import Maker, differences
from ._read import File, read_file


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
            for why in differences(opened[0], opened[-1]):
                raise ValueError(why)
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
