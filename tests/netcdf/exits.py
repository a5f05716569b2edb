# SPDX-License-Identifier: Apache-2.0
"""A program that exits with a file open, and with the exit code 3.

Usage: exits.py CASE: letters for what it does: c: closes a file first; p: puts values; r: renames
the variable; m: loads mpi4py, which ends MPI when the interpreter exits
"""

import ctypes
import sys

import netCDF4

case = sys.argv[1]
if "c" in case:
    with netCDF4.Dataset("first.nc", "w") as file:
        file.createVariable("v", "S1")
if "m" in case:
    from mpi4py import MPI  # noqa: F401
file = netCDF4.Dataset("exits.nc", "w")
file.createDimension("n", 4)
file.createVariable("v", "i4", ("n",))
if "p" in case:
    file["v"][:] = [1, 2, 3, 4]
if "r" in case:
    file.renameVariable("v", "w")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(file))  # the interpreter does not close it
sys.exit(3)
