# SPDX-License-Identifier: Apache-2.0
"""Dataset.thalweg.write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray
from xarray import conventions
from xarray.backends.common import WritableCFDataStore
from xarray.coding import strings

from .. import _load
from .._arguments import explains_arguments
from .._arrays import UnusableError, check_name, checked_attributes, normal_form, type_code
from .._decomposition import Decomposition
from .._errors import Error, error
from .._session import Session
from ._parts import Part, parts_of
from ._range import exact, holds_times
from ._storage import Encoded, asks_for_netcdf4, keep_digits, storage_of

DEFLATE, SHUFFLE, ZSTD = 1, 2, 32015  # HDF5's numbers
TIME_UNITS = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"]
# Attributes that determine how values are stored; when records are appended, the file's apply.
STORED = (
    *("units", "calendar", "_FillValue", "missing_value", "_Unsigned"),
    *("scale_factor", "add_offset", "dtype"),
)


@dataclass
class Plan:
    """The part of the data set that this rank writes."""

    variables: dict[str, xarray.Variable]
    types: dict[str, np.dtype]  # in the file
    attributes: dict[str, Any]
    storage: dict[str, dict[str, Any]]  # settings by variable
    parts: dict[str, Part]
    lengths: dict[str, int]  # global, by dimension
    record: str | None
    everyone: list[dict[str, Part]] = field(default_factory=list)  # parts of dimensions by rank

    def signature(self) -> Any:
        """Returns the part of the plan that must be the same on all ranks."""
        return (
            self.record,
            self.lengths,
            [(name, v.dims, self.types[name].str) for name, v in self.variables.items()],
            self.storage,
        )

    def records(self) -> int:
        return self.lengths[self.record] if self.record else 0


@xarray.register_dataset_accessor("thalweg")
@explains_arguments
class ThalwegAccessor:
    """Writes a data set: ds.thalweg.write(path)."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    def write(
        self,
        path: str | os.PathLike[str],
        session: Session | None = None,
        decomposition: Decomposition | Mapping[str, Any] | None = None,
        *,
        mode: str = "w",
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        unlimited_dims: str | Iterable[str] | None = None,
        **settings: Any,
    ) -> None:
        """Writes the data set, or this rank's part of it, to a netCDF file.

        Times, text, booleans, missing values and packed data are encoded as by Dataset.to_netcdf.

        Args:
            path: the same on all ranks
            session: the ranks that write together. None: this process alone
            decomposition: which part of the global arrays this data set is: a Decomposition of one
                box, or for each divided dimension (start, global length). A variable without any
                of these dimensions is the same on all ranks, and rank 0's is written
            mode: "w", or "a" to append records along the unlimited dimension of a file
            encoding: for each variable, as for to_netcdf: dtype, _FillValue, units, scale_factor,
                zlib, complevel, chunksizes, ...
            unlimited_dims: the record dimension; without it that of ds.encoding
            settings: of the file: format="netcdf4", method="slabs", ... (docs/settings.md)
        Raises:
            ValueError: the data set does not fit the decomposition, or cannot be stored
            thalweg.Error: those of Session.create and File.end_step
        Note: Collective, if a session is given.
        """
        if mode not in ("w", "a"):
            raise ValueError(f"mode is 'w' or 'a', not {mode!r}")
        encoding = {normal_form(name): e for name, e in (encoding or {}).items()}
        if isinstance(decomposition, Mapping):
            decomposition = {normal_form(name): part for name, part in decomposition.items()}
        if unlimited_dims is not None:
            unlimited_dims = _normal_names(unlimited_dims)
        again = {"mode": mode, "encoding": encoding, "unlimited_dims": unlimited_dims, **settings}
        if (dataset := _in_normal_form(self._dataset)) is not self._dataset:
            ThalwegAccessor(dataset).write(path, session, decomposition, **again)
            return
        if session is None:
            if (ranks := _load.launched_ranks()) > 1:
                raise error(
                    "TW_EARG",
                    f"this program has {ranks} processes: pass session=, and decomposition= for "
                    "the part that each has",
                )
            with Session(_alone=True) as own:
                self.write(path, own, decomposition, **again)
            return
        wanted = {name: dict(e) for name, e in (encoding or {}).items()}
        if unknown := set(wanted) - set(self._dataset.variables):
            raise ValueError(f"encoding of variables that are not there: {sorted(unknown)}")
        stored = _stored(session, path) if mode == "a" else {}
        for name, found in stored.items():
            if name in self._dataset.variables and found.text is None:
                wanted[name] = {**wanted.get(name, {}), **found.encoding}
        times = _agreed_times(session, lambda: _time_units(self._dataset, wanted))

        def prepare() -> Plan:
            for name, asked in (encoding or {}).items():
                if name in stored and stored[name].text is None:
                    _check_appended(name, _stored_of(asked), stored[name].encoding)
            return self._plan(
                decomposition, wanted, set(encoding or {}), unlimited_dims, times, stored
            )

        plan = _agreed(session, prepare)
        if mode == "a":
            _write(session, session.open(path, "a", attrs=plan.attributes, **settings), plan)
            return
        asks = sorted(n for n in encoding or {} if asks_for_netcdf4(plan.storage.get(n, {})))
        if asks and not str(settings.setdefault("format", "netcdf4")).startswith("netcdf4"):
            raise ValueError(
                f"encoding of {', '.join(asks)}: only netCDF-4 has chunks and filters, not format "
                f"{settings['format']}"
            )
        _write(session, session.create(path, attrs=plan.attributes, **settings), plan)

    def _plan(
        self,
        decomposition: Any,
        encoding: Mapping[str, Mapping[str, Any]],
        explicit: set[str],
        unlimited_dims: Any,
        times: Mapping[str, Mapping[str, Any]],
        stored: Mapping[str, Stored],
    ) -> Plan:
        dataset = self._dataset
        parts = _written_parts(decomposition, dataset)
        record = _record_dim(dataset, unlimited_dims, parts)
        if record in parts:
            raise ValueError(f"the record dimension '{record}' cannot be divided among ranks")
        variables, attributes = conventions.encode_dataset_coordinates(dataset)
        variables = {str(name): v.copy(deep=False) for name, v in variables.items()}
        for name, v in variables.items():
            v.encoding = {**encoding.get(name, v.encoding), **times.get(name, {})}
        plain = {name: v.copy(deep=False) for name, v in variables.items()}
        with np.errstate(invalid="ignore", over="ignore"):  # exact() handles them
            variables, attributes = Encoder().encode(variables, attributes)
        for name, v in variables.items():
            if name not in stored:
                continue
            if (text := stored[name].text) is not None:
                variables[name] = _fitted(name, v, *text)
            else:
                theirs = stored[name].encoding
                ours = _stored_of({**v.attrs, "dtype": None})  # xarray's own, such as "bool"
                if "units" not in theirs and " since " not in str(ours.get("units")):
                    ours.pop("units", None)  # of values that are not times
                _check_appended(name, ours, theirs)
        lengths: dict[str, int] = {}
        for v in variables.values():
            for dim, n in zip(v.dims, v.shape, strict=True):
                lengths[str(dim)] = parts[dim].length or 0 if dim in parts else n
        for name, v in variables.items():
            if record in v.dims[1:]:
                raise ValueError(
                    f"variable '{name}': the record dimension '{record}' must be the first; use "
                    "transpose, or unlimited_dims=[]"
                )
        storage, types = {}, {}
        for name, v in variables.items():
            encoded = Encoded(v, lengths, record, name in explicit)
            storage[name] = storage_of(name, encoded)
            if name in explicit and name in stored:
                _check_appended(name, storage[name], stored[name].storage)
            types[name] = v.dtype
            variables[name] = exact(name, plain[name], keep_digits(encoded))
        plan = Plan(variables, types, dict(attributes), storage, parts, lengths, record)
        _check_definitions(plan)
        return plan


def _check_definitions(plan: Plan) -> None:
    """Raises the error of what cannot be defined, before there is a file."""
    name = ""
    try:
        checked_attributes(plan.attributes)
        for name, v in plan.variables.items():
            check_name(name)
            checked_attributes(v.attrs, type_code(plan.types[name]))
        for dim in plan.lengths:
            check_name(dim)
    except UnusableError as problem:
        raise error(problem.name, str(problem), "", name) from None


def _normal_names(names: Any) -> list[Any]:
    return [normal_form(name) for name in ([names] if isinstance(names, str) else names)]


def _in_normal_form(dataset: xarray.Dataset) -> xarray.Dataset:
    """Returns the data set with the names that they get in a file; the same object if they do
    not change."""
    names = {*dataset.variables, *dataset.dims}
    others = {name: normal_form(name) for name in names if normal_form(name) != name}
    if not others:
        return dataset
    renamed = dataset.rename(others)
    renamed.encoding = dict(dataset.encoding)
    if "unlimited_dims" in renamed.encoding:
        renamed.encoding["unlimited_dims"] = _normal_names(renamed.encoding["unlimited_dims"])
    return renamed


def _written_parts(decomposition: Any, dataset: xarray.Dataset) -> dict[str, Part]:
    if isinstance(decomposition, Mapping):
        parts = {}
        for name, value in decomposition.items():
            start, length = value
            parts[name] = Part(int(start), dataset.sizes.get(name, 0), int(length))
    else:
        parts = parts_of(decomposition)
    for name, part in parts.items():
        if name in dataset.sizes and dataset.sizes[name] != part.count:
            raise ValueError(
                f"dimension '{name}' of the data set has {dataset.sizes[name]}, but this rank's "
                f"part of the decomposition has {part.count}"
            )
    return {name: part for name, part in parts.items() if name in dataset.sizes}


def _record_dim(dataset: xarray.Dataset, unlimited_dims: Any, divided: Iterable[str]) -> str | None:
    names = dataset.encoding.get("unlimited_dims", ()) if unlimited_dims is None else unlimited_dims
    names = [names] if isinstance(names, str) else [str(n) for n in names]
    if unlimited_dims is None:
        names = [n for n in names if n in dataset.dims]
    if len(names) > 1 or any(n not in dataset.dims for n in names):
        raise ValueError(f"unlimited_dims is one dimension of the data set, not {names}")
    # In a file, only the record dimension can have length 0.
    empty = [str(n) for n, length in dataset.sizes.items() if length == 0 and str(n) not in divided]
    if any(n not in (names or empty[:1]) for n in empty):
        raise ValueError(
            f"dimensions {', '.join(empty)} have length 0, which only the record dimension can have"
        )
    return (names or [*empty, None])[0]


def _time_units(
    dataset: xarray.Dataset, encoding: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Returns the units, calendar and type that xarray chooses for times, given this rank's
    values."""
    chosen: dict[str, dict[str, Any]] = {}
    for key, v in dataset.variables.items():
        if v.dtype.kind in "mM" or holds_times(v):
            name = str(key)
            v = v.copy(deep=False)
            v.encoding = dict(encoding.get(name, v.encoding))
            encoded = conventions.encode_cf_variable(v, name=name)
            kept = {k: encoded.attrs[k] for k in ("units", "calendar") if k in encoded.attrs}
            chosen[name] = {**kept, "dtype": encoded.dtype}
    return chosen


class Encoder(WritableCFDataStore):
    """xarray's own encoding, with text as characters, as in its netCDF-3 files."""

    def encode_variable(self, variable: xarray.Variable, name: Any = None) -> xarray.Variable:
        variable = strings.EncodedStringCoder(allows_unicode=False).encode(variable, name=name)
        return strings.CharacterArrayCoder().encode(variable, name=name)

    def encode_attribute(self, value: Any) -> Any:
        return value


@dataclass
class Stored:
    """The storage of a variable in a file."""

    encoding: dict[str, Any]
    storage: dict[str, Any]
    text: tuple[str, int] | None = None  # dimension of the characters of a text, and its length


def _stored(session: Session, path: Any) -> dict[str, Stored]:
    """Returns the storage of a file's variables."""
    found: dict[str, Stored] = {}
    bounds = {}
    with session.open(path) as file:
        for name, variable in file.variables.items():
            if variable.dtype is not None and variable.dtype.kind == "S" and variable.dims:
                text = variable.dims[-1], variable.shape[-1]
                found[name] = Stored({}, _storage_in(variable), text)
            elif variable.dtype is not None and variable.dtype.kind != "S":
                attributes = dict(variable.attrs)
                encoding = {k: v for k, v in attributes.items() if k in STORED}
                encoding["dtype"] = variable.dtype
                encoding.setdefault("_FillValue", None)  # otherwise xarray would choose one
                found[name] = Stored(encoding, _storage_in(variable))
                bounds[str(attributes.get("bounds"))] = name
    for name, stored in found.items():
        if name in bounds and "units" not in stored.encoding:  # its units are the coordinate's
            of = found[bounds[name]].encoding
            stored.encoding.update({k: of[k] for k in ("units", "calendar") if k in of})
        if " since " in str(stored.encoding.get("units")):
            stored.encoding.setdefault("calendar", "standard")
    return found


def _storage_in(variable: Any) -> dict[str, Any]:
    """Returns the settings with which a variable of a file was defined."""
    filters = dict(variable.filters)
    storage: dict[str, Any] = {"shuffle": SHUFFLE in filters}
    for setting, number in (("deflate", DEFLATE), ("zstd", ZSTD)):
        if number in filters:
            storage[setting] = filters[number]
    if variable.chunks is not None:
        storage["chunks"] = dict(zip(variable.dims, variable.chunks, strict=True))
    return storage


def _fitted(name: str, v: xarray.Variable, dim: str, length: int) -> xarray.Variable:
    """Returns a text with the same number of characters as in the file."""
    if v.dtype.kind != "S" or not v.dims or v.dims[-1] == dim:
        return v
    if v.shape[-1] > length:
        raise ValueError(
            f"variable '{name}' cannot be appended: its longest text has {v.shape[-1]} bytes, but "
            f"the file has room for {length}"
        )
    values = np.zeros((*v.shape[:-1], length), "S1")
    values[..., : v.shape[-1]] = v.data
    return xarray.Variable((*v.dims[:-1], dim), values, v.attrs, v.encoding)


def _check_appended(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Checks that new values are stored as those in the file: what is stored with them applies to
    all records, so other settings or attributes would change the meaning of old or new ones."""
    for key, own in ours.items():
        stored = theirs.get(key)
        nan = all(isinstance(x, float | np.floating) and np.isnan(x) for x in (own, stored))
        same = np.dtype(own) == stored if key == "dtype" else np.array_equal(own, stored)
        if not (same or nan):
            raise ValueError(
                f"variable '{name}' cannot be appended: {key} is {stored!r} in the file, but "
                f"{own!r} of the new values. Choose what suits all with encoding= when the file is "
                "created"
            )


def _stored_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes that determine how values are stored, in one order."""
    return {key: values[key] for key in STORED if values.get(key) is not None}


def _gathered(session: Session, make: Callable[[], Any]) -> list[Any]:
    """Returns what each rank makes. Raises an exception of one rank on all ranks, before any of
    them makes another collective call."""
    if session.size == 1:
        return [make()]
    made: Any = None
    problem: Exception | None = None
    try:
        made = make()
    except Exception as found:
        problem = found
    try:
        everyone = session.comm.allgather((problem, made))
    except Exception:  # an exception that cannot be sent
        everyone = session.comm.allgather((ValueError(str(problem)), None))
    for rank, (found, _) in enumerate(everyone):
        if found is not None:
            found.add_note(f"on rank {rank}")
            raise problem or found
    return [made for _, made in everyone]


def _agreed_times(
    session: Session, choose: Callable[[], dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Returns rank 0's choice; if the ranks choose different units, those that are fine enough
    for all."""
    everyone = _gathered(session, choose)
    agreed = everyone[0]
    for name, first in agreed.items():
        others = [found.get(name, first) for found in everyone]
        if any(other != first for other in others):
            units = [str(other["units"]).split(" since ") for other in others]
            fine = max([TIME_UNITS.index("seconds"), *(_fineness(u[0]) for u in units)])
            agreed[name] = {
                **first,
                "units": " since ".join([TIME_UNITS[fine], *units[0][1:]]),
                "dtype": np.dtype("i8"),
            }
    return agreed


def _fineness(unit: str) -> int:
    return TIME_UNITS.index(unit) if unit in TIME_UNITS else 0


def _agreed(session: Session, prepare: Callable[[], Plan]) -> Plan:
    """Returns this rank's plan, which fits those of the other ranks."""
    plans: list[Plan] = []

    def make() -> tuple[Any, dict[str, Part]]:
        plans.append(prepare())
        return plans[0].signature(), plans[0].parts

    everyone = _gathered(session, make)
    first = everyone[0][0]
    for rank, (signature, _) in enumerate(everyone):
        if signature != first:
            raise ValueError(
                f"the data sets differ between ranks: {first} on rank 0, {signature} on rank {rank}"
            )
    plans[0].everyone = [parts for _, parts in everyone]
    return plans[0]


def _write(session: Session, file: Any, plan: Plan) -> None:
    """Writes and closes the file, the latter also after an error of all ranks, as the caller has no
    handle."""
    try:
        out_of_range = _fill(session, file, plan)
    except BaseException as problem:
        if getattr(problem, "collective", False):
            with contextlib.suppress(Error):
                file.close()
        else:
            file.left_by_exception = True
        raise
    file.close()
    if out_of_range is not None:
        raise out_of_range


def _fill(session: Session, file: Any, plan: Plan) -> Error | None:
    """Writes all variables; returns the first error about values that did not fit."""
    for dim, length in plan.lengths.items():
        file.define_dim(dim, None if dim == plan.record else length)
    made: dict[tuple[str, ...], Decomposition] = {}
    held: dict[str, Decomposition | None] = {}
    for name, v in plan.variables.items():
        dims = tuple(str(d) for d in v.dims if d != plan.record)
        if dims not in made and any(d in plan.parts for d in dims):
            made[dims] = _decomposition(session, plan, dims)
        held[name] = made.get(dims)
        file.define(name, plan.types[name], v.dims, held[name], attrs=v.attrs, **plan.storage[name])
    file.enddef()
    out_of_range: Error | None = None
    for name, v in plan.variables.items():
        if plan.record not in v.dims:
            _put(file, name, v, held[name])
    for record in range(plan.records()):
        for name, v in plan.variables.items():
            if plan.record in v.dims:
                _put(file, name, v[record], held[name])
        try:
            file.end_step()
        except Error as problem:
            if problem.name != "TW_ERANGE":
                raise
            out_of_range = out_of_range or problem
    return out_of_range


def _put(file: Any, name: str, v: xarray.Variable, held: Decomposition | None) -> None:
    values = np.asarray(v.data)
    file.put(name, values if held is None or held.listed is None else values.reshape(-1))


def _decomposition(session: Session, plan: Plan, dims: tuple[str, ...]) -> Decomposition:
    space = [(d, plan.lengths[d]) for d in dims]
    if set(plan.parts) <= set(dims) or session.size == 1:
        start, count = _box(plan.parts, space)
        return session.decompose(space, start=start, count=count)
    # Ranks that differ only in other dimensions hold the same elements of this variable, a
    # coordinate for example: the first rank that holds an element writes it.
    start, count = _box(plan.parts, space)
    shape = [n for _, n in space]
    grid = np.ix_(*(np.arange(i, i + n) for i, n in zip(start, count, strict=True)))
    mine = np.array(np.ravel_multi_index(grid, shape))
    if any(part.count == 0 for part in plan.parts.values()):
        mine[...] = -1
    for parts in plan.everyone[: session.rank]:
        if all(part.count for part in parts.values()):
            low, n = _box(parts, space)
            below = [max(0, a - b) for a, b in zip(low, start, strict=True)]
            above = [max(0, a + m - b) for a, m, b in zip(low, n, start, strict=True)]
            mine[tuple(slice(i, j) for i, j in zip(below, above, strict=True))] = -1
    return session.decompose_list(space, listed=dims, indices=mine)


def _box(parts: Mapping[str, Part], space: Any) -> tuple[list[int], list[int]]:
    box = [parts.get(d, Part(0, n)) for d, n in space]
    return [part.start for part in box], [part.count for part in box]
