# SPDX-License-Identifier: Apache-2.0
"""xarray on several ranks: each reads its part of a file, and writes its part of another.

mpirun -n 2 python hello.py && mpirun -n 3 python dataset.py
"""

import thalweg as tw
import thalweg.xarray
import xarray as xr
from mpi4py import MPI

with tw.Session(MPI.COMM_WORLD) as io:
    part = io.split(lat=6, lon=8, along="lat")
    with xr.open_dataset("hello.nc", engine="thalweg", session=io, decomposition=part) as ds:
        mean = ds[["T"]].mean("lev", keep_attrs=True)
        mean.attrs["title"] = "vertical means"
        mean.thalweg.write("mean.nc", io, part, unlimited_dims="time")
