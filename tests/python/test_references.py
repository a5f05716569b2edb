# SPDX-License-Identifier: Apache-2.0
"""Tests references to the library's files: zarr and xarray read the values that netCDF4 reads."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from helpers import WORLD, field, rows

sys.path.append(str(Path(__file__).parent.parent / "zarr"))

from opened import compare, open_references

# Sizes that are not copied into the references.
NZ, NY, NX = 5, 60, 70


def on_root(act):
    """Runs a function on rank 0, and raises its error on all ranks."""
    problem = None
    WORLD.Barrier()
    if WORLD.rank == 0:
        try:
            act()
        except Exception as found:
            problem = found
    if problem:
        WORLD.bcast(repr(problem))
        raise problem
    other = WORLD.bcast(None)
    assert other is None, other


def refer(path):
    """Makes the references in another process, which must not be one of the ranks."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_"))
    }
    command = [sys.executable, "-m", "thalweg", "zarr", path]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def write(io, path, records=3, sync=False, **settings):
    j, nj = rows(NY)
    cells = io.decompose(z=NZ, y=NY, x=NX, start=(0, j, 0), count=(NZ, nj, NX))
    plane = io.decompose(y=NY, x=NX, start=(j, 0), count=(nj, NX))
    letters = io.decompose(y=NY, n=4, start=(j, 0), count=(nj, 4))
    with io.create(path, attrs={"references": "doi", "n": 3}, **settings) as f:
        f.define("T", "f4", "time z y x", cells, units="K", _FillValue=np.float32(-1))
        f.define("U", "f8", "time z y x", cells)
        f.define("mask", "i1", "y x", plane)
        f.define("area", "f8", "y x", plane)
        f.define("name", "S1", "y n", letters)
        f.define("time", "f8", "time", units="days since 2000-01-01")
        f.define("none", "i2", "time y x", plane)
        f["mask"] = field(NY, NX, seed=1, dtype="i1")[j : j + nj]
        f["area"] = field(NY, NX, seed=2)[j : j + nj]
        f["name"] = np.full((nj, 4), b"ab"[0:1], "S1")
        for k in range(records):
            f["T"] = field(NZ, NY, NX, seed=10 + k, dtype="f4")[:, j : j + nj]
            f["U"] = field(NZ, NY, NX, seed=20 + k)[:, j : j + nj]
            f["time"] = float(k)
            f.end_step()
            if sync:
                f.sync()
                on_root(lambda: check(path))


def check(path):
    refer(path)
    compare(f"{path}.json", path)
    with xr.open_dataset(path) as a, open_references(f"{path}.json") as b:
        if not path.name.startswith("netcdf4"):
            xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())
    assert not list(path.parent.glob("*.json.part*"))


@pytest.mark.parametrize("form", ["cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"])
@pytest.mark.parametrize("service", ["inline", "background"])
def test_formats(io, folder, form, service):
    path = folder / f"{form}.nc"
    write(io, path, format=form, service=service)
    on_root(lambda: check(path))


@pytest.mark.parametrize("form", ["cdf2", "netcdf4"])
@pytest.mark.parametrize("service", ["inline", "background"])
def test_while_a_file_is_written(io, folder, form, service):
    path = folder / "live.nc"
    write(io, path, publish="live", format=form, service=service, sync=True)
    on_root(lambda: check(path))


def test_a_file_that_is_replaced(io, folder):
    """Tests that references do not stay beside a file whose data have other places."""
    path = folder / "r.nc"
    for publish in ("close", "live"):
        write(io, path, records=1)
        on_root(lambda: check(path))
        write(io, path, records=1, publish=publish)
        on_root(lambda: gone(f"{path}.json"))
    if WORLD.rank == 0:
        Path(f"{path}.json").write_text("{}")  # a file of another program
    write(io, path, records=1)
    on_root(lambda: Path(f"{path}.json").unlink())


def gone(path):
    assert not Path(path).exists()
