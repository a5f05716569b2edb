# SPDX-License-Identifier: Apache-2.0
"""A Python program with its own copies of netCDF and HDF5, which no other library sees."""

import netCDF4
import numpy as np

for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"):
    with netCDF4.Dataset(f"{kind}.nc", "w", format=kind) as file:
        file.createDimension("t", None)
        file.createDimension("n", 6)
        more = {"zlib": True, "chunksizes": (1, 3)} if kind.startswith("NETCDF4") else {}
        v = file.createVariable("v", "f4", ("t", "n"), **more)
        v.units = "m"
        v[:3] = np.arange(18.0).reshape(3, 6)
        if kind == "NETCDF4":
            file.names = ["one", "two"]
            words = file.createGroup("inside/deeper").createVariable("words", str, ("n",))
            words[1] = "w"
            file.createDimension("u", None)
            file.createVariable("x", "i8", ("t", "u"))[1, 4] = 7
            pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
            file.createVariable("pairs", pair, ("n",))[2] = (3, 4.5)
    with netCDF4.Dataset(f"{kind}.nc", "a") as file:
        file["v"][3] = 5
    with netCDF4.Dataset(f"{kind}.nc") as file:
        print(file.data_model, file["v"][:].tolist(), file["v"].chunking())
        if kind == "NETCDF4":
            print(file.names, file["inside/deeper/words"][:].tolist(), file["x"][:].tolist())
            print(file["pairs"][:].tolist(), file.cmptypes["pair"].dtype)
try:
    netCDF4.Dataset("none.nc")
except OSError as e:
    print(type(e).__name__, e.errno)
