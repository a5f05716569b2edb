# SPDX-License-Identifier: Apache-2.0
"""Loads the compiled core when it is first needed, so that it uses the MPI that mpi4py loaded."""

from __future__ import annotations

import os
import re
import sys
from types import ModuleType

from . import _build

_core: ModuleType | None = None


def core() -> ModuleType:
    """The module _core.

    Raises:
        ImportError: the process has loaded another MPI than the one that the core was built for
    """
    global _core
    if _core is None:
        _check_kind()
        from . import _core as loaded
        from ._errors import Error

        loaded.set_error_class(Error)
        _core = loaded
    return _core


def _loaded_mpi() -> set[str]:
    """Files of the MPI libraries in this process."""
    try:
        with open("/proc/self/maps") as maps:
            text = maps.read()
    except OSError:
        return set()
    return set(re.findall(r"\S*/libmpi(?:ch)?\.so[.\d]*", text))


def has_mpi() -> bool:
    """Whether thalweg was built with MPI."""
    return bool(_build.MPI_LIBRARY)


def _check_kind() -> None:
    if not has_mpi():
        return
    for path in _loaded_mpi():
        name = re.sub(r"(\.so\.\d+).*", r"\1", os.path.basename(path))
        if name != _build.MPI_LIBRARY:
            raise ImportError(
                f"this process has loaded {path}, but thalweg was built for {_build.MPI_LIBRARY} "
                f"({_build.MPI_VERSION}): let mpi4py use that MPI (see MPI4PY_LIBMPI), or build "
                "thalweg with the other one (pip install --no-binary thalweg thalweg)"
            )


def check_one_mpi() -> None:
    """
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
    """With how many processes this one was started, as far as it is known."""
    if (size := core().world_size()) > 1:
        return size
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return 1


def mpi4py_is_loaded() -> bool:
    return "mpi4py.MPI" in sys.modules
