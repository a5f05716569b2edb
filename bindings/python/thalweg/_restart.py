# SPDX-License-Identifier: Apache-2.0
"""Restarts: arrays that a model registers once, and writes and reads together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ._arguments import explains_arguments
from ._arrays import (
    ByName,
    as_array,
    attribute_values,
    check_order,
    integers,
    names_of,
    names_text,
    plain_text,
    settings_text,
    writable_array,
)
from ._decomposition import Decomposition
from ._errors import located
from ._file import File

OPTIONAL, COPIED, BY_POSITION = 1, 2, 4


@explains_arguments
class Restart:
    """Made by Session.restart. It keeps the registered arrays alive."""

    def __init__(self, session: Any, core: Any) -> None:
        self._session = session
        self._core = core
        self._fills = ByName()

    def add(
        self,
        name: str,
        array: Any,
        dims: str | Sequence[str] = "",
        decomposition: Decomposition | None = None,
        *,
        optional: bool = False,
        copy: bool = False,
        by_position: bool = False,
    ) -> None:
        """Registers an array, or replaces the one of that name.

        Args:
            array: NumPy array of any strides: this rank's part, with or without the halo. Each
                write and read uses it until free() or until the name is registered again
            dims: names in the order of the file, slowest first
            decomposition: None: every rank holds all of it, and rank 0's values are written
            optional: a file may lack the variable
            copy: copy the values now, for the next write; the array is free afterwards. Masked
                elements get the fill value (set_var before this call, if it is not the default)
            by_position: on reading, match dimensions by position instead of by name
        Raises:
            Error: TW_EARG (also: a read-only array), TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE
        """
        flags = OPTIONAL * optional + COPIED * copy + BY_POSITION * by_position
        with located(variable=str(name)):
            fill = self._fills.get(name)
            values = as_array(array, self._session._host, fill) if copy else writable_array(array)
            names = names_text(dims)
            check_order(array, decomposition.dims if decomposition else names_of(names))
            plain_text(name, "the name")
        self._core.add(name, names, decomposition and decomposition._core, values, flags)

    def define_dim(self, name: str, length: int) -> None:
        """Defines a dimension that no decomposition names.

        Raises:
            Error: TW_EARG, TW_EEXISTS, TW_ESHAPE
        """
        self._core.definitions().def_dim(name, integers(length)[0])

    def set_var(self, name: str, **settings: Any) -> None:
        """Sets settings of a registered variable: fill=0, deflate=1.

        Raises:
            Error: TW_ESETTING, TW_ENOTFOUND
        """
        with located(variable=name):
            text = settings_text(settings)
        self._core.definitions().set_var(name, text)
        if settings.get("fill") is not None:
            self._fills[name] = settings["fill"]

    def set_attr(self, name: str, value: Any, variable: str = "") -> None:
        """Sets an attribute of the files written from now on: a text, a number or several.

        Raises:
            Error: as of File.attrs
        """
        with located(variable=variable, what=f"attribute '{name}': "):
            values = attribute_values(value)
        self._core.definitions().put_att(variable, name, values)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes all registered arrays. An old file is replaced when the new one is complete.

        Raises:
            Error: TW_EARG, TW_EINUSE, TW_EMISMATCH, TW_EMISSING, TW_EFORMAT, TW_EIO
        Note: Collective.
        """
        self._with_path(path, self._core.write)

    def read(self, path: str | os.PathLike[str]) -> None:
        """Fills all registered arrays, and verifies the checksums in the file.

        Raises:
            Error: TW_EIO, TW_EFORMAT, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_ECHECKSUM
        Note: Collective. After an error the arrays may hold anything.
        """
        self._with_path(path, self._core.read)

    def open(self, path: str | os.PathLike[str]) -> File:
        """Reads as read() does, and returns the open file, for its attributes and for variables
        that are not registered. Its get verifies the checksum of a variable that it reads.

        Raises:
            Error: as read
        Note: Collective.
        """
        core = self._with_path(path, self._core.open)
        return self._session._add(File(self._session, core, os.fspath(path), "r"))

    def free(self) -> None:
        """Frees the restart, not the arrays. Files that open has returned stay open."""
        self._core.free()

    def __enter__(self) -> Restart:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        self.free()

    def _with_path(self, path: Any, call: Any) -> Any:
        return self._session._together(
            lambda: plain_text(os.fspath(path), "path"), call, lambda: call(None)
        )
