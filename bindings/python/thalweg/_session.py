# SPDX-License-Identifier: Apache-2.0
"""Sessions: the ranks that write and read together."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _exit, _load
from ._arguments import explains_arguments
from ._arrays import (
    UnusableError,
    checked_attributes,
    integers,
    names_of,
    names_text,
    plain_text,
    settings_text,
)
from ._decomposition import Decomposition, halos, parse_boxes, parse_dims
from ._device import HostMemory
from ._errors import Error, error
from ._file import File
from ._history import History
from ._keywords import split_keywords
from ._restart import Restart

T = TypeVar("T")


@explains_arguments
class Session:
    """A session of all ranks of a communicator, or of this process alone.

    As a context manager it ends with the block. If an exception leaves the block on one rank, the
    session is cancelled on all: the others get a `tw.Error` (TW_ECANCELED) that tells why, and
    unfinished files stay as `NAME.part`. If nothing catches the exception, or if the others make no
    call of the session for ten seconds, all processes are ended, so that no rank waits forever.

    Args:
        comm: a communicator of mpi4py. None: this process alone, without MPI or in a program that
            was started as one process
        settings: as keywords, of docs/settings.md: service="background", method="slabs",
            staging="1GiB"
    Raises:
        Error: TW_ESETTING, TW_EMPI (comm is null or was freed), TW_ENOMEM; TW_EARG (no comm, but
            the program has several processes)
        ImportError: mpi4py uses another MPI than the one that thalweg was built for
    Note: Collective over comm. With servers=N, it returns on the servers when all other ranks have
        ended their session; check `is_server`.
    """

    def __init__(self, comm: Any = None, **settings: Any) -> None:
        core = _load.core()
        _load.check_one_mpi()
        handle = None if comm is None else _handle(comm)
        if handle is not None and not _load.has_mpi():
            if comm.size > 1:
                raise error("TW_EMPI", f"comm has {comm.size} ranks, but {_load.why_no_mpi()}")
            handle = None
        alone = settings.pop("_alone", False)
        if handle is None and not alone and (ranks := _load.launched_ranks()) > 1:
            raise error(
                "TW_EARG",
                f"this program was started with {ranks} processes: pass mpi4py's MPI.COMM_WORLD, "
                "for a session of all of them, or MPI.COMM_SELF, for one of this process alone",
            )
        running = core.mpi_is_running()
        self._files: list[File] = []
        self._host = HostMemory()
        self._mpi: Any = None
        self._core: Any = None
        problem: Exception | None = None
        text: str | None = None
        try:
            text = settings_text(settings)
        except Exception as found:
            # The other ranks must be informed.
            problem, text = found, "invalid settings on a rank"
        try:
            self._core = core.Session(handle, text)
        except Error:
            if problem is None:
                raise
        if problem is not None:
            raise _translated(problem)
        _exit.began(self, started_mpi=not running and handle is None)

    # ---- ranks ----------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """This rank's number among those that are not servers."""
        return self._core.rank

    @property
    def size(self) -> int:
        """Number of ranks that are not servers."""
        return self._core.size

    @property
    def is_server(self) -> bool:
        """True if this rank was a server: all that is left to do is to end the session."""
        return self._core.is_server

    @property
    def is_open(self) -> bool:
        return self._core.is_open

    @property
    def comm(self) -> Any:
        """The communicator (of mpi4py) of the ranks that are not servers, which the model uses.

        It belongs to the session. None on a server, and without mpi4py.
        """
        if self.is_server or not _load.mpi4py_is_loaded():
            return None
        if self._mpi is None:
            from mpi4py import MPI

            self._mpi = MPI.Comm.f2py(self._core.comm())
        return self._mpi

    # ---- decompositions -------------------------------------------------------------------------

    def decompose(
        self,
        space: Mapping[str, int] | Sequence[tuple[str, int]] | None = None,
        /,
        *,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        boxes: Iterable[tuple[Sequence[int], Sequence[int]]] | None = None,
        halo: Any = 0,
        edges: Any = None,
        **dims: int,
    ) -> Decomposition:
        """Declares which elements this rank holds, as any number of boxes.

        Args:
            space, dims: global length of each dimension in the order of the array in memory,
                slowest first: decompose(lat=180, lon=360, ...). `space` is for names that are not
                Python's, and pairs for a name that occurs twice, or for matching by position:
                decompose([("*", 180), ("*", 360)], ...)
            start, count: first global index and lengths of this rank's only box; without them it
                is everything
            boxes: (start, count) of each box, if there is not one; [] for none
            halo: elements around each box in memory, never written: a number, a (before, after)
                pair a dimension, or a dictionary by name
            edges: what reads do with the halo: see Decomposition.fill_halo
        Raises:
            Error: TW_EARG, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP (an element is in two boxes),
                TW_EMISMATCH (names or lengths differ between ranks)
        Note: Collective.
        """

        def prepare() -> tuple[Any, ...]:
            names, lengths = parse_dims(space, dims)
            held = parse_boxes(names, lengths, start, count, boxes)
            return names, lengths, held, halos(halo, names)

        return self._decompose(prepare, edges)

    def _decompose(
        self, prepare: Callable[[], tuple[Any, ...]], edges: Any = None
    ) -> Decomposition:
        def call(args: tuple[Any, ...]) -> Decomposition:
            names, lengths, boxes, around = args
            core = self._core.decompose(
                names_text(names),
                list(lengths),
                len(boxes),
                [i for first, _ in boxes for i in first],
                [i for _, counts in boxes for i in counts],
                [low for low, _ in around],
                [high for _, high in around],
            )
            return Decomposition(self, core, names, lengths, boxes=boxes, halo=around)

        made = self._together(
            prepare, call, lambda: self._core.decompose(None, [], 0, [], [], [], [])
        )
        if edges is not None:
            made.fill_halo(edges)
        return made

    def split(
        self,
        space: Mapping[str, int] | Sequence[tuple[str, int]] | None = None,
        /,
        *,
        along: str | Sequence[str] | None = None,
        halo: Any = 0,
        edges: Any = None,
        **dims: int,
    ) -> Decomposition:
        """Divides an index space evenly among the ranks: one box each.

        Args:
            space, dims, halo, edges: as for decompose
            along: the dimensions to divide, one or two; without it the longest. Two are divided
                as evenly as the number of ranks allows
        Raises, Note: as of decompose. Ranks that are left over hold nothing.
        """

        def prepare() -> tuple[Any, ...]:
            names, lengths = parse_dims(space, dims)
            cut = names_of(names_text(along)) if along is not None else ()
            if not cut:
                cut = (names[lengths.index(max(lengths))],)
            if len(cut) > 2 or any(name not in names for name in cut):
                raise UnusableError(
                    "TW_EARG", f"along is one or two of {' '.join(names)}, not {along!r}"
                )
            first = int(np.sqrt(self.size))
            while len(cut) == 2 and self.size % first:
                first -= 1
            parts = (self.size,) if len(cut) == 1 else (first, self.size // first)
            places = np.unravel_index(self.rank, parts)
            start, count = [0] * len(names), list(lengths)
            for name, part, place in zip(cut, parts, places, strict=True):
                d = names.index(name)
                start[d] = lengths[d] * int(place) // part
                count[d] = lengths[d] * (int(place) + 1) // part - start[d]
            return names, lengths, [(start, count)], halos(halo, names)

        return self._decompose(prepare, edges)

    def decompose_list(
        self,
        space: Mapping[str, int] | Sequence[tuple[str, int]] | None = None,
        /,
        *,
        listed: str | Sequence[str],
        indices: Any,
        shared: bool = False,
        **dims: int,
    ) -> Decomposition:
        """Declares which elements this rank holds, as a list of global indices in any order.

        Args:
            space, dims: as for decompose; of dimensions that are not listed, every rank holds all
            listed: the dimensions that the list covers: adjacent, in the same order
            indices: this rank's integers, row-major over the listed dimensions, from 0; -1 for
                a position that exists in memory only, as masked ones do
            shared: indices may occur more than once, on any ranks: for reading only
        Raises:
            Error: TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP, TW_EMISMATCH, TW_ENOMEM
        Note: Collective.
        """

        def prepare() -> tuple[Any, ...]:
            names, lengths = parse_dims(space, dims)
            places = np.asarray(indices)
            if places.size and places.dtype.kind not in "iu":
                raise UnusableError("TW_ETYPE", f"indices must be integers, not {places.dtype}")
            places = np.ascontiguousarray(places.ravel(), dtype=np.int64)
            if np.ma.is_masked(indices):
                places = np.where(np.ma.getmaskarray(indices).ravel(), -1, places)
            return names, lengths, names_of(names_text(listed)), places

        def call(args: tuple[Any, ...]) -> Decomposition:
            names, lengths, covered, places = args
            core = self._core.decompose_list(
                names_text(names), lengths, names_text(covered), places, bool(shared)
            )
            return Decomposition(self, core, names, lengths, listed=(places.size, covered))

        return self._together(
            prepare, call, lambda: self._core.decompose_list(None, [], "", None, False)
        )

    # ---- files ----------------------------------------------------------------------------------

    def create(
        self,
        path: str | os.PathLike[str],
        *,
        attrs: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> File:
        """Creates a netCDF file. Until it is closed it is called `PATH.part`.

        Args:
            path: the same on all ranks; relative to rank 0's working directory
            attrs: global attributes
            keywords: settings of the file (format="cdf5", method, durable, zstd, ...: see
                docs/settings.md); all others are global attributes: title="...", history="..."
        Raises:
            Error: TW_ESETTING, TW_EMISMATCH, TW_EINUSE, TW_EIO
        Note: Collective.
        """

        def prepare() -> tuple[str, str, Mapping[str, Any]]:
            settings, more = split_keywords(keywords)
            attributes = checked_attributes({**(attrs or {}), **more})
            return _path(path), settings_text(settings), attributes

        return self._file(prepare, "w", create=True)

    def open(
        self,
        path: str | os.PathLike[str],
        mode: str = "r",
        *,
        attrs: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> File:
        """Opens a netCDF file of any program.

        Args:
            path: the same on all ranks; if there is only PATH.0000, that set of tiles
            mode: "r" to read; "a" to add and replace records: define the file's variables
                again, as after create (docs/appending.md)
            attrs, keywords: as for create; attributes only with mode "a"
        Raises:
            Error: TW_EIO (also: there is no such file), TW_EFORMAT, TW_ESETTING, TW_EMISMATCH,
                TW_EINUSE; with mode "a" TW_EUNSUPPORTED (docs/appending.md)
        Note: Collective.
        """

        def prepare() -> tuple[str, str, Mapping[str, Any]]:
            if mode not in ("r", "a"):
                raise UnusableError(
                    "TW_EARG", f"mode is 'r' or 'a', not {mode!r}; to write use create"
                )
            settings, more = split_keywords(keywords)
            more = {**(attrs or {}), **more}
            if mode == "a":
                settings["mode"] = "append"
            elif more:
                raise UnusableError(
                    "TW_EARG",
                    f"{', '.join(more)}: not a setting, and a file that is read gets no attributes",
                )
            return _path(path), settings_text(settings), checked_attributes(more)

        return self._file(prepare, mode, create=False)

    def restart(self, **settings: Any) -> Restart:
        """Creates a restart: arrays that are registered once, and written and read together.

        Args:
            settings: as for create; durable=True is the default, checksums=False leaves them out
        Raises:
            Error: TW_ESETTING, TW_EMISMATCH
        Note: Collective.
        """
        core = _load.core()
        return self._together(
            lambda: settings_text(settings),
            lambda text: Restart(self, core.Restart(self._core, text)),
            lambda: core.Restart(self._core, "invalid settings on a rank"),
        )

    def history(
        self, config: str | os.PathLike[str], *, calendar: str, start: str, **settings: Any
    ) -> History:
        """Opens a history: files of instants, means and other statistics of a model's fields.

        Args:
            config: path of a TOML file, which rank 0 reads; or its text, if it has a newline
            calendar: CF's name: "standard", "noleap", "360_day", ...
            start: date of time 0, "2000-01-01" or "2000-01-01 06:00:00"; that of the first run
            settings: as for create, for all files; and step=1800, the model's step in seconds
        Raises:
            Error: TW_EARG, TW_ESETTING (all errors of the configuration), TW_EMISMATCH
        Note: Collective.
        """
        core = _load.core()
        return self._together(
            lambda: (os.fspath(config), str(calendar), str(start), settings_text(settings)),
            lambda args: History(self, core.History(self._core, *args)),
            lambda: core.History(self._core, None, "", "", ""),
        )

    # ---- the session ----------------------------------------------------------------------------

    def summary(self, form: str = "json") -> Any:
        """Returns what the session has done so far: seconds, bytes, memory.

        Args:
            form: "json": a dictionary; "table": the most important figures, as a text to be
                printed; "settings": the effective settings, and where each value comes from, as a
                text
        Raises:
            Error: TW_EARG, TW_EMISMATCH
        Note: Collective.
        """
        forms = ("json", "table", "settings")
        text = self._core.summary(forms.index(form) if form in forms else -1)
        return json.loads(text) if form == "json" else text

    def wait(self, most: int = 0) -> None:
        """Waits for files that were closed with close="later", until at most `most` are incomplete.

        Raises:
            Error: that of a file which failed after it was closed
        Note: Collective.
        """
        self._together(lambda: integers(most)[0], self._core.wait, lambda: self._core.wait(-1))

    def finalize(self) -> None:
        """Ends the session: closes the files that are still open, oldest first.

        Raises:
            Error: the first one of a file that has not been raised yet
        Note: Collective.
        """
        if self._core is None or not self._core.is_open:
            return
        first: Error | None = None
        for file in list(self._files):
            try:
                file.close()
            except Error as problem:
                first = first or problem
        try:
            self._core.finalize()
        except Error as problem:
            first = first or problem
        finally:
            if not self._core.is_open:  # it is while another thread is in a call
                self._end()
        if first is not None:
            raise first

    def abandon(self) -> None:
        """Ends this rank's part without the others. Open files stay as `NAME.part`."""
        if self._core is not None and self._core.is_open:
            self._core.abandon()
        self._end()

    def cancel(self, why: str = "") -> None:
        """Ends the session on all ranks, because this rank cannot go on with the others.

        They get a `tw.Error` (TW_ECANCELED) from the call that they are in or make next. Waits
        until all ranks are in a call of this session. Open files stay as `NAME.part`.

        Args:
            why: text for the other ranks
        """
        if self._core is not None and self._core.is_open:
            self._core.cancel(plain_text(why, "why"))
        self._end()

    def _end(self) -> None:
        self._files.clear()
        _exit.ended(self)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None or self.is_server:
            self.finalize()
            return
        if self._core.is_open:
            _exit.cancel(self, value)
        self._end()

    def __repr__(self) -> str:
        state = f"rank {self.rank} of {self.size}" if self.is_open else "ended"
        return f"<Session: {state}>"

    # ---- for the other classes ------------------------------------------------------------------

    def _together(
        self,
        prepare: Callable[[], T],
        call: Callable[[T], Any],
        refuse: Callable[[], Any],
        file: str = "",
        variable: str = "",
    ) -> Any:
        """Makes a collective call. A rank whose arguments are invalid calls `refuse` instead,
        which makes the call fail on all ranks, so that none waits for this one."""
        try:
            args = prepare()
        except Exception as problem:
            with contextlib.suppress(Error):
                refuse()
            own = _translated(problem, file, variable)
            if isinstance(own, Error):
                own.collective = True
            raise own from None
        return call(args)

    def _file(
        self, prepare: Callable[[], tuple[str, str, Mapping[str, Any]]], mode: str, create: bool
    ) -> File:
        """Creates or opens a file with the path, settings and attributes that `prepare` returns."""
        open_core = _load.core().File

        def call(args: tuple[str, str, Mapping[str, Any]]) -> File:
            where, text, attributes = args
            try:
                core = open_core(self._core, where, text, create)
            except Error as problem:
                if create:
                    self._explain_in_use(problem, where)
                raise
            file = self._add(File(self, core, where, mode))
            for name, value in attributes.items():
                file.attrs[name] = value
            return file

        return self._together(prepare, call, lambda: open_core(self._core, None, None, create))

    def _add(self, file: File) -> File:
        self._files.append(file)
        return file

    def _explain_in_use(self, problem: Error, path: str) -> None:
        if problem.name == "TW_EINUSE" and any(
            f.path == path and f.left_by_exception for f in self._files
        ):
            problem.add_note(
                f"An exception left the block of {path}, which is therefore not complete. To write "
                "it again, close() that file or abandon() the session first."
            )


def recover(path: str | os.PathLike[str], replace_longer: bool = False) -> str:
    """Completes the file that a killed run left as `PATH.part`. Needs no session.

    Args:
        path: the final name or the temporary one
        replace_longer: whether an existing file with more records is replaced
    Returns: what was done.
    Raises:
        Error: TW_ENOTFOUND, TW_EFORMAT, TW_EEXISTS, TW_EINUSE, TW_EIO
    """
    return _load.core().recover(_path(path), replace_longer)


def _path(path: str | os.PathLike[str]) -> str:
    return plain_text(os.fspath(path), "path")


def _handle(comm: Any) -> int:
    if not hasattr(comm, "py2f"):
        raise TypeError(
            f"comm must be a communicator of mpi4py, such as MPI.COMM_WORLD, not {comm!r}"
        )
    return comm.py2f()


def _translated(problem: Exception, file: str = "", variable: str = "") -> Exception:
    if isinstance(problem, UnusableError):
        return error(problem.name, str(problem), file, variable)
    return problem
