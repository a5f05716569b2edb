#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the files of wheel_program.py have the contents of so many ranks, as netCDF4-python,
h5netcdf, tensorstore and VirtualiZarr read them. Started by wheel.sh."""

import json
import sys
from pathlib import Path

import h5netcdf
import netCDF4
import numpy as np
import tensorstore
import xarray as xr
from kerchunk.df import refs_to_dataframe
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import KerchunkJSONParser

sys.path.append(str(Path(__file__).parent.parent.parent / "examples/python"))
from references import open_references
from thalweg.references import write_references

EXPECTED = 100.0 * np.arange(4)[:, None] + np.arange(20000 * int(sys.argv[1]))


def virtual(path: Path) -> None:
    """Opens the references with VirtualiZarr, and makes new ones with it."""
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    with open_virtual_dataset(
        url=f"file://{path}.json",
        registry=registry,
        parser=KerchunkJSONParser(fs_root=f"{path.parent}/"),
    ) as data:
        assert data["T"].shape == EXPECTED.shape, data
        made = data.vz.to_kerchunk(format="dict")["refs"]
    chunks = {k: v for k, v in made.items() if k.startswith("T/") and not k.startswith("T/.")}
    own = json.loads(Path(f"{path}.json").read_text())["refs"]
    for key, (_, offset, length) in chunks.items():
        assert own[key][1:] == [offset, length], (key, own[key], offset, length)


def main() -> None:
    here = Path.cwd()
    for service in ("inline", "background"):
        for name, model in [("cdf5", "NETCDF3_64BIT_DATA"), ("netcdf4", "NETCDF4")]:
            path = here / f"wheel_{service}_{name}.nc"
            with netCDF4.Dataset(path) as data:
                assert data.data_model == model, data.data_model
                assert (data["T"][:] == EXPECTED).all(), data["T"][:]
            write_references([path])
            virtual(path)
            refs_to_dataframe(f"{path}.json", f"{path}.parq")
            for form in ("json", "parq"):
                with open_references(f"{path}.{form}") as data:
                    assert (data["T"].values == EXPECTED).all(), form
        with h5netcdf.File(here / f"wheel_{service}_netcdf4.nc") as data:
            assert (data["T"][:] == EXPECTED).all(), data["T"][:]
        store = here / f"wheel_{service}_store"
        array = tensorstore.open(
            {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{store}/T/"}}
        ).result()
        assert (array.read().result() == EXPECTED).all()
        with xr.open_zarr(store, chunks=None) as data:
            assert (data["T"].values == EXPECTED).all()


if __name__ == "__main__":
    main()
