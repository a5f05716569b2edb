# SPDX-License-Identifier: Apache-2.0
"""Writes histories of an atmosphere and an ocean, whose files check_cf.py examines. Argument: a
calendar of CF."""

import sys

import numpy as np
import thalweg as tw
from mpi4py import MPI

ABOUT = """
[history]
attributes = { title = "t", history = "h", institution = "i", source = "s", references = "r" }
"""

ATMOSPHERE = """
[groups]
surface = ["tas", "pr", "ps"]
[[stream]]
name = "month"
every = "1 month"
fields = ["ta", "@surface"]
new_file = "1 year"
interval = true
path = "month_{start:YYYY}.nc"
[stream.field]
tasmax = { of = "tas", inner = { op = "max", every = "1 day" } }
tasrange = { of = "tas", inner = { op = "range", every = "1 day" } }
taswarmest = { of = "tas", inner = { op = "mean_square", every = "1 day" }, op = "max" }
tasstd = { of = "tas", op = "std" }
tassquare = { of = "tas", op = "mean_square" }
tasmin = { of = "tas", op = "min" }
prsum = { of = "pr", op = "sum" }
psrms = { of = "ps", op = "rms" }
tasweighed = { of = "tas", weight = "pr" }
psweighed = { of = "ps", weight = "pr", op = "std", inner = { op = "mean", every = "1 day" } }
[[stream]]
name = "noon"
every = "1 day"
anchor = "0001-01-01 12:00"
op = "instant"
fields = ["ta"]
levels = { dim = "plev", nearest = [85000, 50000] }
new_file = "1 month"
path = "noon_{start:YYYYMM}.nc"
file = { format = "netcdf4", deflate = 1 }
[[stream]]
name = "sites"
every = "6 hours"
op = "instant"
fields = ["@surface"]
region = "towers"
records = 100
path = "sites_{start:YYYYMMDDhh}.nc"
[[stream]]
name = "sitemeans"
every = "1 day"
fields = ["@surface", "hus"]
region = "towers"
path = "sitemeans.nc"
[[stream]]
name = "hybrid"
every = "5 days"
anchor = "start"
fields = ["hus"]
path = "hybrid.nc"
[[stream]]
name = "each"
every = "1 month"
fields = ["tas", "ta", "hus"]
files = "variable"
path = "{variable}_{start:YYYYMM}-{last:YYYYMM}.nc"
new_file = "1 month"
type = "double"
[[stream]]
name = "box"
every = "1 day"
fields = ["tas", "ta"]
region = "atlantic"
stamp = "end"
path = "box.nc"
[[stream]]
name = "corner"
every = "1 day"
op = "max"
fields = ["tas", "ta"]
region = "corner"
path = "corner.nc"
[[stream]]
name = "static"
every = "once"
fields = ["orog"]
path = "static.nc"
[[stream]]
name = "all"
every = "run"
fields = ["tas"]
path = "all.nc"
[[stream]]
name = "steps"
every = "step"
op = "instant"
type = "same"
fields = ["tas", "clouds"]
to = "2000-01-05"
path = "steps.nc"
[region.towers]
points = [[11.07, 47.98], [262.5, 36.6]]
names = ["HPB", "SGP"]
[region.atlantic]
box = [330, 30, 20, 60]
[region.corner]
index = { lon = [0, 3], lat = [2, 4] }
"""

OCEAN = """
[[stream]]
name = "5d"
every = "5 days"
anchor = "1958-01-01"
fields = ["uo", "zos"]
files = "variable"
path = "{variable}_5d_{start:YYYY}.nc"
new_file = "1 year"
file = { format = "netcdf4", deflate = 1 }
field.thetao = { weight = "thkcello", cell_methods = "time: mean (weighted by thkcello)" }
field.tosstd = { of = "tos", op = "std" }
[[stream]]
name = "strait"
every = "1 day"
fields = ["thetao", "zos"]
region = "strait"
path = "strait.nc"
[[stream]]
name = "moorings"
every = "6 hours"
op = "instant"
fields = ["zos", "tos"]
region = "moorings"
path = "moorings.nc"
[[stream]]
name = "ice"
every = "1 month"
fields = ["siconc"]
path = "ice.nc"
field.sithick = { weight = "siconc", cell_methods = "area: time: mean where sea_ice" }
[region.strait]
list_file = "sections.nc"
list_var = "strait"
[region.moorings]
points = [[23.0, 0.0], [170.0, 10.0]]
"""

NLAT, NLON, NLEV = 9, 16, 3
STEP, STEPS = 21600, 4 * 62  # seconds, and two months of them


def cells(centres, width):
    return np.stack([centres - width / 2, centres + width / 2], axis=-1)


class Model:
    """A history, and the fields of a grid whose rows are shared out to the ranks."""

    def __init__(self, io, config, row, column, level):
        size, rank = io.size, io.rank
        self.low = NLAT * rank // size
        self.rows = NLAT * (rank + 1) // size - self.low
        self.history = io.history(
            ABOUT + config, calendar=sys.argv[1], start="2000-01-01", step=STEP
        )
        dims = {row: NLAT, column: NLON}
        self.flat = io.decompose(dims, start=(self.low, 0), count=(self.rows, NLON))
        self.parts = {f"{row} {column}": self.flat}
        for name in level:
            self.parts[f"{name} {row} {column}"] = io.decompose(
                {name: NLEV, **dims}, start=(0, self.low, 0), count=(NLEV, self.rows, NLON)
            )
        self.fields = []

    def coordinate(self, name, array, *dims, **about):
        self.history.coordinate(name, np.array(array, "f8"), *dims, **about)

    def field(self, name, dims, dtype="f4", **about):
        if about["units"] in ("K", "degC"):
            about["units_metadata"] = "temperature: on_scale"
        about.setdefault("long_name", name)
        field = self.history.field(name, dtype, dims, self.parts[dims], **about)
        shape = (self.rows, NLON) if self.parts[dims] is self.flat else (NLEV, self.rows, NLON)
        self.fields.append((field, shape, about.get("missing") == "fixed"))

    def run(self):
        with self.history as history:
            for step in range(1, STEPS + 1):
                history.time = STEP * step
                for field, shape, land in self.fields:
                    values = np.fromfunction(lambda *at, n=step: 280 + sum(at) % 7 + n % 5, shape)
                    if land:
                        values[..., 0] = 1e20
                    field.send(values)
                history.end_step()


def atmosphere(io):
    model = Model(io, ATMOSPHERE, "lat", "lon", ["plev", "lev"])
    add = model.coordinate
    lat, lon = np.linspace(-80, 80, NLAT), np.arange(NLON) * 360 / NLON
    add("lat", lat, units="degrees_north", standard_name="latitude", axis="Y", bounds="lat_bnds")
    add("lon", lon, units="degrees_east", standard_name="longitude", axis="X", bounds="lon_bnds")
    add("lat_bnds", cells(lat, 20), "lat bnds")
    add("lon_bnds", cells(lon, 360 / NLON), "lon bnds")
    pressures = [85000, 50000, 10000]
    add("plev", pressures, units="Pa", axis="Z", positive="down", standard_name="air_pressure")
    add("height", 2, "", units="m", axis="Z", positive="up", standard_name="height")
    area = np.ones((model.rows, NLON))
    add("areacella", area, "lat lon", model.flat, units="m2", standard_name="cell_area")
    hybrid = "atmosphere_hybrid_sigma_pressure_coordinate"
    terms = {"formula_terms": "ap: ap b: b ps: ps", "computed_standard_name": "air_pressure"}
    add("lev", [0.9, 0.5, 0.1], units="1", axis="Z", positive="down", standard_name=hybrid, **terms)
    add("ap", [100, 500, 100], "lev", units="Pa", long_name="ap")
    add("b", [0.9, 0.5, 0.1], "lev", units="1", long_name="b")
    area = {"cell_measures": "area: areacella", "cell_methods": "area: mean"}
    temperature = {"units": "K", "standard_name": "air_temperature"}
    model.field("pr", "lat lon", units="kg m-2 s-1", standard_name="precipitation_flux", **area)
    model.field("tas", "lat lon", coordinates="height", **temperature, **area)
    model.field("ps", "lat lon", units="Pa", standard_name="surface_air_pressure", **area)
    model.field("ta", "plev lat lon", **temperature, missing="varying")
    model.field("hus", "lev lat lon", units="1", standard_name="specific_humidity")
    model.field("orog", "lat lon", units="m", standard_name="surface_altitude")
    model.field("clouds", "lat lon", "i4", units="1")
    model.run()


def ocean(io):
    model = Model(io, OCEAN, "j", "i", ["lev"])
    add = model.coordinate
    j, i = np.mgrid[model.low : model.low + model.rows, 0:NLON].astype("f8")
    lat, lon = -40 + 10 * j + i / 10, 22.5 * i + j / 10
    corner = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]])
    corners = io.decompose(
        {"j": NLAT, "i": NLON, "vertices": 4},
        start=(model.low, 0, 0),
        count=(model.rows, NLON, 4),
    )
    for name, dim, length in (("i", "x", NLON), ("j", "y", NLAT)):
        standard = f"projection_{dim}_coordinate"
        add(name, np.arange(length), units="m", axis=dim.upper(), standard_name=standard)
    flat = ("j i", model.flat)
    add("lat", lat, *flat, units="degrees_north", standard_name="latitude", bounds="lat_vertices")
    add("lon", lon, *flat, units="degrees_east", standard_name="longitude", bounds="lon_vertices")
    add("lat_vertices", lat[..., None] + 5 * corner[:, 0], "j i vertices", corners)
    add("lon_vertices", lon[..., None] + 11 * corner[:, 1], "j i vertices", corners)
    lev = np.array([5, 15, 30])
    add("lev", lev, units="m", axis="Z", positive="down", standard_name="depth", bounds="lev_bnds")
    add("lev_bnds", cells(lev, 10), "lev bnds")
    standard = {"standard_name": "cell_area", "coordinates": "lat lon"}
    add("areacello", np.ones((model.rows, NLON)), *flat, units="m2", **standard)
    for name, dims, units, standard in (
        ("thkcello", "lev j i", "m", "cell_thickness"),
        ("uo", "lev j i", "m s-1", "sea_water_x_velocity"),
        ("thetao", "lev j i", "degC", "sea_water_potential_temperature"),
        ("zos", "j i", "m", "sea_surface_height_above_geoid"),
        ("tos", "j i", "degC", "sea_surface_temperature"),
        ("siconc", "j i", "1", "sea_ice_area_fraction"),
        ("sithick", "j i", "m", "sea_ice_thickness"),
    ):
        model.field(
            name,
            dims,
            units=units,
            standard_name=standard,
            coordinates="lat lon",
            cell_measures="area: areacello",
            cell_methods="area: mean",
            missing="fixed" if name != "thkcello" else "none",
        )
    model.run()


def main():
    with tw.Session(MPI.COMM_WORLD) as io:
        with io.create("sections.nc") as file:
            file.define_dim("n", 4)
            file.define("strait", "i4", "n")
            file.put("strait", np.array([17, 34, 35, 52], "i4"))
        atmosphere(io)
        ocean(io)


main()
