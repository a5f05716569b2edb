# SPDX-License-Identifier: Apache-2.0
"""Tests data sets of many kinds: those that Thalweg writes and those that xarray writes have the
same contents, as netCDF4 reads them; and each library reads the other's files."""

import netCDF4
import numpy as np
import pandas as pd
import pytest
import thalweg.xarray  # noqa: F401
import xarray as xr
from helpers import WORLD
from test_xarray import dataset, same

pytestmark = pytest.mark.skipif(WORLD.size > 1, reason="one process")

random = np.random.default_rng(0)
TIMES = pd.date_range("2000-01-01", periods=4, freq="6h")
RECORDS = {"unlimited_dims": ["time"]}


def encoded(values, **encoding):
    ds = xr.Dataset({"v": ("x", values)})
    ds["v"].encoding = encoding
    return ds, {}


def by_time(values, dims=("time", "x")):
    return xr.Dataset({"v": (dims, values)}, {"time": TIMES[: len(values)]}), RECORDS


def times_with_bounds():
    values = np.stack([TIMES.values, TIMES.values + np.timedelta64(6, "h")], 1)
    ds = xr.Dataset({"time_bnds": (("time", "nv"), values)}, {"time": TIMES})
    ds["time"].attrs["bounds"] = "time_bnds"
    ds["time"].encoding = {"units": "hours since 1999-01-01", "calendar": "standard"}
    return ds, RECORDS


def of_types(types, values):
    return xr.Dataset({f"v{k}": ("x", np.array(values, t)) for k, t in enumerate(types)}), {}


NOT_A_TIME = np.array(["2000-01-01", "NaT", "2010-01-01T00:00:00.123456789"], "M8[ns]")
GRID = random.random((6, 8, 10))
KINDS = {
    "times": by_time(random.random((4, 3))),
    "missing times": encoded(NOT_A_TIME),
    "missing durations": encoded(np.array([1, "NaT", 5], "m8[h]").astype("m8[ns]")),
    "another calendar": encoded(
        xr.date_range("2000-02-28", periods=4, calendar="360_day", use_cftime=True)
    ),
    "bounds": times_with_bounds(),
    "text": encoded(["a", "bb", "", "日本語"]),
    "text of objects": encoded(np.array(["å", "", "c"], object)),
    "bytes": encoded(np.array([b"abc", b"d"])),
    "text by time": by_time(["a", "bb", "ccc", "d"], ("time",)),
    "names of stations": (xr.Dataset({"v": ("s", [1.0, 2.0])}, {"s": ["Oslo", "Bergen"]}), {}),
    "booleans": encoded([True, False, True]),
    "booleans by time": by_time(random.random((4, 3)) > 0.5),
    "integers": of_types(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"], [0, 1, 127]),
    "numbers": of_types(["f4", "f8"], [-0.0, np.inf, -np.inf, np.nan, 1e-40, 3.4e38]),
    "another byte order": of_types([">f4", ">f8", ">i2", ">i4", ">i8", ">u2"], [0, 1, 300]),
    "unsigned bytes": encoded(np.array([0, 128, 255], "u1"), dtype="i1", _Unsigned="true"),
    "packed unsigned bytes": encoded(
        [0.0, 12.7, np.nan, 20], dtype="i1", _Unsigned="true", _FillValue=-1, scale_factor=0.1
    ),
    "packed": encoded(
        [0.0, 12.7, np.nan], dtype="i2", scale_factor=0.01, add_offset=20.0, _FillValue=-32768
    ),
    "NaN as fill value": encoded(np.array([1, np.nan], "f4"), _FillValue=np.float32(np.nan)),
    "another fill value": encoded([1, np.nan], _FillValue=1e20, missing_value=1e20),
    "no fill value": encoded([1.0, 2.0], _FillValue=None),
    "Fortran's order": (xr.Dataset({"v": (("z", "y", "x"), np.asfortranarray(GRID))}), {}),
    "strides": (xr.Dataset({"v": (("z", "y", "x"), GRID[::-2, ::2, ::-1])}), {}),
    "one row repeated": (xr.Dataset({"v": (("y", "x"), np.broadcast_to(GRID[0, 0], (3, 10)))}), {}),
    "no elements": (xr.Dataset({"v": (("y", "x"), np.zeros((0, 4))), "w": ("x", [1.0] * 4)}), {}),
    "no text": encoded(np.array([], "U4")),
    "no records": by_time(np.zeros((0, 4))),
    "scalars": (xr.Dataset({"a": 3.5, "b": np.int16(7), "t": TIMES[1], "s": "text"}), {}),
    "attributes": (
        xr.Dataset(
            {"v": ("x", [1.0], {"l": [1, 2, 3], "f": np.float32(2.5), "e": "", "b": np.int8(3)})},
            attrs={"title": "å\nb", "big": 2**40, "pi": 3.14},
        ),
        {},
    ),
    "nothing": (xr.Dataset(attrs={"a": 1}), {}),
    "all of these": (dataset().drop_vars("region"), {}),
}


def read(path, engine):
    with xr.open_dataset(path, engine=engine, decode_timedelta=True) as ds:
        return ds.load()


def same_encoding(a, b):
    for name in a.variables:
        for key in ("dtype", "_FillValue", "units", "calendar", "scale_factor", "coordinates"):
            x, y = a[name].encoding.get(key), b[name].encoding.get(key)
            assert x == y or (x != x and y != y), (name, key, x, y)
    assert a.encoding["unlimited_dims"] == b.encoding["unlimited_dims"]


@pytest.mark.parametrize("form", [None, "cdf5", "netcdf4"])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(folder, kind, form):
    ds, options = KINDS[kind]
    ds.thalweg.write(folder / "a.nc", **options, **({"format": form} if form else {}))
    ds.to_netcdf(folder / "b.nc", engine="netcdf4", **options)
    theirs, expected = read(folder / "a.nc", "netcdf4"), read(folder / "b.nc", "netcdf4")
    pairs = [(theirs, expected), (read(folder / "a.nc", "thalweg"), theirs)]
    if not any(v.dtype == object or v.dtype.kind == "U" for v in expected.variables.values()):
        pairs.append((read(folder / "b.nc", "thalweg"), expected))
    for found, right in pairs:
        same(found, right)
    for found, right in pairs[1:]:
        same_encoding(found, right)


def test_several_dimensions_without_elements(folder):
    ds = xr.Dataset({"v": (("y", "x"), np.zeros((0, 0)))})
    with pytest.raises(ValueError, match="y, x have length 0"):
        ds.thalweg.write(folder / "a.nc")


def test_files_of_netcdf4(folder):
    path = folder / "p.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as f:
        for name, n in [("x", 4), ("t", None), ("n", 6)]:
            f.createDimension(name, n)
        v = f.createVariable("v", "i2", ("t", "x"), fill_value=-9)
        v.scale_factor = 0.5
        v.add_offset = np.float32(2)
        v[0:2] = np.ma.masked_array(np.arange(8.0).reshape(2, 4), np.arange(8) % 3 == 0)
        s = f.createVariable("s", "S1", ("x", "n"))
        s._Encoding = "utf-8"
        s[:] = np.array(["åb", "c", "", "long"], "U")
        b = f.createVariable("b", "i1", ("x",))
        b._Unsigned = "true"
        b[:] = np.array([0, 100, 200, 255], "u1").view("i1")
        f.createVariable("q", "f4", ("x",)).missing_value = np.float32(-1)
        f["q"][:] = [1, -1, 2, -1]
        f.createVariable("d", "f8", ("t",)).setncatts(
            {"units": "days since 2000-01-01", "calendar": "noleap"}
        )
        f["d"][:] = [0, 1.5]
    for options in [{}, {"mask_and_scale": False}, {"decode_times": False}]:
        with (
            xr.open_dataset(path, engine="thalweg", **options) as ours,
            xr.open_dataset(path, engine="netcdf4", **options) as theirs,
        ):
            xr.testing.assert_identical(ours.load(), theirs.load())


@pytest.mark.parametrize(
    "key",
    [
        {"z": -1},
        {"z": slice(None, None, -2)},
        {"z": [0, 3, 3, 1]},
        {"z": [5, 0], "y": [1, 2], "x": slice(7, 2, -3)},
        {"y": np.array([True, False] * 4)},
        {"x": slice(3, 3)},
        {"z": xr.DataArray([0, 1], dims="p"), "x": xr.DataArray([2, 3], dims="p")},
        {"z": slice(4, None, -1), "x": [-1, -2]},
    ],
)
def test_indices(folder, key):
    xr.Dataset({"v": (("z", "y", "x"), GRID)}).to_netcdf(folder / "i.nc", engine="netcdf4")
    with (
        xr.open_dataset(folder / "i.nc", engine="thalweg") as ours,
        xr.open_dataset(folder / "i.nc", engine="netcdf4") as theirs,
    ):
        xr.testing.assert_identical(ours.isel(**key).load(), theirs.isel(**key).load())
