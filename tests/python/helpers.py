# SPDX-License-Identifier: Apache-2.0
"""Helpers for several tests."""

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def rows(n, rank=None, size=None):
    """Returns the first row and the number of rows of a rank."""
    rank = WORLD.rank if rank is None else rank
    size = WORLD.size if size is None else size
    first = rank * n // size
    return first, (rank + 1) * n // size - first


def field(*shape, seed=0, dtype="f8"):
    """Returns the same values on all ranks."""
    values = np.random.default_rng(seed).uniform(-100, 100, shape)
    return values.astype(dtype)


def as_netcdf4(path, name):
    """Returns the values that netCDF4-python reads, on all ranks. If it raises an error, raises
    it on all ranks."""
    found = None
    WORLD.Barrier()
    if WORLD.rank == 0:
        try:
            with netCDF4.Dataset(path) as f:
                f.set_auto_maskandscale(False)
                found = f[name][...]
        except Exception as error:
            found = error
    found = WORLD.bcast(found)
    if isinstance(found, Exception):
        raise found
    return found


def fails(name, call, *, everywhere=True):
    """Makes a call that must raise this error; with `everywhere`, all ranks must get the same
    text."""
    with pytest.raises(tw.Error) as caught:
        call()
    assert caught.value.name == name, str(caught.value)
    if everywhere:
        assert len(set(WORLD.allgather(str(caught.value)))) == 1, str(caught.value)
        assert caught.value.collective
    return caught.value
