#!/usr/bin/env python3
"""Runs a program written for PIO, and checks its files with netCDF4, or its stores with zarr:
judge.py NAME COMMAND..."""
# SPDX-License-Identifier: Apache-2.0

import os
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np


def same(what: str, got, expected) -> None:
    got = np.ma.filled(got) if np.ma.isMaskedArray(got) else got
    if not np.array_equal(np.asarray(got), np.asarray(expected)):
        got, expected = (np.asarray(values).ravel()[:8] for values in (got, expected))
        sys.exit(f"{what}: {got}..., expected {expected}...")


def opened(name: str) -> netCDF4.Dataset:
    file = netCDF4.Dataset(name)
    file.set_auto_mask(False)
    return file


def opened_store(name: str):
    import zarr

    return zarr.open_consolidated(name)


def attributes(of) -> dict:
    return dict(of.attrs) if hasattr(of, "attrs") else of.__dict__


def cells(ny: int, nx: int, k: int, record: int) -> np.ndarray:
    j, i = np.mgrid[1 : ny + 1, 1 : nx + 1]
    return i + 100 * j + 10000 * k + 100000 * record


def cice() -> None:
    nx, ny, ncat = 20, 11, 3
    stores = os.environ.get("THALWEG_FORMAT") == "zarr"
    for iotype, model in ((1, "NETCDF3_64BIT_OFFSET"), (3, "NETCDF4"), (4, "NETCDF4")):
        name = f"cice_history.{iotype}.nc"
        file = opened_store(name) if stores else opened(name)
        if not stores and not file.data_model.startswith(model):
            sys.exit(f"{file.data_model}, expected {model}")
        same("time", file["time"][:], [0.5, 1.0])
        same("time_bounds", file["time_bounds"][:], [[0, 1], [1, 2]])
        for record in (1, 2):
            same("aice", file["aice"][record - 1], cells(ny, nx, 0, record))
            same("Tsfc", file["Tsfc"][record - 1], cells(ny, nx, 0, record).astype("f4"))
            for k in range(ncat):
                same("aicen", file["aicen"][record - 1, k], cells(ny, nx, k + 1, record))
        for k in range(ncat):
            same("latt_bounds", file["latt_bounds"][:, :, k], cells(ny, nx, k + 1, 0))
        for field, fill in (("aice", 1e30), ("Tsfc", np.float32(1e30))):
            its = file[field]
            same(f"{field}'s fill value", its.fill_value if stores else its._FillValue, fill)
        its = attributes(file)
        if its["title"] != "sea ice" or not its["history"].startswith("from rank "):
            sys.exit(f"attributes: {its}")
        its = attributes(file["time"])
        if its["units"] != "days since 0001-01-01":
            sys.exit(f"units: {its}")
        if iotype == 4 and stores:
            same("chunks", file["aice"].chunks, [1, 4, nx])
        elif iotype == 4 and (
            file["aice"].chunking() != [1, 4, nx] or not file["aice"].filters()["zlib"]
        ):
            sys.exit(f"chunks {file['aice'].chunking()}, filters {file['aice'].filters()}")


def every() -> None:
    lengths = [3, 4, 2, 3, 2, 2, 2]
    file = opened("every.nc")
    fills = {"int": -2147483647, "short": -32767, "real": 9.96921e36, "double": 9.96921e36}
    for name, fill in fills.items():
        same(f"{name}_0", file[f"{name}_0"][...], 12)
        same(f"{name}_time", file[f"{name}_time"][:], [4, 5])
        same(f"{name}_several", file[f"{name}_several"][:].ravel(), range(1, 13))
        same(f"{name}_other", file[f"{name}_other"][:].ravel(), range(-1, -13, -1))
        same("one", file[f"{name}_1"].one, 3)
        same("three", file[f"{name}_1"].three, [3, 4, 5])
        same(name, file.getncattr(name), 6)
        for rank in range(1, 8):
            numbers = np.arange(1, np.prod(lengths[:rank]) + 1)
            shape = lengths[:rank][::-1]
            if (name, rank) != ("int", 2):
                same(f"{name}_{rank}", file[f"{name}_{rank}"][:], numbers.reshape(shape))
            for frame in (1, 2):
                got = file[f"{name}_d{rank}"][frame - 1].ravel()
                same(f"{name}_d{rank}", got[::2], numbers[::2] * frame)
                if not np.allclose(got[1::2].astype("f8"), fill, rtol=1e-6):
                    sys.exit(f"{name}_d{rank}: {got[1::2]}, expected the fill value")
    same("int_2", file["int_2"][:], np.full((4, 3), 3))
    same("letters", b"".join(file["letters"][:]), b"sea ice\0\0\0")
    rows = [b"".join(row).rstrip(b"\0") for row in file["strings"][:]]
    same("strings", rows, [b"ab", b"index", b"defg"])
    rows = [b"".join(row).rstrip(b"\0") for row in file["table"][:].reshape(6, 10)]
    same("table", rows, [b"a11", b"a21", b"a31", b"a12", b"a22", b"a32"])
    rows = [b"".join(row).rstrip(b"\0") for row in file["dates"][:]]
    same("dates", rows, [b"2001-02-02", b"20010203"])
    same("units", [file.units, file["letters"].units], ["kg m-2", "kg m-2"])
    same("empty", file.getncattr("empty"), "")


def clm() -> None:
    file = opened("clm.nc")
    if file.data_model != "NETCDF3_64BIT_DATA":
        sys.exit(file.data_model)
    cell = np.arange(1, 46).reshape(5, 9)
    land = cell % 3 == 0
    same("pft", file["pft"][:], np.where(land, 2 * cell, -9999))
    same("year", file["year"][:], [2000, 2001, 2002])
    for frame in (1, 2, 3):
        same("pct", file["pct"][frame - 1], np.where(land, cell * frame, -32767))
    fill = netCDF4.default_fillvals["f8"]
    for k in range(4):
        same("h2osoi", file["h2osoi"][k], np.where(land, cell + 0.5 * (k + 1), fill))


def asynchronous() -> None:
    for component in (1, 2):
        for run in (1, 2):
            file = opened(f"c{component}r{run}.nc")
            frames = np.arange(1, 2 + component)
            same("time", file["time"][:], 10 * frames)
            expected = 1000 * component + 100 * frames[:, None] + np.arange(1, 11)
            same("v", file["v"][:], expected)


def pop() -> None:
    file = opened("pop.nc")
    for k in (1, 2):
        same("UVEL", file["UVEL"][k - 1], cells(14, 12, k, 0))
    j, i = np.mgrid[1:15, 1:13]
    same("KMT", file["KMT"][:], (i + j + 3) % 7)
    same("attributes", [file.nsteps_total, file.tday], [17, 3.25])
    same("runid", file.runid, "b40")


def main() -> None:
    for file in Path().glob("*.nc"):
        if file.is_dir():  # a store of an earlier run, which is not replaced
            shutil.rmtree(file)
    run = subprocess.run(sys.argv[2:], check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    globals()[sys.argv[1]]()


if __name__ == "__main__":
    main()
