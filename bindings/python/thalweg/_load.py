# SPDX-License-Identifier: Apache-2.0
"""Loads the compiled core when it is first needed, so that it uses the MPI that mpi4py loaded.

A package that was compiled on this machine has one core, for one MPI or for none. A wheel has
three: _core, without MPI, and those in _openmpi and _mpich. These do not name the file of their
MPI, which has another name and place on each machine, but use what the process has loaded.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from . import _build as _own

_core: ModuleType | None = None
_build = _own  # module that describes how the core was built
# The cores of a wheel, by the file name of the MPI library (MPICH: also Intel MPI, MVAPICH, Cray
# MPICH).
_CORES = {"libmpi.so.40": "_openmpi", "libmpi.so.12": "_mpich", "libmpich.so.12": "_mpich"}


_when_loaded: list[Callable[[ModuleType], Any]] = []


def when_loaded(action: Callable[[ModuleType], Any]) -> None:
    """Registers an action that core() calls with the core when it has loaded it."""
    _when_loaded.append(action)


def core() -> ModuleType:
    """Returns the module _core.

    Raises:
        ImportError: the process has loaded another MPI than the one that the core was built for
    """
    global _core
    if _core is None:
        loaded = _import_core()
        for action in _when_loaded:
            action(loaded)
        _core = loaded
    return _core


def _loaded_mpi() -> set[str]:
    """Returns the paths of the MPI libraries in this process."""
    try:
        with open("/proc/self/maps") as maps:
            text = maps.read()
    except OSError:
        return set()
    return set(re.findall(r"\S*/libmpi(?:ch|_abi)?\.so[.\d]*", text))


def _soname(path: str) -> str:
    return re.sub(r"(\.so\.\d+).*", r"\1", os.path.basename(path))


def has_mpi() -> bool:
    """Tests if the core uses MPI."""
    return bool(_build.MPI_LIBRARY)


def has_several_cores() -> bool:
    return any((Path(__file__).parent / name).is_dir() for name in _CORES.values())


def why_no_mpi() -> str:
    if has_several_cores():
        return (
            "thalweg was first used without MPI: import mpi4py.MPI before the first "
            "thalweg.Session, and before xarray opens a file with it"
        )
    return "thalweg was built without MPI (THALWEG_MPI=OFF)"


def _import_core() -> ModuleType:
    global _build
    if not has_several_cores():
        _check_kind()
        return importlib.import_module("thalweg._core")
    paths = sorted(_loaded_mpi())
    if not paths:
        return importlib.import_module("thalweg._core")
    known = {_CORES[_soname(path)] for path in paths if _soname(path) in _CORES}
    if len(known) != 1:
        raise ImportError(
            f"this process has loaded {', '.join(paths)}, but this thalweg has parts for Open MPI "
            "(libmpi.so.40) and MPICH (libmpi.so.12), of which a process can use one: let mpi4py "
            "use one of them (see MPI4PY_LIBMPI), or build thalweg with your MPI "
            "(pip install . in its source folder)"
        )
    name = known.pop()
    for path in paths:  # makes the libraries visible to the core
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL | os.RTLD_NOLOAD)
    module = importlib.import_module(f"thalweg.{name}._core")
    _build = importlib.import_module(f"thalweg.{name}._build")
    return module


def _check_kind() -> None:
    if not has_mpi():
        return
    for path in _loaded_mpi():
        if _soname(path) != _build.MPI_LIBRARY:
            raise ImportError(
                f"this process has loaded {path}, but thalweg was built for {_build.MPI_LIBRARY} "
                f"({_build.MPI_VERSION}): let mpi4py use that MPI (see MPI4PY_LIBMPI), or build "
                "thalweg with the other one (pip install . in its source folder)"
            )


def check_one_mpi() -> None:
    """Checks that mpi4py and the core use the same MPI library.

    Raises:
        ImportError: mpi4py and the core use two copies of MPI
    """
    if not has_mpi():
        return
    paths = {os.path.realpath(path) for path in core().mpi_libraries()}
    if len(paths) > 1:
        raise ImportError(
            f"this process has loaded several MPI libraries: {', '.join(sorted(paths))}. "
            "Import mpi4py.MPI before the first thalweg.Session, or let mpi4py use the same "
            "library (see MPI4PY_LIBMPI)"
        )


def launched_ranks() -> int:
    """Returns the number of processes that were started together, as far as it is known."""
    if (size := core().world_size()) > 1:
        return size
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return 1


def mpi4py_is_loaded() -> bool:
    return "mpi4py.MPI" in sys.modules
