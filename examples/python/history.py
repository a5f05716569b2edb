# SPDX-License-Identifier: Apache-2.0
"""Writes monthly means and daily maxima, as a configuration asks for them:

mpirun -n 4 python history.py
"""

import numpy as np
import thalweg as tw
from mpi4py import MPI

CONFIGURATION = """
[[stream]]
name = "month"
every = "1 month"
fields = ["tas"]

[[stream]]
name = "day"
every = "1 day"
op = "max"
fields = ["tas"]
new_file = "1 month"
"""

NY, NX = 90, 180

with tw.Session(MPI.COMM_WORLD) as io:
    cells = io.split(lat=NY, lon=NX)
    (start, count) = cells.boxes[0] if cells.boxes else ((0, 0), (0, 0))
    lat = np.linspace(-89, 89, NY)

    def temperature(step):
        """Returns temperatures: a warm tropical belt, with a daily cycle."""
        warm = 255 + 45 * np.cos(np.radians(lat[start[0] : start[0] + count[0]]))
        hour = 3 * np.sin(np.pi * step / 2 + np.linspace(0, 2 * np.pi, NX))
        return warm[:, None] + hour[start[1] : start[1] + count[1]]

    with io.history(CONFIGURATION, calendar="noleap", start="2000-01-01") as h:
        h.coordinate("lat", lat, units="degrees_north", standard_name="latitude")
        h.field("tas", "f4", "lat lon", cells, units="K", standard_name="air_temperature")
        for step in range(1, 4 * 59 + 1):
            h.time = 21600 * step
            h["tas"] = temperature(step)
            h.end_step()
