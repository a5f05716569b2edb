# SPDX-License-Identifier: Apache-2.0
"""The smallest complete program: each rank writes some rows of a field, and reads others.

mpirun -n 2 python hello.py
"""

import numpy as np
import thalweg as tw
from mpi4py import MPI

nx, nz, ny, nsteps = 8, 4, 6, 3
comm = MPI.COMM_WORLD
js = comm.rank * ny // comm.size
nj = (comm.rank + 1) * ny // comm.size - js

with tw.Session(comm) as io:
    cells = io.decompose(lev=nz, lat=ny, lon=nx, start=(0, js, 0), count=(nz, nj, nx))
    T = np.zeros((nz, nj + 2, nx + 2), "f4")  # with a halo

    with io.create("hello.nc", Conventions="CF-1.11") as f:
        f.define("T", "f4", "time lev lat lon", cells, units="K")
        f.define("time", "f8", "time", units="seconds since 2000-01-01")
        for step in range(nsteps):
            T += 1  # the model computes
            f["T"] = T[:, 1:-1, 1:-1]
            f["time"] = 600.0 * step
            f.end_step()

    columns = io.split(lat=ny, lon=nx, lev=nz, along="lon", halo={"lon": 1}, edges="periodic")
    with io.open("hello.nc") as f:
        last = f.get("T", columns, record=-1)  # in the order lat, lon, lev
        print(f"rank {comm.rank} has {last.shape}, mean {last.mean()}")
