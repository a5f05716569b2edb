# SPDX-License-Identifier: Apache-2.0
"""Histories: files of instants, means and others, as a configuration asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import explains_arguments
from ._arrays import (
    FILLS,
    UnusableError,
    as_array,
    check_order,
    names_of,
    names_text,
    plain_text,
    type_code,
)
from ._decomposition import Decomposition
from ._errors import located
from ._file import File
from ._restart import Restart


@explains_arguments
class Field:
    """A field of a history. Made by History.field; it ends with the history."""

    def __init__(
        self, history: History, name: str, core: Any, dtype: Any, dims: Sequence[str], missing: Any
    ) -> None:
        self.name = name
        self._history = history
        self._core = core
        self._dtype = dtype
        self._dims = dims
        self._missing = missing  # value of missing elements; None: there are none

    @property
    def wanted(self) -> bool:
        """True if a send at this time would be used."""
        return self._core.wanted

    def send(self, array: Any, *, weight: float | None = None) -> None:
        """Sends this rank's part. What no stream wants at this time is ignored.

        Args:
            array: as for a put; converted to the field's type. Masked elements are missing ones
            weight: in place of the step's length: 0 adds nothing; the same on every rank
        Raises:
            Error: TW_ESHAPE, TW_EARG (also masked elements of a field that has no missing ones),
                TW_ESTATE (before a time was set; sent twice in a step)
        """
        if not self._core.wanted and self._history._in_step and weight is None:
            return
        self._core.send(self._converted(array), weight)

    def send_block(self, block: int, array: Any) -> None:
        """Sends one box of the decomposition, halo included; each box once a step."""
        self._core.send_block(block, np.ascontiguousarray(self._converted(array)))

    def _converted(self, array: Any) -> np.ndarray:
        host = self._history._session._host
        with located(variable=self.name):
            if self._missing is None and np.ma.is_masked(array):
                raise UnusableError(
                    "TW_EARG",
                    'the array has masked elements, but the field was declared without missing="'
                    'fixed" or "varying"',
                )
            values = as_array(array, host, self._missing, type_code(self._dtype))
            check_order(array, self._dims)
        return np.asarray(values, self._dtype)


@explains_arguments
class History:
    """Made by Session.history. As a context manager it closes itself.

    In each step of the model set `time`, send the fields in any order, and call end_step.
    """

    def __init__(self, session: Any, core: Any) -> None:
        self._session = session
        self._core = core
        self._fields: dict[str, Field] = {}
        self._ready = False
        self._in_step = False

    def coordinate(
        self,
        name: str,
        array: Any,
        dims: str | Sequence[str] | None = None,
        decomposition: Decomposition | None = None,
        **attrs: Any,
    ) -> None:
        """Declares a coordinate, or another variable without time, of the fields that have its
        dimension or name it in an attribute. It is copied, and written once a file.

        Args:
            dims: names in the order of the file, slowest first; None: the coordinate's own name
            decomposition: None: every rank has all of it
            attrs: units="degrees_north", standard_name="latitude"
        Raises:
            Error: TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_ETYPE, TW_ESTATE
        """
        text, names = _declared(name, name if dims is None else dims, attrs)
        values = as_array(array, self._session._host)
        self._core.coordinate(name, names, decomposition and decomposition._core, values, text)

    def field(
        self,
        name: str,
        dtype: Any,
        dims: str | Sequence[str],
        decomposition: Decomposition | None = None,
        **attrs: Any,
    ) -> Field:
        """Declares a field.

        Args:
            dtype: of the arrays that are sent
            dims: names in the order of the file, slowest first, without time: "lev lat lon"
            decomposition: None: every rank has all of it
            attrs: units="K", standard_name=...; missing="fixed" or "varying" and missing_value are
                not written
        Raises:
            Error: as coordinate
        """
        text, names = _declared(name, dims, attrs)
        code = type_code(dtype)
        core = self._core.field(name, code, names, decomposition and decomposition._core, text)
        missing = None
        if attrs.get("missing", "none") != "none":
            default = 1e20 if np.dtype(dtype).kind == "f" else FILLS[code]
            missing = attrs.get("missing_value", default)
            missing = float(missing) if isinstance(missing, str) else missing
        self._fields[name] = Field(self, name, core, np.dtype(dtype), names_of(names), missing)
        return self._fields[name]

    def ready(self) -> None:
        """Ends the declarations and checks the configuration against them. The first `time`, and
        load, do it otherwise.

        Raises:
            Error: TW_ESETTING (all errors), TW_EMISMATCH, TW_ENOMEM
        Note: Collective.
        """
        self._core.ready()
        self._ready = True

    def _set_time(self, seconds: float) -> None:
        if not self._ready:
            self.ready()
        self._core.time(float(seconds))
        self._in_step = True

    time = property(
        None,
        _set_time,
        doc="The time of what is sent now: the end of the step, in seconds since the start.",
    )

    def __getitem__(self, name: str) -> Field:
        return self._fields[name]

    def __setitem__(self, name: str, array: Any) -> None:
        self._fields[name].send(array)

    def end_step(self) -> None:
        """Ends the step: writes the records that are due.

        Raises:
            Error: TW_EMISSING, TW_EMISMATCH, TW_ERANGE, or one of the files; the record is then
                lost, and the model may go on
        Note: Collective if a record is due.
        """
        self._in_step = False
        self._core.end_step()

    def save(self, restart: Restart) -> None:
        """Registers all state in a restart: call it before each restart.write.

        Note: Collective.
        """
        self._core.save(restart._core.handle())

    def load(self, file: File) -> None:
        """Reads the state that save registered, before the first `time`.

        Args:
            file: as Restart.open returns it
        Raises:
            Error: TW_EDIFFERENT (a stream's definition has changed), TW_ENOTFOUND, TW_EFORMAT
        Note: Collective.
        """
        if not self._ready:
            self.ready()
        self._core.load(file._core.handle())

    @property
    def memory(self) -> int:
        """Bytes that this rank keeps for open windows."""
        return self._core.memory()

    def close(self) -> None:
        """Closes the files. Windows that are not complete are dropped, or written if the
        configuration says at_close = "write".

        Note: Collective.
        """
        self._core.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            self.close()


def _declared(name: str, dims: Any, attrs: Mapping[str, Any]) -> tuple[str, str]:
    with located(variable=str(name)):
        plain_text(name, "the name")
        return attributes_text(attrs), names_text(dims)


def attributes_text(attrs: Mapping[str, Any]) -> str:
    """Returns attributes in the library's form: name="text"; name=1.5."""
    parts = []
    for name, value in attrs.items():
        if isinstance(value, str):
            if '"' in value:
                raise UnusableError("TW_EARG", f"attribute {name} has a '\"': {value!r}")
            parts.append(f'{name}="{value}"')
        else:
            numbers = np.ravel(np.asarray(value, "f8")).tolist()
            parts.append(f"{name}={' '.join(map(repr, numbers))}")
    return "; ".join(parts)
