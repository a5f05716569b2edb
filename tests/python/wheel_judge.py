#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the files of wheel_program.py have what so many ranks wrote. Started by wheel.sh."""

import sys

import netCDF4
import numpy as np

expected = 100.0 * np.arange(4)[:, None] + np.arange(5 * int(sys.argv[1]))
for name, model in [("cdf5", "NETCDF3_64BIT_DATA"), ("netcdf4", "NETCDF4")]:
    with netCDF4.Dataset(f"wheel_{name}.nc") as data:
        assert data.data_model == model, data.data_model
        assert (data["T"][:] == expected).all(), data["T"][:]
