#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of each format on all ranks and reads it back. Started by wheel.sh.

    wheel_program.py LIBRARY [MODULES...]

LIBRARY is the file name of the MPI that must be in use, or "none"; the modules are imported first.
"""

import importlib
import os
import re
import sys

import numpy as np

N = 20000  # elements per rank: chunks are too large to be copied into the references
FILES = {
    "cdf5.nc": {"format": "cdf5"},
    "netcdf4.nc": {"format": "netcdf4", "deflate": 1},
    "store": {"files": "zarr"},
}


def main() -> None:
    library = sys.argv[1]
    for name in sys.argv[2:]:
        importlib.import_module(name)
    comm = None
    rank, size = 0, 1
    if library != "none":
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        rank, size = comm.rank, comm.size
    import thalweg as tw

    values = 100.0 * np.arange(4)[:, None] + np.arange(N * rank, N * (rank + 1))
    for name, settings in FILES.items():
        for service in ("inline", "background"):
            path = f"wheel_{service}_{name}"
            with tw.Session(comm, service=service) as io:
                d = io.decompose(x=N * size, start=(N * rank,), count=(N,))
                with io.create(path, **settings) as f:
                    f.define("T", "f8", "time x", d)
                    for row in values:
                        f["T"] = row
                        f.end_step()
                with io.open(path) as f:
                    assert (f.get("T", d, record=2) == values[2]).all(), f.get("T", d, record=2)
    with open("/proc/self/maps") as maps:
        text = maps.read()
    found = set(re.findall(r"\S*/(libmpi(?:ch)?\.so\.\d+)", text))
    assert found == (set() if library == "none" else {library}), found
    others = set(re.findall(r"/usr/lib\S*/(lib(?:netcdf|hdf5)\S*)", text))
    assert not others, others
    print(f"rank {rank} of {size}, {library}: ok", os.path.basename(sys.prefix))


if __name__ == "__main__":
    main()
