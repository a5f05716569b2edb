# SPDX-License-Identifier: Apache-2.0
"""Tests arrays of packages other than NumPy, and arrays in the memory of devices."""

import numpy as np
import pytest
import thalweg as tw
from helpers import as_netcdf4, field, rows

NY, NX = 9, 5


class OnDevice:
    """An array that only copies to the host can read; each subclass copies as its package does."""

    def __init__(self, values):
        self._values, self.shape, self.dtype = values, values.shape, values.dtype

    def __dlpack_device__(self):
        return (2, 0)


class CuPyArray(OnDevice):
    __module__ = "cupy"

    def get(self, out):
        out[...] = self._values
        return out


class JaxArray(OnDevice):
    def __array__(self, *arguments, **keywords):
        return self._values


class StandardArray(OnDevice):
    def __dlpack__(self, *, dl_device=None, **keywords):
        assert dl_device == (1, 0)
        return self._values.__dlpack__(**keywords)


def write(io, path, makes, values, deferred):
    ny, nx = values.shape[1:]
    j0, nj = rows(ny)
    cells = io.decompose(y=ny, x=nx, start=(j0, 0), count=(nj, nx))
    with io.create(path) as f:
        for v in "ab":
            f.define(v, "f4", "time y x", cells)
        for step in values[:, j0 : j0 + nj]:
            for v, sign in ("a", 1), ("b", -1):
                f.put(v, makes(sign * step), deferred=deferred)
            f.end_step()
    for v, sign in ("a", 1), ("b", -1):
        assert np.array_equal(as_netcdf4(path, v), sign * values), v


def package(name):
    return pytest.importorskip(name)


def forms_of(kind):
    """Returns functions that make an array from one of NumPy, in many layouts."""
    if isinstance(kind, type):
        return [kind]
    module = package(kind)
    as_it_is = module.from_numpy if kind == "torch" else module.asarray
    return [
        lambda v: as_it_is(v.copy()),
        lambda v: as_it_is(np.ascontiguousarray(v.T)).T,
        lambda v: as_it_is(np.repeat(v, 2, axis=1))[:, ::2],
    ]


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("kind", [CuPyArray, JaxArray, StandardArray, "jax.numpy", "torch"])
def test_packages(io, folder, kind, deferred):
    for makes in forms_of(kind):
        for ny in NY, 2:  # 2: the last of 3 ranks has an array without elements
            write(io, folder / "a.nc", makes, field(3, ny, NX, dtype="f4"), deferred)


def test_copies(io):
    """Tests scalars, types and byte order, and that memory is used again only when it is free."""
    memory = io._host
    for values in np.float64(3.5).reshape(()), np.arange(4, dtype=">i2"), np.ones(3, "f2"):
        found = tw._arrays.as_array(CuPyArray(values), memory)
        assert found.dtype.isnative and np.array_equal(found, values)
    a, b = (memory.copy_of(CuPyArray(np.full(100, v))) for v in (1, 2))
    part = a[5:7]  # keeps all of its memory
    place = b.ctypes.data
    del a, b
    assert memory.copy_of(CuPyArray(np.full(90, 3))).ctypes.data == place
    assert np.array_equal(part, [1, 1]) and len(memory._buffers) == 2
