# SPDX-License-Identifier: Apache-2.0
"""Tests the setting packing=cmip7: the layout of files, and their values by netCDF4."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, as_netcdf4, fails, field, rows
from test_references import on_root

sys.path.append(str(Path(__file__).parent.parent / "zarr"))

from layout import check_layout


def bounds(io):
    first, n = rows(2)
    return io.decompose([("bnds", 2)], start=[first], count=[n])


def ends(record):
    first, n = rows(2)
    return np.array([record - 0.5, record + 0.5])[first : first + n]


def write(io, path, values, *, sync=None, **settings):
    ny, nx = values.shape[1:]
    first, n = rows(ny)
    cells = io.decompose([("lat", ny), ("lon", nx)], start=[first, 0], count=[n, nx])
    with io.create(path, attrs={"variable_id": "tas"}, format="netcdf4", **settings) as f:
        f.define_dim("time", None)
        f.define("time", "f8", "time", units="days since 2000-01-01", bounds="time_bnds")
        f.define("time_bnds", "f8", "time bnds", bounds(io))
        f.define("lat", "f8", "lat", io.decompose([("lat", ny)], start=[first], count=[n]))
        f.define("tas", "f4", "time lat lon", cells, units="K")
        f["lat"] = np.arange(ny, dtype="f8")[first : first + n]
        for k, value in enumerate(values):
            f["time"] = np.float64(k)
            f["time_bnds"] = ends(k)
            f["tas"] = value[first : first + n]
            f.end_step()
            if k == sync:
                f.sync()
                assert len(as_netcdf4(Path(path), "tas")) == k + 1


@pytest.mark.parametrize("service", ["inline", "background"])
@pytest.mark.parametrize(
    ("records", "shape", "packing", "chunk", "more"),
    [
        (20, (250, 300), "cmip7:20", (20, 250, 300), {}),
        (36, (250, 600), "cmip7:36", (9, 250, 600), {"deflate": 1}),
        (19, (300, 600), "cmip7", (8, 300, 600), {"checksums": True}),
        (7, (700, 1100), "cmip7:8", (2, 700, 1100), {"zstd": 1}),
        (3, (1500, 2000), "cmip7:3", (1, 750, 2000), {"deflate": 1}),
        (70, (5, 6), "cmip7:70", (70, 5, 6), {"durable": True}),
    ],
)
def test_layout_and_values(io, folder, service, records, shape, packing, chunk, more):
    path = folder / "a.nc"
    values = field(records, *shape, dtype="f4")
    write(io, path, values, packing=packing, service=service, **more)
    for name, right in [("tas", values), ("time", np.arange(records))]:
        assert np.array_equal(as_netcdf4(path, name), right)

    def check():
        shapes = check_layout(path)
        assert shapes["tas"] == chunk
        assert shapes["time"][0] >= records and shapes["time_bnds"] == (shapes["time"][0], 2)

    on_root(check)


def test_records_that_wait_are_written_by_sync(io, folder):
    values = field(11, 250, 600, dtype="f4")
    for k, more in enumerate([{}, {"deflate": 1}, {"deflate": 1, "service": "background"}]):
        path = folder / f"{k}.nc"
        write(io, path, values, sync=4, packing="cmip7:12", publish="live", **more)
        assert np.array_equal(as_netcdf4(path, "tas"), values)
        on_root(lambda path=path: check_layout(path))


def test_appending_keeps_the_layout(io, folder):
    values = field(9, 250, 600, dtype="f4")
    write(io, folder / "a.nc", values[:5], packing="cmip7:12", deflate=1)
    first, n = rows(250)
    cells = io.decompose([("lat", 250), ("lon", 600)], start=[first, 0], count=[n, 600])
    with io.open(folder / "a.nc", "a") as f:
        f.define("tas", "f4", "time lat lon", cells)
        f.define("time", "f8", "time")
        f.define("lat", "f8", "lat", io.decompose([("lat", 250)], start=[first], count=[n]))
        f.define("time_bnds", "f8", "time bnds", bounds(io))
        for k in range(5, 9):
            f["time"] = np.float64(k)
            f["time_bnds"] = ends(k)
            f["tas"] = values[k, first : first + n]
            f.end_step()
    assert np.array_equal(as_netcdf4(folder / "a.nc", "tas"), values)


@pytest.mark.parametrize("value", ["cmip8", "cmip7:", "cmip7:0", "cmip7:x"])
def test_refused(folder, value):
    own = tw.Session(WORLD)
    call = partial(write, own, folder / "a", field(1, 3, 4), packing=value)
    assert f"setting 'packing' is '{value}'" in str(fails("TW_ESETTING", call, everywhere=False))
    fails("TW_ESETTING", own.finalize, everywhere=False)
