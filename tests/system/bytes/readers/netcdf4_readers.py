# SPDX-License-Identifier: Apache-2.0
"""Reads the files of netcdf4.cpp with common tools of users.

Usage: netcdf4_readers.py FOLDER
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import xarray as xr

NZ, NY, NX, NRECORDS = 10, 19, 37, 3
NAMES = ["plain", "fixed", "deflated", "unshuffled", "shuffled", "chunked", "columns"]
NAMES += ["groomed", "granular", "granular4", "rounded", "rounded8", "groomed8", "zstd"]
TOLERANCE = {"groomed": 5e-3, "granular": 5e-4, "granular4": 5e-2, "rounded": 2e-3}


def expected(name):
    r, z, y, x = np.meshgrid(*(np.arange(n) for n in (NRECORDS, NZ, NY, NX)), indexing="ij")
    smooth = np.sin(0.1 * (x + 3 * y)) + 2 + 0.01 * z + 0.3 * r
    values = smooth * 1000 * (NAMES.index(name) + 1)
    return values[0] if name in ("fixed", "columns", "rounded8") else values


def same(name, got):
    wanted = expected(name)
    assert got.shape == wanted.shape, f"{name}: shape {got.shape}, expected {wanted.shape}"
    if got.dtype.kind == "i":
        assert np.array_equal(got, wanted.astype(got.dtype)), name
    else:
        tolerance = TOLERANCE.get(name, 1e-5)
        assert np.allclose(got, wanted, rtol=tolerance, atol=0), name


def check_netcdf4(path):
    with netCDF4.Dataset(path) as data:
        classic = "classic" in path.name
        model = "NETCDF4_CLASSIC" if classic else "NETCDF4"
        assert data.data_model == model, data.data_model
        assert data.dimensions["time"].isunlimited()
        for name in NAMES:
            if name == "zstd" and not netCDF4.__has_zstandard_support__:
                print("left out: netCDF4 cannot read zstd here")
                continue
            data[name].set_auto_mask(False)
            same(name, data[name][...])
        assert data["zstd"].filters()["zstd"]
        assert data["plain"].filters()["zlib"] == classic
        assert list(data["time"][...]) == [0, 0.5, 1]
        assert np.array_equal(data["z"][...], np.repeat([[0], [1], [2]], NZ, axis=1))


def check_xarray(path):
    with xr.open_dataset(path, engine="netcdf4", decode_times=False) as data:
        for name in ("plain", "deflated", "chunked"):
            same(name, data[name].values)


def check_tools(path):
    tools = (
        ["h5dump", "-p", "-H", str(path)],
        ["h5dump", "-d", "deflated", "-o", "/dev/null", str(path)],
        ["ncdump", "-hs", str(path)],
    )
    for tool in tools:
        if shutil.which(tool[0]) is None:
            print(f"left out: {tool[0]} is not installed")
            continue
        done = subprocess.run(tool, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(tool)}: {done.stdout}{done.stderr}"
        if tool[0] == "ncdump":
            assert "UNLIMITED ; // (3 currently)" in done.stdout
            assert "deflated:_DeflateLevel = 1" in done.stdout


def main():
    done = {}
    for path in sorted(Path(sys.argv[1]).glob("*.nc")):
        for check in (check_netcdf4, check_xarray, check_tools):
            check(path)
            done[f"{check.__name__} {path.name}"] = "passed"
    assert len(done) == 6, done
    print(json.dumps(done))


if __name__ == "__main__":
    main()
