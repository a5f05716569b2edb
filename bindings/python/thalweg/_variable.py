# SPDX-License-Identifier: Apache-2.0
"""Variables and attributes as parts of a file."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from ._arrays import TYPES
from ._errors import Error
from ._section import section_of


class Attributes(MutableMapping[str, Any]):
    """Attributes of a file or a variable, as a dictionary.

    Texts are str, numbers are NumPy scalars, or arrays if there are several. Integers of Python are
    written as netCDF's int if they fit. All ranks must set the same.
    """

    def __init__(self, file: Any, variable: str = "") -> None:
        self._file = file
        self._variable = variable

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or not name:
            raise KeyError(name)
        try:
            code, values = self._file._core.att(self._variable, name)
        except Error as problem:
            if problem.name != "TW_ENOTFOUND":
                raise
            raise KeyError(name) from None
        return attribute_of(code, values)

    def __setitem__(self, name: str, value: Any) -> None:
        self._file._put_attribute(self._variable, name, value)

    def __delitem__(self, name: str) -> None:
        raise self._file._error("TW_EUNSUPPORTED", f"attribute '{name}' cannot be removed")

    def __iter__(self) -> Iterator[str]:
        core = self._file._core
        count = core.var(self._variable)[3] if self._variable else core.inq()[3]
        return iter([core.att_name(self._variable, i) for i in range(count)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


class Variable:
    """A variable of a file: f["T"].

    `f["T"][0, :, 2:5]` reads that section, each rank its own (File.get_box), and
    `f["T"][0, :, 2:5] = array` writes it (File.put_box).

    Attributes:
        name, dims, dtype: as in the file
        attrs: its attributes
    """

    def __init__(self, file: Any, name: str, dims: tuple[str, ...], code: int) -> None:
        self._file = file
        self.name = name
        self.dims = dims
        self.dtype = TYPES.get(code)
        self.attrs = Attributes(file, name)

    @property
    def shape(self) -> tuple[int, ...]:
        """Global lengths; of the record dimension the number of records.

        Raises:
            Error: TW_ESTATE (a new file, before the first sync)
        """
        return self._file._core.var(self.name)[2]

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Lengths of the chunks in which the variable is stored (netCDF-4); None: not in chunks.

        Raises:
            Error: TW_ESTATE (the file is not open for reading)
        """
        return self._file._core.storage(self.name)[0] or None

    @property
    def filters(self) -> tuple[tuple[int, int], ...]:
        """The filters of the chunks, in the order in which they were applied: the number in HDF5
        (1 deflate, 2 shuffle, 3 fletcher32, 4 szip, 32015 zstd) and the level, of deflate and zstd.

        Raises:
            Error: TW_ESTATE (the file is not open for reading)
        """
        return self._file._core.storage(self.name)[1]

    def __getitem__(self, key: Any) -> np.ndarray:
        """Reads a section: integers and slices, also with steps. Note: Collective."""
        return self._file._get_section(self.name, lambda: section_of(key, self.shape, self.dims))

    def __setitem__(self, key: Any, values: Any) -> None:
        """Writes a section: integers and slices with ends, also with steps. See File.put_box."""
        self._file._put_section(self, key, values)

    def __repr__(self) -> str:
        return f"<Variable {self.dtype} {self.name}({', '.join(self.dims)})>"


def attribute_of(code: int, values: bytes) -> Any:
    """Returns the value of an attribute: text, a number, or an array of one dimension."""
    if code == 2:
        return values.decode(errors="replace").rstrip("\0")
    array = np.frombuffer(values, TYPES[code])
    return array[0] if array.size == 1 else array
