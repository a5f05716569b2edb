# SPDX-License-Identifier: Apache-2.0
"""Tests data sets: Thalweg and xarray's own engines read each other's files."""

import netCDF4
import numpy as np
import pandas as pd
import pytest
import thalweg as tw
import thalweg.xarray
import xarray as xr
from helpers import WORLD, as_netcdf4, fails, field, rows

NT, NY, NX = 3, 8, 5


def dataset():
    T = field(NT, NY, NX, dtype="f4")
    T[0, 0, 0] = np.nan
    ds = xr.Dataset(
        {
            "T": (("time", "lat", "lon"), T, {"units": "K", "range": np.array([0, 400], "f4")}),
            "packed": (("time", "lat", "lon"), np.round(field(NT, NY, NX)) / 2),
            "counts": (("lat", "lon"), np.arange(NY * NX).reshape(NY, NX)),
            "mask": (("lat",), np.arange(NY) % 2 == 0),
            "unsigned": (("lat",), np.arange(NY, dtype="u4")),
            "small": (("lat",), np.arange(NY, dtype="i2")),
            "crs": ((), np.int8(7), {"name": "a sphere"}),
        },
        coords={
            "time": pd.date_range("2000-01-01", periods=NT, freq="6h"),
            "lat": np.linspace(-70, 70, NY),
            "lon": ("lon", np.arange(NX, dtype="f4"), {"units": "degrees_east"}),
            "depth": ("lat", np.arange(NY) * 1.5),
            "leap": ("time", pd.to_timedelta(np.arange(NT), "h")),
            "region": ("lat", np.array([f"region {j}" for j in range(NY)])),
        },
        attrs={"title": "round trip", "version": 3, "scale": 0.5},
    )
    ds["packed"].encoding = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -999}
    ds["time"].encoding = {"units": "hours since 1999-12-31", "calendar": "standard"}
    ds.encoding["unlimited_dims"] = {"time"}
    return ds


def same(a, b):
    xr.testing.assert_identical(a, b)
    for name in a.variables:
        if a[name].dtype.kind not in "mMUO":  # xarray chooses the storage of times and text
            assert a[name].dtype == b[name].dtype, name


@pytest.fixture
def part(io):
    cells = io.split(lat=NY, lon=NX, along="lat")
    j0, nj = rows(NY)
    return cells, slice(j0, j0 + nj)


def test_round_trip_of_many(io, folder, part):
    cells, mine = part
    ds = dataset()
    encoding = {"T": {"zlib": True, "complevel": 2, "chunksizes": (1, NY, NX), "_FillValue": -1.0}}
    ds.isel(lat=mine).thalweg.write(folder / "a.nc", io, cells, encoding=encoding)
    if WORLD.rank == 0:
        with xr.open_dataset(folder / "a.nc", engine="netcdf4", decode_timedelta=True) as theirs:
            same(theirs.load(), ds)
            assert encoding["T"].items() <= theirs["T"].encoding.items()
    WORLD.Barrier()
    with xr.open_dataset(
        folder / "a.nc", engine="thalweg", session=io, decomposition=cells, decode_timedelta=True
    ) as ours:
        same(ours.load(), ds.isel(lat=mine))
    # Each rank opens the file by itself, in any order, or only one rank does.
    with xr.open_dataset(
        folder / "a.nc", engine="thalweg", decomposition={"lat": mine}, decode_timedelta=True
    ) as ours:
        if WORLD.rank == WORLD.size - 1:
            same(ours.load(), ds.isel(lat=mine))
        with pytest.raises(tw.Error) if WORLD.size > 1 else pytest.raises(ValueError):
            ds.thalweg.write(folder / "b.nc", mode="w" if WORLD.size > 1 else "x")


def test_irregular_parts(io, folder):
    """Tests rows of ranks that divide the columns differently, so that coordinates are in the
    parts of several ranks."""
    ds = dataset().drop_vars("region")
    boxes = {1: [(0, 0, NY, NX)], 2: [(0, 0, 3, NX), (3, 0, 5, NX)]}.get(
        WORLD.size, [(0, 0, 3, NX), (3, 0, 5, 2), (3, 2, 5, 3)] + [(0, 0, 0, 0)] * WORLD.size
    )
    j, i, nj, ni = boxes[WORLD.rank]
    cells = io.decompose(lat=NY, lon=NX, start=(j, i), count=(nj, ni))
    mine = {"lat": slice(j, j + nj), "lon": slice(i, i + ni)}
    ds.isel(mine).thalweg.write(folder / "i.nc", io, cells)
    WORLD.Barrier()
    with xr.open_dataset(folder / "i.nc", engine="netcdf4", decode_timedelta=True) as theirs:
        same(theirs.load(), ds)
    with xr.open_dataset(
        folder / "i.nc", engine="thalweg", session=io, decomposition=cells, decode_timedelta=True
    ) as ours:
        same(ours.load(), ds.isel(mine))


def test_lazy_and_partial(io, folder):
    ds = dataset()[["T", "counts"]]
    ds.thalweg.write(folder / "a.nc", io)
    for session in (None, io):
        with xr.open_dataset(folder / "a.nc", engine="thalweg", session=session) as ours:
            assert not ours["T"].variable._in_memory
            for key in (
                {"time": 1, "lat": slice(2, 6, 2)},
                {"lat": [5, 1, 3], "lon": slice(None, None, -1)},
                {"lon": slice(0, 0)},
                {"time": -1, "lat": -2, "lon": 0},
            ):
                np.testing.assert_array_equal(ours["T"].isel(key), ds["T"].isel(key))
            picked = ours["T"].sel(time="2000-01-01T06", lat=-70)
            np.testing.assert_array_equal(picked, ds["T"][1, 0])


def test_appending(io, folder, part):
    cells, mine = part
    ds = dataset().drop_vars("region")
    write = ds.isel(lat=mine)
    hours = {"leap": {"units": "hours"}}  # xarray would choose days from the first value, 0
    write.isel(time=slice(0, 1)).thalweg.write(folder / "a.nc", io, cells, encoding=hours)
    # Times of another day than that of the file's units, and values that are packed as in the file.
    rest = write.isel(time=slice(1, None))
    rest["packed"].encoding = {}
    rest["time"].encoding = {}
    rest.thalweg.write(folder / "a.nc", io, cells, mode="a")
    WORLD.Barrier()
    with xr.open_dataset(folder / "a.nc", engine="netcdf4", decode_timedelta=True) as theirs:
        same(theirs.load(), ds)


def hourly(times, values=0.0, **lags):
    coords = {"time": ("time", times, {"bounds": "time_bnds"})}
    both = np.stack([times.values, times.values + np.timedelta64(1, "D")], 1)
    T = ("time", np.full(len(times), values, "f4"))
    lag = ("time", np.arange(len(times)).astype("m8[D]"))
    return xr.Dataset({"T": T, "time_bnds": (("time", "nv"), both), "lag": lag, **lags}, coords)


def test_appending_does_not_change_what_is_in_the_file(io, folder):
    """Tests that units which new values need do not replace those in the file, because
    attributes apply to all records."""
    days = pd.date_range("2000-01-01", periods=4)
    first, second = hourly(days[:2]), hourly(days[2:], 1)
    path, append = folder / "a.nc", {"mode": "a", "unlimited_dims": "time"}
    first.thalweg.write(path, io, unlimited_dims="time", encoding={"T": {"_FillValue": None}})
    finer = hourly(pd.date_range("2000-01-03T06", periods=2, freq="6h"))
    lags = second.assign(lag=("time", np.array([36, 48], "m8[h]")))
    packed = {"T": {"scale_factor": 0.5, "dtype": "i2"}}
    for bad, encoding in ((finer, {}), (lags, {}), (second, packed)):
        with pytest.raises(ValueError, match="cannot be appended"):
            bad.thalweg.write(path, io, **append, encoding=encoding)
    for bad in (second.drop_vars("lag"), second.rename(time_bnds="bnds")):
        fails("TW_EDIFFERENT", lambda bad=bad: bad.thalweg.write(path, io, **append))
    second["T"][1] = np.nan
    second.thalweg.write(path, io, **append)  # even after failed calls
    WORLD.Barrier()
    with xr.open_dataset(path, engine="netcdf4", decode_timedelta=True) as theirs:
        expected = xr.concat([first, second], "time")
        xr.testing.assert_equal(theirs.load(), expected)
        assert "_FillValue" not in theirs["T"].encoding


def test_times_that_start_elsewhere_on_each_rank(io, folder):
    """Tests times that start elsewhere on each rank: units chosen from a rank's first time would
    differ."""
    j0, nj = rows(NY)
    times = pd.date_range("2001-03-04", periods=NY, freq="36h")
    ds = xr.Dataset({"start": ("lat", times)})
    ds.isel(lat=slice(j0, j0 + nj)).thalweg.write(folder / "t.nc", io, {"lat": (j0, NY)})
    WORLD.Barrier()
    with xr.open_dataset(folder / "t.nc", engine="netcdf4") as theirs:
        same(theirs.load(), ds)


def test_wrong_arguments(io, folder, part):
    cells, mine = part
    ds = dataset()
    wrong = WORLD.rank == WORLD.size - 1
    for bad, arguments in (
        (ds.isel(lat=slice(0, 1)) if wrong else ds.isel(lat=mine), {"decomposition": cells}),
        (ds.assign(o=("lat", [object()] * NY)) if wrong else ds, {}),
        (ds, {"unlimited_dims": ["time", "lat"]}),
        (ds.transpose("lat", "time", "lon"), {}),
        (ds, {"encoding": {"none": {}}}),
        (ds, {"encoding": {"T": {"compression": "szip"}}}),
        (ds, {"decomposition": io.decompose_list(lat=NY, listed="lat", indices=[])}),
        (ds, {"decomposition": 3}),
    ):
        with pytest.raises((ValueError, TypeError, NotImplementedError)):
            bad.thalweg.write(folder / "w.nc", io, **arguments)
        assert all(WORLD.allgather(True))
    if WORLD.size > 1:
        with pytest.raises(ValueError, match="differ"):
            (ds if wrong else ds[["T"]]).thalweg.write(folder / "w.nc", io)
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(folder / "none.nc", engine="thalweg", session=io)
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(folder / "none.nc", engine="thalweg")


def test_what_cannot_be_stored_leaves_no_file(io, folder):
    good = xr.Dataset({"v": ("x", np.ones(3))})
    for bad in (
        good.assign(h=("x", np.ones(3, "f2"))),
        good.assign(c=("x", np.ones(3, "c8"))),
        good.assign({"a/b": ("x", np.ones(3))}),
        good.assign({"v": ("x ", np.ones(3))}),
        good.assign_attrs(none=None),
        good.assign(w=("x", np.ones(3), {"time": np.datetime64("2000-01-01")})),
        good.assign(w=("x", np.ones(3), {"-a": 1})),
    ):
        with pytest.raises((tw.Error, ValueError)):
            bad.thalweg.write(folder / "s.nc", io)
        io.comm.barrier()
        assert not list(folder.glob("s.nc*"))
    good.thalweg.write(folder / "s.nc", io)
    with xr.open_dataset(folder / "s.nc") as ds:
        xr.testing.assert_identical(ds.load(), good)


def test_dimensions_in_another_order(io, folder):
    """Tests that dimensions are not matched by their lengths."""
    square = xr.DataArray(field(4, 4), dims=("lat", "lon"))
    cells = io.decompose(lat=4, lon=4, boxes=[((0, 0), (4, 4))] if io.rank == 0 else [])
    part = square if io.rank == 0 else square[:0, :0]
    with io.create(folder / "o.nc") as f:
        f.define_dim("time", None)
        f.define("T", "f8", "lat lon", cells)
        f.define("same", "f8", "time lon lat")
        fails("TW_ESHAPE", lambda: f.put("T", part.T), everywhere=False)
        fails("TW_ESHAPE", lambda: f.put("same", square), everywhere=False)
        f["T"] = part
        f["same"] = square.T
        f.end_step()
        f["same"] = square.rename(lat="a", lon="b").T  # other names do not indicate the order
        f.end_step()
    restart = io.restart()
    restart.add("T", part, "lat lon", cells, copy=True)
    fails(
        "TW_ESHAPE",
        lambda: restart.add("T", part.T, "lat lon", cells, copy=True),
        everywhere=False,
    )
    assert np.array_equal(as_netcdf4(folder / "o.nc", "T"), square)
    assert np.array_equal(as_netcdf4(folder / "o.nc", "same"), [square.T, square.T])


def test_attributes_of_several_strings(io, folder):
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "s.nc", "w") as f:
            f.setncattr_string("names", ["a", "b"])
            f.title = "a title"
            f.createVariable("x", "f8", ()).setncattr_string("flags", ["c", "d"])
            f["x"].units = "K"
    WORLD.Barrier()
    for session in (None, io):
        with (
            pytest.warns(UserWarning, match="is left out") as caught,
            xr.open_dataset(folder / "s.nc", engine="thalweg", session=session) as ours,
        ):
            assert ours.attrs == {"title": "a title"} and ours["x"].attrs == {"units": "K"}
        assert {str(w.message).split("'")[1] for w in caught} == {"names", "flags"}
    with io.open(folder / "s.nc") as f:
        fails("TW_EUNSUPPORTED", lambda: f.attrs["names"], everywhere=False)


def test_pickle(io, folder):
    import pickle

    ds = dataset()[["T"]]
    ds.thalweg.write(folder / "p.nc", io)
    with xr.open_dataset(folder / "p.nc", engine="thalweg", chunks=None) as ours:
        copy = pickle.loads(pickle.dumps(ours))
    same(copy.load(), ds)
    copy.close()
    with (
        xr.open_dataset(folder / "p.nc", engine="thalweg", session=io) as ours,
        pytest.raises(TypeError, match="session"),
    ):
        pickle.dumps(ours)


def test_names_may_be_spelt_otherwise(io, folder):
    """Tests names in other spellings, also if records are appended to a packed variable: the
    file's packing applies."""
    one, two = "\u00e9t", "e\u0301t"
    ds = xr.Dataset(
        {two: (("time", "y"), np.arange(8.0).reshape(2, 4) / 4)}, coords={"time": [0.0, 1.0]}
    )
    packed = {two: {"dtype": "i2", "scale_factor": 0.25, "_FillValue": -9}}
    path = folder / "a.nc"
    ds.thalweg.write(path, session=io, encoding=packed, unlimited_dims="time")
    later = ds.assign_coords(time=[2.0, 3.0])
    later.thalweg.write(path, session=io, mode="a", unlimited_dims="time")
    with xr.open_dataset(path) as found:
        assert found[one].encoding["dtype"] == np.int16
        assert np.array_equal(found[one], np.vstack([ds[two], later[two]]))
