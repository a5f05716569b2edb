# SPDX-License-Identifier: Apache-2.0
"""Reads the file of dataset.cpp with common tools of users, and checks the values.

Usage: readers.py FILE
"""

import json
import sys

import netCDF4
import numpy as np
import xarray as xr
from file_tools import run_tools
from scipy.io import netcdf_file

NLON, NLAT, NLEV, NRECORDS = 45, 31, 13, 3


def pattern(a, b, c, d):
    return ((((a * 31 + b) * 37 + c) * 41 + d) % 10007) * 0.25


def grids(*lengths):
    return np.meshgrid(*(np.arange(n, dtype=np.int64) for n in lengths), indexing="ij")


def expected():
    t, k, j, i = grids(NRECORDS, NLEV, NLAT, NLON)
    values = {
        "lat": -90.0 + 180.0 * np.arange(NLAT) / (NLAT - 1),
        "lon": 360.0 * np.arange(NLON) / NLON,
        "lev": (10.0 * (np.arange(NLEV) + 1)).astype("f4"),
        "time": 0.25 * np.arange(NRECORDS),
        "T": (200.0 + pattern(t, k, j, i)).astype("f4"),
        "Q": pattern(t + 5, k, j, i) * 1e-6,
        "version": np.int16(7),
    }
    t, j, i = grids(NRECORDS, NLAT, NLON)
    pressure = (90000.0 + pattern(t, 1, j, i)).astype("f4")
    values["PS"] = np.ma.masked_where(t == 1, pressure)
    values["mask"] = ((i + j + t) % 2).astype("i1")
    j, i = grids(NLAT, NLON)
    surface = (pattern(0, 0, j, i) * 4).astype("i4")
    values["PHIS"] = np.ma.masked_where((j < 7) | (j >= 22), surface)
    return values


ATTRIBUTES = {
    "T": {"units": "K", "long_name": "température"},
    "lat": {"units": "degrees_north", "standard_name": "latitude"},
    "time": {"units": "days since 2000-01-01 00:00:00", "calendar": "noleap"},
    "PS": {"units": "Pa"},
}


def same(name, got, wanted):
    got = np.ma.asarray(got)
    wanted = np.ma.asarray(wanted)
    assert got.shape == wanted.shape, f"{name}: shape {got.shape}, expected {wanted.shape}"
    masks_equal = np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(wanted))
    assert masks_equal, f"{name}: the filled elements differ"
    equal = np.array_equal(got.filled(0), wanted.filled(0))
    assert equal, f"{name}: the values differ"


def check_netcdf4(path):
    with netCDF4.Dataset(path) as data:
        assert data.data_model == "NETCDF3_64BIT_OFFSET", data.data_model
        assert list(data.dimensions) == ["lat", "lon", "lev", "time", "text"]
        assert data.dimensions["time"].isunlimited()
        for name, wanted in expected().items():
            same(name, data[name][...], wanted)
        for name, attributes in ATTRIBUTES.items():
            for key, value in attributes.items():
                assert data[name].getncattr(key) == value, f"{name}:{key}"
        assert data.title == "thalweg test history"
        assert data.empty == ""
        assert data.expected_records == NRECORDS
        assert list(data.doubles) == [1.5, -2.25, 1e300]
        assert data["Q"]._FillValue == -999.0
        assert list(data["PHIS"].flags) == [-1, 0, 1]
        assert data["PHIS"].table == 129 and data["PHIS"].table.dtype == "i2"
        labels = netCDF4.chartostring(data["label"][...])
        assert [str(s) for s in labels] == [f"record {r}" for r in range(NRECORDS)], labels


def check_scipy(path):
    fills = {"PS": np.float32(9.9692099683868690e36), "PHIS": -2147483647}
    with netcdf_file(path, "r", mmap=False) as data:
        for name, wanted in expected().items():
            got = np.array(data.variables[name].data)
            if name in fills:
                got = np.ma.masked_equal(got, fills[name])
            same(name, got, wanted)
        assert data.variables["T"].units == b"K"


def check_xarray(path):
    for engine in ("netcdf4", "scipy"):
        with xr.open_dataset(path, engine=engine, decode_times=False) as data:
            sizes = {"lat": NLAT, "lon": NLON, "lev": NLEV, "time": NRECORDS}
            assert {name: data.sizes[name] for name in sizes} == sizes
            wanted = expected()
            same("T", data["T"].values, wanted["T"])
            same("Q", data["Q"].values, wanted["Q"])
            assert data["T"].dims == ("time", "lev", "lat", "lon")
            chosen = data["T"].sel(lev=30.0, time=0.5).isel(lat=4, lon=5)
            assert float(chosen) == float(wanted["T"][2, 2, 4, 5])


def check_tools(path):
    tools = (
        ["ncvalidator", path],
        ["ncdump", "-h", path],
        ["ncdump", "-v", "time,label", path],
    )
    for name, text in run_tools(tools):
        if name == "ncdump":
            assert 'T:units = "K"' in text
            assert "UNLIMITED ; // (3 currently)" in text


def main():
    path = sys.argv[1]
    done = {}
    for check in (check_netcdf4, check_scipy, check_xarray, check_tools):
        check(path)
        done[check.__name__] = "passed"
    print(json.dumps(done))


if __name__ == "__main__":
    main()
