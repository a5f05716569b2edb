# SPDX-License-Identifier: Apache-2.0
"""netCDF files that are written or read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import explains_arguments
from ._arrays import (
    CODES,
    FILLS,
    TYPES,
    ByName,
    UnusableError,
    as_array,
    check_order,
    integers,
    names_of,
    names_text,
    normal_form,
    plain_text,
    settings_text,
    stored_attribute,
    type_code,
    writable_array,
)
from ._decomposition import Decomposition
from ._errors import Error, error, located
from ._keywords import VARIABLE_SETTINGS, split_keywords
from ._section import Section, section_of
from ._variable import Attributes, Variable

_OWN: Any = object()


@explains_arguments
class File:
    """A netCDF file, made by Session.create or Session.open.

    As a context manager it is closed at the end of the block. If an exception leaves the block of a
    file that is written, the file is not completed: it stays as `NAME.part` unless you close it.

    Attributes:
        path: as given
        mode: "w" (created), "a" (appended to) or "r" (read)
        attrs: global attributes
    """

    def __init__(self, session: Any, core: Any, path: str, mode: str) -> None:
        self._session = session
        self._core = core
        self._defined = ByName()  # (type, dimensions, decomposition) by name
        self._fills = ByName()
        self._lengths = ByName()  # of dimensions, as far as definitions tell them
        self.path = path
        self.mode = mode
        self.attrs = Attributes(self)
        self.left_by_exception = False

    # ---- definitions ----------------------------------------------------------------------------

    def define_dim(self, name: str, length: int | None) -> None:
        """Defines a dimension; None makes it the record dimension. Only for dimensions that no
        decomposition names.

        Raises:
            Error: TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_ESTATE
        """
        n = 0 if length is None else integers(length)[0]
        self._core.def_dim(self._plain(name, "the name"), n)
        self._lengths[name] = n or None

    def define(
        self,
        name: str,
        dtype: Any,
        dims: str | Sequence[str] = "",
        decomposition: Decomposition | None = None,
        *,
        attrs: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> Variable:
        """Defines a variable, the same on all ranks.

        Args:
            dtype: of the values in the file: "f4", np.int16, "S1" (text) and so on
            dims: names in the order of the file, slowest first: "time lev lat lon". A first name
                that the decomposition does not have is the record dimension
            decomposition: which rank holds what. None: every rank holds all of it, and rank 0's
                values are written
            attrs: attributes
            keywords: the settings fill, deflate, shuffle, zstd, quantize and chunks (see
                docs/settings.md); all others are attributes: units="K", _FillValue=-999
        Raises:
            Error: TW_ETYPE, TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ESETTING, TW_ESTATE
        """
        with located(self.path, str(name)):
            code = type_code(dtype)
            settings, more = split_keywords(keywords, VARIABLE_SETTINGS)
            text = settings_text(settings)
        names = self._plain(names_text(dims), "dims")
        core = decomposition and decomposition._core
        self._core.def_var(self._plain(name, "the name"), code, names, core)
        self._defined[name] = (code, names_of(names), decomposition)
        if decomposition is not None:  # its dimensions may be matched by position
            own = zip(names_of(names)[::-1], decomposition.shape[::-1], strict=False)
            self._lengths.update(own if "*" in decomposition.dims else decomposition._lengths())
        for attribute, value in {**(attrs or {}), **more}.items():
            self._put_attribute(name, attribute, value)
        if text:
            self._core.set_var(name, text)
            if settings.get("fill") is not None:
                self._fills[name] = settings["fill"]
        return Variable(self, name, names_of(names), code)

    def set_record(self, record: int, drop_later: bool = False) -> None:
        """Sets, with mode "a", the record that the first step writes, and whether later ones are
        removed.

        Raises:
            Error: TW_EBOUNDS, TW_ESTATE
        """
        self._core.set_record(integers(record)[0], bool(drop_later))

    def enddef(self) -> None:
        """Ends the definitions; the first put or end_step does so too. Note: Collective.

        Raises:
            Error: TW_EMISMATCH, TW_EFORMAT, TW_EIO; with mode "a" TW_EDIFFERENT
        """
        self._core.enddef()

    # ---- writing --------------------------------------------------------------------------------

    def put(self, name: str, array: Any, *, deferred: bool = False) -> None:
        """Puts this rank's part of a variable; of a record variable, of the current record,
        once in each step. `f[name] = array` is the same.

        Args:
            array: what NumPy, the buffer protocol or DLPack take for an array, of any strides, on
                any device: shape as Decomposition.array_shape says, with or without the halo; for a
                variable without a decomposition all of it. Numbers are converted. Masked elements
                get the fill value
            deferred: make no copy: the fastest way, but do not change the array before the step has
                ended. The file keeps it alive
        Raises:
            Error: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_ESTATE, TW_ECLOSED, TW_ENOMEM, or the
                error of an earlier write
        Note: Local, but see tw_put in thalweg.h.
        """
        if type(array) is np.ndarray and array.dtype.num in _DIRECT and array.dtype.isnative:
            self._core.put(name, array, deferred)
        else:
            decomposition = self._defined.get(name, (0, (), None))[2]
            self._core.put(name, self._usable(name, array, decomposition), deferred)

    __setitem__ = put

    def put_record(
        self, name: str, array: Any, record: int, decomposition: Decomposition | None = _OWN
    ) -> None:
        """Puts this rank's part of any record, by any decomposition. It is in the file after the
        next end_step, sync or close.

        Args:
            array: as for put
            record: from 0; ignored for a variable without records
            decomposition: the variable's own, unless given; None: rank 0's values are all of it
        Raises:
            Error: those of put; TW_EBOUNDS, TW_EOVERLAP, TW_EHANDLE
        """
        if decomposition is _OWN:
            decomposition = self._defined.get(name, (0, (), None))[2]
        values = self._usable(name, array, decomposition)
        try:
            number = integers(record)[0]
        except Exception as problem:
            self._refuse_put(name, problem)
        core = decomposition and decomposition._core
        self._core.put_record(name, core, number, values)

    def put_box(
        self,
        name: str,
        array: Any,
        start: Sequence[int],
        stride: Sequence[int] | None = None,
    ) -> None:
        """Puts any section of a variable, whatever its decomposition. It is in the file after the
        next end_step, sync or close.

        Args:
            array: its shape is that of the section; it may lack leading dimensions of length 1
            start, stride: of each dimension of the variable, the record included
        Raises:
            Error: TW_EBOUNDS, TW_ESHAPE, TW_EARG (a stride below 1), those of put
        """
        values = self._usable(name, array)
        try:
            first = integers(start)
            if len(first) < values.ndim:
                raise UnusableError(
                    "TW_ESHAPE", f"start {tuple(first)} is too short for an array {values.shape}"
                )
            step = [1] * len(first) if stride is None else integers(stride)
            if len(step) != len(first):
                raise UnusableError(
                    "TW_ESHAPE", f"start {tuple(first)} and stride {tuple(step)} differ in length"
                )
        except Exception as problem:
            self._refuse_put(name, problem)
        count = [1] * (len(first) - values.ndim) + list(values.shape)
        self._core.put_box(name, first, count, step, np.ascontiguousarray(values))

    def end_step(self) -> None:
        """Writes what was put and ends the record; with a service it hands the step over.

        Raises:
            Error: TW_EMISSING, TW_EMISMATCH, TW_ERANGE (values that do not fit were filled),
                TW_EARG (an array of a deferred put has changed), TW_EIO
        Note: Collective.
        """
        self._core.end_step()

    def sync(self, durable: bool = False) -> None:
        """Makes all ended records visible to others and readable through this file, and, if
        durable, syncs them to the device. Of a file that is read: looks for new records.

        Raises:
            Error: of any write so far
        Note: Collective.
        """
        self._core.sync(bool(durable))

    def close(self) -> None:
        """Writes what is left, completes the file and gives it its name. Further calls do nothing.

        Raises:
            Error: of any write so far
        Note: Collective.
        """
        if not self._session.is_open:
            return
        try:
            self._core.close()
        finally:
            if not self._core.is_open and self in self._session._files:
                self._session._files.remove(self)

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            self.close()
            return
        self.left_by_exception = True
        together = self._session.size == 1 or getattr(value, "collective", False)
        if self.mode == "r" and together:
            try:
                self.close()
            except Error as problem:
                value.add_note(f"and then: {problem}")

    # ---- reading --------------------------------------------------------------------------------

    def get(
        self,
        name: str,
        decomposition: Decomposition | None = None,
        record: int | None = None,
        *,
        out: np.ndarray | None = None,
        dtype: Any = None,
        halo: Any = None,
        edges: Any = "clip",
    ) -> np.ndarray:
        """Reads this rank's part of a variable.

        Args:
            decomposition: over the variable's dimensions without the record, in any order; None:
                every rank reads all
            record: from 0, or from the end if negative. None: all records, with one more
                dimension, the slowest; ignored for a variable without records
            out: the array to fill, of any strides; without it a new one
            dtype: of a new array; without it the file's
            halo, edges: reads with a halo: Decomposition.with_halo. Elements outside the global
                shape keep netCDF's fill value
        Returns: an array of the decomposition's order and shape (Decomposition.array_shape).
        Raises:
            Error: TW_ENOTFOUND, TW_EBOUNDS, TW_ETYPE, TW_ESHAPE, TW_ERANGE (values that do not
                fit the type became its fill value), TW_EIO, TW_EFORMAT, TW_EMISMATCH,
                TW_EUNSUPPORTED
        Note: Collective.
        """
        if halo is not None and isinstance(decomposition, Decomposition) and self._session.is_open:
            decomposition = decomposition.with_halo(halo, edges)
        whole = record is None and self._has_records(name)

        def call(args: tuple[np.ndarray, int]) -> np.ndarray:
            array, number = args
            core = decomposition and decomposition._core
            if not whole:
                self._core.get(name, core, number, array, False)
                return array
            for r in range(len(array)):
                self._core.get(name, core, r, array[r, ...], True)
            self._core.read()
            return array

        return self._session._together(
            lambda: (
                self._array_for(name, decomposition, out, dtype, whole),
                self._record(name, record),
            ),
            call,
            lambda: self._core.get_nothing(str(name)),
            self.path,
            str(name),
        )

    def get_deferred(
        self,
        name: str,
        decomposition: Decomposition | None = None,
        record: int = 0,
        *,
        out: np.ndarray | None = None,
        dtype: Any = None,
    ) -> np.ndarray:
        """Requests what get would read: the next read() fills the array, with all others.

        Args, Returns: as of get.
        Raises:
            Error: those of get that can be found without reading
        """
        with located(self.path, str(name)):
            array = self._array_for(name, decomposition, out, dtype, False)
        core = decomposition and decomposition._core
        self._core.get(name, core, self._record(name, record), array, True)
        return array

    def read(self) -> None:
        """Reads all that was requested, in one pass through the file.

        Raises:
            Error: those of get
        Note: Collective.
        """
        self._core.read()

    def prefetch(self) -> None:
        """Starts to read in the background what was requested so far. Note: Collective.

        Raises:
            Error: TW_EMISMATCH, TW_ENOMEM
        """
        self._core.prefetch()

    def get_box(
        self,
        name: str,
        start: Sequence[int],
        count: Sequence[int],
        stride: Sequence[int] | None = None,
        *,
        dtype: Any = None,
    ) -> np.ndarray:
        """Reads any section of a variable, each rank its own.

        Args:
            start, count, stride: of each dimension of the variable, the record included
            dtype: of the array; without it the file's
        Returns: an array of shape count.
        Raises:
            Error: TW_EBOUNDS, TW_ESHAPE, those of get
        Note: Collective.
        """

        def prepare() -> Section:
            lists = [integers(v) for v in (start, count, stride or [1] * len(start))]
            rank = len(self._core.var(name)[1])
            if any(len(values) != rank for values in lists):
                raise UnusableError("TW_ESHAPE", f"start, count and stride need {rank} values each")
            return Section(*lists)

        return self._get_section(name, prepare, dtype)

    # ---- what is in the file --------------------------------------------------------------------

    @property
    def dims(self) -> dict[str, int]:
        """Name and length of each dimension; of the record dimension the number of records."""
        names = [self._core.dim_name(i) for i in range(self._core.inq()[1])]
        return {name: self._core.dim(name) for name in names}

    @property
    def record_dim(self) -> str | None:
        return self._core.inq()[5] or None

    @property
    def records(self) -> int:
        """Number of records; of a file that is written, at the last sync."""
        return self._core.inq()[4]

    @property
    def format(self) -> str:
        """One of cdf1, cdf2, cdf5, netcdf4 and netcdf4-classic."""
        return self._core.inq()[0]

    @property
    def is_open(self) -> bool:
        return self._core.is_open

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables by name, in the order of the file."""
        if self.mode != "r" and self._defined:
            return {name: self[name] for name in self._defined}
        names = [self._core.var_name(i) for i in range(self._core.inq()[2])]
        return {name: self[name] for name in names}

    def __getitem__(self, name: str) -> Variable:
        if name in self._defined:
            code, dims, _ = self._defined[name]
            return Variable(self, normal_form(name), dims, code)
        code, dims, _, _ = self._core.var(self._plain(name, "the name"))
        return Variable(self, normal_form(name), dims, code)

    def __contains__(self, name: object) -> bool:
        return normal_form(name) in self.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __repr__(self) -> str:
        return f"<File {self.path!r} mode={self.mode} {'open' if self.is_open else 'closed'}>"

    # ---- helpers --------------------------------------------------------------------------------

    def _error(self, name: str, text: str, variable: str = "") -> Error:
        return error(name, text, self.path, variable)

    def _plain(self, text: Any, what: str) -> str:
        with located(self.path):
            return plain_text(text, what)

    def _put_attribute(self, variable: str, name: str, value: Any) -> None:
        with located(self.path, variable, f"attribute '{name}': "):
            values = stored_attribute(name, value, self._defined.get(variable, (0,))[0])
        self._core.put_att(variable, name, values)
        if name == "_FillValue":
            self._fills[variable] = values if isinstance(values, bytes) else values[0]

    def _usable(
        self, name: str, array: Any, decomposition: Decomposition | None = None
    ) -> np.ndarray:
        code, dims, _ = self._defined.get(name, (0, (), None))
        try:
            plain_text(name, "the name")
            check_order(array, dims if decomposition is None else decomposition.dims)
            fill = self._fill(name) if isinstance(array, np.ma.MaskedArray) else None
            return as_array(array, self._session._host, fill, code)
        except Exception as problem:
            self._refuse_put(str(name), problem)

    def _fill(self, name: str) -> Any:
        """Returns the fill value that the program gave, or that of the file to which records are
        appended."""
        if name not in self._fills and self.mode == "a":
            with contextlib.suppress(Error):
                code, values = self._core.att(name, "_FillValue")
                self._fills[name] = values if code == 2 else np.frombuffer(values, TYPES[code])[0]
        return self._fills.get(name)

    def _refuse_put(self, name: str, problem: Exception) -> Any:
        """Makes a put that fails, because other ranks may wait for this rank's put, and raises
        the error."""
        answer: Exception | None = None
        try:
            self._core.put_nothing(name.replace("\0", ""))
        except Error as found:
            answer = found
        if answer is not None and answer.name in ("TW_ECLOSED", "TW_ESTATE", "TW_ENOTFOUND"):
            raise answer from problem
        with located(self.path, name):
            raise problem

    def _has_records(self, name: str) -> bool:
        try:
            unlimited = self._core.inq()[5]
            return bool(unlimited) and unlimited in self._core.var(name)[1][:1]
        except (Error, TypeError):
            return False  # the next call returns the reason

    def _record(self, name: str, record: int | None) -> int:
        if record is None:
            return 0
        number = integers(record)[0]
        return number + self.records if number < 0 and self._has_records(name) else number

    def _array_for(
        self, name: str, d: Decomposition | None, out: Any, dtype: Any, whole: bool
    ) -> np.ndarray:
        if d is not None:
            d._usable()
        if out is not None:
            array = writable_array(out)
            if whole and array.shape[:1] != (self.records,):
                raise UnusableError(
                    "TW_ESHAPE",
                    f"out is {array.shape}; its first length is the number of records, "
                    f"{self.records}, unless a record is given",
                )
            return array
        wanted, shape = self._type_and_shape(plain_text(name, "the name"), dtype)
        own = shape[1:] if self._has_records(name) else shape
        part = own if d is None else d.array_shape()
        fill = FILLS[CODES[wanted.kind, wanted.itemsize]]
        return np.full((self.records, *part) if whole else part, fill, wanted)

    def _type_and_shape(self, name: str, dtype: Any) -> tuple[np.dtype, tuple[int, ...]]:
        """Returns the type of an array that is read, and the shape of the variable."""
        code, _, shape, _ = self._core.var(name)
        if code == 0:
            raise UnusableError("TW_EUNSUPPORTED", "strings and user-defined types cannot be read")
        wanted = TYPES[code] if dtype is None else np.dtype(dtype)
        type_code(wanted)
        return wanted, shape

    def _get_section(self, name: str, prepare: Any, dtype: Any = None) -> np.ndarray:
        def checked() -> tuple[Section, np.ndarray]:
            section = prepare()
            wanted, _ = self._type_and_shape(name, dtype)
            if any(n < 0 for n in section.count):
                raise UnusableError("TW_EBOUNDS", f"count is {tuple(section.count)}")
            return section, np.empty(section.count, wanted)

        def call(args: tuple[Section, np.ndarray]) -> np.ndarray:
            section, array = args
            self._core.get_box(name, section.start, section.count, section.stride, array)
            return section.shaped(array)

        return self._session._together(
            checked,
            call,
            lambda: self._core.get_box(str(name), [-1], [-1], [-1], None),
            self.path,
            str(name),
        )

    def _put_section(self, variable: Variable, key: Any, values: Any) -> None:
        array = self._usable(variable.name, values)
        try:
            lengths = [self._lengths.get(name) for name in variable.dims]
            section = section_of(key, lengths, variable.dims, array.shape)
            try:
                array = np.broadcast_to(array, section.shape).reshape(section.count)
            except ValueError:
                raise UnusableError(
                    "TW_ESHAPE", f"the array is {array.shape}, the section {section.shape}"
                ) from None
            array = np.ascontiguousarray(np.flip(array, section.reversed))
        except (UnusableError, TypeError) as problem:
            name = getattr(problem, "name", "TW_EARG")
            self._refuse_put(variable.name, UnusableError(name, str(problem)))
        self._core.put_box(variable.name, section.start, section.count, section.stride, array)


# Numbers of NumPy's types that the core takes without conversion.
_DIRECT = frozenset(np.dtype(char).num for char in "bBhHiIlLqQfd?")
