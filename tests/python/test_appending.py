# SPDX-License-Identifier: Apache-2.0
"""Tests appending to files of xarray and netCDF4-python."""

import netCDF4
import numpy as np
import pytest
import xarray as xr
from helpers import WORLD, field, rows

NT, NY, NX = 3, 7, 6
MORE = 4
T = field(NT + MORE, NY, NX, dtype="f4")

SETTINGS = [{}, {"service": "background"}, {"durable": True}]


def cells_of(io):
    first, n = rows(NY)
    return io.decompose(lat=NY, lon=NX, start=(first, 0), count=(n, NX)), slice(first, first + n)


def add(io, path, settings):
    """Adds records of T and time."""
    cells, mine = cells_of(io)
    with io.open(path, "a", **settings) as f:
        f.define("T", "f4", "time lat lon", cells)
        f.define("time", "i8", "time")
        for record in range(NT, NT + MORE):
            f["T"] = T[record, mine]
            f["time"] = 6 * record
            f.end_step()


def dataset(**attrs):
    return xr.Dataset(
        {"T": (("time", "lat", "lon"), T[:NT])},
        coords={"time": ("time", 6 * np.arange(NT), {"units": "hours since 2000-01-01"})},
        attrs=attrs,
    )


ENCODINGS = {
    "default": {},
    "zlib": {"T": {"zlib": True, "complevel": 4}, "time": {"zlib": True}},
    "checksum": {"T": {"zlib": True, "fletcher32": True, "shuffle": False}},
    "records in a chunk": {"T": {"zlib": True, "chunksizes": (2, 3, 6)}},
    "all in a chunk": {"T": {"chunksizes": (10, 7, 6)}, "time": {"chunksizes": (1,)}},
    "fill": {"T": {"_FillValue": np.float32(-999)}, "time": {"_FillValue": None}},
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_files_of_xarray(io, folder, encoding, settings):
    path = folder / "a.nc"
    if WORLD.rank == 0:
        dataset(title="runs", numbers=[1, 2]).to_netcdf(
            path, unlimited_dims=["time"], engine="netcdf4", encoding=ENCODINGS[encoding]
        )
    WORLD.Barrier()
    add(io, path, settings)
    if WORLD.rank == 0:
        with xr.open_dataset(path, engine="netcdf4", decode_times=False) as f:
            assert np.array_equal(f["T"], T)
            assert np.array_equal(f["time"], 6 * np.arange(NT + MORE))
            assert f.attrs["title"] == "runs" and list(f.attrs["numbers"]) == [1, 2]
        # xarray's library can continue the file, too.
        with netCDF4.Dataset(path, "a") as f:
            f["T"][NT + MORE] = 5
            f["T"].seen = "yes"
        with netCDF4.Dataset(path) as f:
            assert np.array_equal(f["T"][: NT + MORE], T) and (f["T"][NT + MORE] == 5).all()
    WORLD.Barrier()


def test_replacing_and_dropping(io, folder):
    path = folder / "a.nc"
    if WORLD.rank == 0:
        dataset().to_netcdf(
            path,
            unlimited_dims=["time"],
            engine="netcdf4",
            encoding=ENCODINGS["records in a chunk"],
        )
    WORLD.Barrier()
    cells, mine = cells_of(io)
    for keep, expected in ((True, [0, 4, 2]), (False, [0, 5])):
        with io.open(path, "a") as f:
            f.define("T", "f4", "time lat lon", cells)
            f.define("time", "i8", "time")
            f.set_record(1, drop_later=not keep)
            f["T"] = T[expected[1], mine]
            f["time"] = 6
            f.end_step()
        if WORLD.rank == 0:
            with netCDF4.Dataset(path) as f:
                assert np.array_equal(f["T"][:], T[expected])
                assert np.array_equal(f["time"][:], 6 * np.arange(len(expected)))
        WORLD.Barrier()
