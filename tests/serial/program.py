# SPDX-License-Identifier: Apache-2.0
"""Tests a package without MPI: one process writes and reads, and communicators of several ranks
are refused."""

import os
import tempfile

import numpy as np
import thalweg as tw


class Communicator:
    """A stand-in for a communicator of mpi4py, as in a program that has MPI itself."""

    def __init__(self, size):
        self.size = size

    def py2f(self):
        return 1


os.chdir(tempfile.mkdtemp())
T = np.arange(24, dtype="f4").reshape(4, 6)
for comm in (None, Communicator(1)):
    with tw.Session(comm, service="background") as io:
        assert (io.rank, io.size, io.comm) == (0, 1, None)
        cells = io.decompose(lat=4, lon=6)
        with io.create("a.nc") as f:
            f.define("T", "f4", "time lat lon", cells)
            for step in range(3):
                f["T"] = T + step
                f.end_step()
        with io.open("a.nc") as f:
            assert np.array_equal(f.get("T", record=2), T + 2)
try:
    tw.Session(Communicator(3))
    raise AssertionError("a communicator of 3 ranks was accepted")
except tw.Error as error:
    assert error.name == "TW_EMPI" and "built without MPI" in str(error), error

# The end of the interpreter closes open files.
left = tw.Session()
g = left.create("b.nc")
g.define("T", "f4", "time lat lon", left.decompose(lat=4, lon=6))
g["T"] = T
print(os.getcwd())
