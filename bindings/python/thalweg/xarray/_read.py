# SPDX-License-Identifier: Apache-2.0
"""xarray.open_dataset(path, engine="thalweg")."""

from __future__ import annotations

import errno
import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import xarray
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from .._decomposition import Decomposition
from .._errors import Error
from .._section import section_of
from .._session import Session
from .._variable import Attributes
from ._parts import Part, parts_of

_own: Session | None = None
_lock = threading.RLock()


def own_session() -> Session:
    """Returns the session of this process only, for files that each process reads by itself."""
    global _own
    with _lock:
        if _own is None or not _own.is_open:
            _own = Session(_alone=True)
        return _own


class Store(AbstractDataStore):
    """A file and this rank's part of its dimensions. Without a session it can be pickled."""

    def __init__(self, path: str, session: Session | None, parts: Mapping[str, Part]) -> None:
        self.path = path
        self.session = session
        self.parts = dict(parts)
        self._file: Any = None
        unknown = set(parts) - set(self.file.dims)
        if unknown:
            self.close()
            raise ValueError(f"{path}: no dimension {', '.join(sorted(unknown))}")
        for name, part in parts.items():
            length = self.file.dims[name]
            if part.start + part.count > length or part.length not in (None, length):
                self.close()
                raise ValueError(
                    f"{path}: dimension '{name}' has {length}, which {part} does not fit"
                )

    def __getstate__(self) -> dict[str, Any]:
        if self.session is not None:
            raise TypeError(
                f"{self.path} is open in a session of all ranks, and stays in this process: open "
                "it without session="
            )
        return {**self.__dict__, "_file": None}

    @property
    def file(self) -> Any:
        if self._file is None:
            self._file = (self.session or own_session()).open(self.path)
        return self._file

    def read(self, name: str, key: tuple[Any, ...]) -> np.ndarray:
        with _lock:
            dims = self.file[name].dims
            section = section_of(key, self.shape_of(name), dims)
            for d, dim in enumerate(dims):
                section.start[d] += self.parts[dim].start if dim in self.parts else 0
            return self.file._get_section(name, lambda: section)

    def shape_of(self, name: str) -> tuple[int, ...]:
        variable = self.file[name]
        return tuple(
            self.parts[dim].count if dim in self.parts else length
            for dim, length in zip(variable.dims, variable.shape, strict=True)
        )

    def get_variables(self) -> dict[str, xarray.Variable]:
        with _lock:
            return {
                name: self._variable(name, variable)
                for name, variable in self.file.variables.items()
                if _is_readable(self.path, variable)
            }

    def _variable(self, name: str, variable: Any) -> xarray.Variable:
        attributes = _readable(self.path, variable.attrs)
        array: Any = indexing.LazilyIndexedArray(Lazy(self, name))
        # Read what xarray itself needs while it opens a file: all ranks read it at the same time.
        if self.session and (variable.dims == (name,) or "since" in str(attributes.get("units"))):
            array = self.read(name, (Ellipsis,))
        encoding = {"source": self.path, "original_shape": variable.shape, "dtype": variable.dtype}
        return xarray.Variable(variable.dims, array, attributes, encoding)

    def get_attrs(self) -> dict[str, Any]:
        with _lock:
            return _readable(self.path, self.file.attrs)

    def get_dimensions(self) -> dict[str, int]:
        with _lock:
            return self.file.dims

    def get_encoding(self) -> dict[str, Any]:
        with _lock:
            record = self.file.record_dim
        return {"source": self.path, "unlimited_dims": {record} if record else set()}

    def close(self) -> None:
        with _lock:
            if self._file is not None:
                self._file.close()


class Lazy(BackendArray):
    """A variable that is read when its values are needed."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.shape = store.shape_of(name)
        self.dtype = store.file[name].dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key,
            self.shape,
            indexing.IndexingSupport.BASIC,
            lambda basic: self.store.read(self.name, basic),
        )


def _readable(path: str, attributes: Attributes) -> dict[str, Any]:
    found = {}
    for name in attributes:
        try:
            found[name] = attributes[name]
        except Error as problem:
            if problem.name != "TW_EUNSUPPORTED":
                raise
            warnings.warn(
                f"{path}: attribute '{name}' is left out: several strings and user-defined types "
                "cannot be read",
                stacklevel=2,
            )
    return found


def _is_readable(path: str, variable: Any) -> bool:
    if variable.dtype is None:
        warnings.warn(
            f"{path}: variable '{variable.name}' is left out: strings and user-defined types "
            "cannot be read",
            stacklevel=2,
        )
    return variable.dtype is not None


class ThalwegBackend(BackendEntrypoint):
    """Reads netCDF files in xarray, lazily.

    Without `session` each process reads for itself. With it the ranks read together, each byte
    once: then all ranks must load the same variables in the same order.
    """

    description = "Open netCDF files, each rank its part, with Thalweg"
    open_dataset_parameters: ClassVar[tuple[str, ...]] = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "session",
        "decomposition",
    )

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        session: Session | None = None,
        decomposition: Decomposition | Mapping[str, Any] | None = None,
    ) -> xarray.Dataset:
        """Opens a file as a data set.

        Args:
            filename_or_obj: path of the file
            session: the ranks that read together; the call is then collective
            decomposition: this rank's part: a Decomposition of one box, or for each divided
                dimension a slice or (start, count). Dimensions that it lacks are read whole
            the others: as for xarray.open_dataset
        Raises:
            FileNotFoundError, ValueError
            thalweg.Error: those of Session.open
        """
        path = os.path.abspath(os.fspath(filename_or_obj))
        if session is not None and not isinstance(session, Session):
            raise ValueError(f"session must be a thalweg.Session, not {session!r}")
        try:
            store = Store(path, session, parts_of(decomposition))
        except Error as problem:
            if not os.path.exists(path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from problem
            raise
        try:
            return StoreBackendEntrypoint().open_dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
        except Exception as problem:
            if session is None or session.size == 1 or getattr(problem, "collective", False):
                store.close()
            raise

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns False, so that xarray uses this engine only if it is named."""
        return False
