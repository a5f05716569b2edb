# SPDX-License-Identifier: Apache-2.0
"""Soil in Python, with one field in the order of the grid and another in the opposite order. It
writes daily means and instants of each half day to a file for each month, an annual mean, monthly
maxima, instants in a region, means of seasons and of a month's diurnal cycle, what was gained in
intervals of growing length, and instants at two times."""

import numpy as np
import thalweg as tw
from mpi4py import MPI

CONFIGURATION = """
[history]
time_units = "hours since 2000-01-01"

[[stream]]
name = "day"
every = "1 day"
fields = ["mrso"]
new_file = "1 month"
path = "day_{start:YYYY-MM}.nc"

[[stream]]
name = "12h"
every = "12 hours"
op = "instant"
fields = ["mrso"]
new_file = "1 month"
path = "12h_{start:YYYY-MM}.nc"

[[stream]]
name = "year"
every = "1 year"
fields = ["mrso"]
path = "year.nc"

[[stream]]
name = "wettest"
every = "1 month"
op = "max"
fields = ["mrsos"]
path = "wettest.nc"

[[stream]]
name = "valley"
every = "1 day"
op = "instant"
fields = ["mrso"]
region = "valley"
path = "valley.nc"

[[stream]]
name = "season"
every = "season"
fields = ["mrso"]
path = "season.nc"

[[stream]]
name = "diurnal"
every = "1 month"
op = "diurnal"
bins = 4
fields = ["mrso"]
path = "diurnal.nc"

[[stream]]
name = "gain"
every = ["1 day to 10 days", "5 days to 20 days", "1 week"]
op = "difference"
fields = ["mrso"]
path = "gain.nc"

[[stream]]
name = "forecast"
times = ["36 hours", "2000-01-06"]
op = "instant"
fields = ["mrso"]
path = "forecast.nc"

[region.valley]
index = { lat = [2, 4], lon = [1, 2] }
"""

NY, NX, STEPS, DT = 7, 6, 4 * 366, 21600

with tw.Session(MPI.COMM_WORLD) as io:
    if not io.is_server:
        cells = io.split(lat=NY, lon=NX)
        (y, x), (ny, nx) = cells.boxes[0] if cells.boxes else ((0, 0), (0, 0))
        turned = io.decompose(lon=NX, lat=NY, start=(x, y), count=(nx, ny))
        position = np.arange(x, x + nx) + 10 * np.arange(y, y + ny)[:, None]
        with io.history(CONFIGURATION, calendar="standard", start="2000-01-01") as history:
            history.field("mrso", "f4", "lat lon", cells, units="kg m-2")
            history.field("mrsos", "f4", "lon lat", turned, units="kg m-2")
            for step in range(1, STEPS + 1):
                water = (position + 7 * step % 23).astype("f4")
                history.time = DT * step
                history["mrso"] = water
                history["mrsos"] = 2 * water.T
                history.end_step()
