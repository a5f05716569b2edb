# SPDX-License-Identifier: Apache-2.0
"""Computes in numpy the files that the models write: for each file the values of its variables.
Masked elements have the fill value in the file. All sums are exact, in any order.

Sample 0 of a field is that of step 1. Windows are given by their edges: [0, 4, 8] are two windows
of four samples."""

import math
from itertools import pairwise

import numpy as np

HOUR, DAY = 3600, 86400


def masked(values, where):
    return np.ma.masked_where(np.broadcast_to(where, values.shape), values)


def mean(samples, weights=None):
    return np.ma.average(samples.astype("f8"), axis=0, weights=weights)


def exact_mean(values):
    """Returns the means along the last axis, whose sums are exact."""
    rows = values.reshape(-1, values.shape[-1])
    means = [math.fsum(row.compressed()) / row.count() for row in rows]
    return np.array(means).reshape(values.shape[:-1])


def root_mean_square(samples, weights):
    return np.ma.sqrt(mean(samples**2, weights))


def deviation(samples):
    return samples.std(axis=0)


def smallest(samples):
    return samples.min(axis=0)


def largest(samples):
    return samples.max(axis=0)


def total(samples):
    return samples.sum(axis=0)


def every(length, end):
    """Returns the edges of windows of one length."""
    return np.arange(0, end + 1, length)


def over(edges, statistic, *fields, type="f4"):
    """Returns a statistic of each window. Its arguments are the samples of one field or more."""
    records = [statistic(*(field[a:b] for field in fields)) for a, b in pairwise(edges)]
    return np.ma.stack(records).astype(type)


def windows(edges, step, unit=DAY, **variables):
    """Returns a file of statistics; a step has this number of seconds."""
    seconds = np.stack([edges[:-1], edges[1:]], axis=1) * step
    return {"time": seconds.mean(axis=1) / unit, "time_bnds": seconds / unit, **variables}


def instants(steps, step, unit=DAY, **fields):
    """Returns a file of the samples of these steps."""
    return {"time": steps * step / unit} | {name: f[steps - 1] for name, f in fields.items()}


def cut(path, file, ranges):
    """Returns a file for each range of records. Its key replaces the star in the path."""
    return {
        path.replace("*", key): {name: values[a:b] for name, values in file.items()}
        for key, (a, b) in ranges.items()
    }


def ocean():
    step, lev, lat, lon = np.ogrid[1:241, 1:4, 1:10, 1:13]
    thetao = lon + 10 * lat + 100 * lev + (7 * step + lon * lat) % 13 + 0.25
    thetao = masked(thetao.astype("f4"), (lon <= lev) & (lat < 5))
    step, lat, lon = np.ogrid[1:241, 1:10, 1:13]
    zos = lon - lat + 0.5 * ((5 * step + lon) % 11)
    zos = masked(zos.astype("f4"), (lon == 1) & (lat < 5))

    days, pentads, months = every(4, 240), every(20, 240), np.array([0, 124, 236])
    zonal = {"thetao": thetao, "zos": zos}
    zonal = {n: exact_mean(over(pentads, mean, f, type="f8")) for n, f in zonal.items()}
    north = zos[:, 5:].astype("f8").sum(axis=(1, 2))
    day = windows(days, 21600, thetao=over(days, mean, thetao), zos=over(days, mean, zos))
    lats, lons = slice(2, 7), [11, 0, 1, 2]
    return {
        **cut("day_*.nc", day, {"200001": (0, 31), "200002": (31, 59), "200003": (59, 60)}),
        "highest.nc": windows(months, 21600, zos=over(months, largest, zos)),
        "zonal.nc": windows(
            pentads,
            21600,
            **{name: values.astype("f4") for name, values in zonal.items()},
            lat=np.arange(-40.0, 50, 10),
            lev=np.array([5, 15, 25], "f4"),
        ),
        "north.nc": windows(months, 21600, zos=over(months, largest, north)),
        "gulf.nc": windows(
            pentads,
            21600,
            thetao=over(pentads, mean, thetao)[:, :, lats, lons],
            zos=over(pentads, mean, zos)[:, lats, lons],
            lat=np.array([-20.0, -10.0, 0.0, 10.0, 20.0]),
            lon=np.array([330.0, 360.0, 390.0, 420.0]),
        ),
        # The first mooring lies between land and water, which is valid.
        "moorings.nc": windows(
            days,
            21600,
            zos=over(days, mean, zos)[:, [0, 4], [1, 0]],
            lat=np.array([-40.0, 0.0]),
            lon=np.array([30.0, 0.0]),
            station_name=np.array([b"coast", b"equator"]).view("S1").reshape(2, 7),
        ),
    }


def atmosphere():
    step, lat, lon = np.ogrid[1:145, 0:10, 0:8]
    tas = 280 + 0.125 * lat + lon + (11 * step + 3 * lon) % 17
    dry = ((step + lon) % 3 == 0) | (lat == 4)
    pr = np.where(dry, 0, (5 * step + lat) % 7).astype("f4")

    sampled = instants(every(6, 144)[1:], 1800, tas=tas, pr=pr)
    days = every(48, 144)
    maxima = over(every(12, 144), largest, tas, type="f8")
    return {
        **cut("3h_*.nc", sampled, {"20000228": (0, 8), "20000229": (8, 16), "20000301": (16, 24)}),
        "day.nc": windows(
            days,
            1800,
            tas=over(days, mean, tas, type="f8"),
            pr=over(days, mean, pr, type="f8"),
            prsum=over(days, total, pr, type="f8"),
            tasmax=over(every(4, 12), mean, maxima, type="f8"),
            taswet=over(days, mean, tas, pr, type="f8"),
            tasstd=over(days, deviation, tas, type="f8"),
        ),
    }


def ice():
    step, y, x = np.ogrid[1:329, 1:13, 1:11]
    area = np.where(x == 3, 0, 0.25 * ((x + y + step) % 5))
    depth = x + 0.5 * y + (3 * step) % 7
    thick = masked(depth, (area <= 0) | ((x * y + step) % 11 == 0))
    snow = masked(depth / 4, (y + step) % 4 == 0)
    speed = (x * y + (13 * step + x) % 19).astype("f4")

    months, pentads = np.array([0, 88, 328]), every(40, 320)
    lowest = {
        "sithick": over(pentads, smallest, thick),
        "sispeed": over(pentads, smallest, speed),
    }
    day = instants(every(8, 328)[1:], 10800, sispeed=speed)
    maxima = over(every(8, 328), largest, speed)
    return {
        "month.nc": windows(
            months,
            10800,
            siconc=over(months, mean, area, type="f8"),
            sithick=over(months, mean, thick, area, type="f8"),
            sisnthick=over(months, root_mean_square, snow, area, type="f8"),
        ),
        **cut(
            "5d_*.nc",
            windows(pentads, 10800, **lowest),
            {"20011201": (0, 2), "20020101": (2, 8)},
        ),
        **cut("day_*.nc", day, {"20011221": (0, 20), "20020111": (20, 40), "20020201": (40, 41)}),
        "fastest.nc": windows(months, 10800, fastest=over(months // 8, mean, maxima)),
    }


def mesh():
    step, cell, lev = np.ogrid[1:37, 0:120, 0:4]
    u = (0.5 * cell + 100 * lev + (3 * step + cell) % 10).astype("f4")
    cloudy = ((cell + step) % 3)[..., 0].astype("i4")
    mesh = {"lon": np.arange(120.0), "lat": np.arange(120.0) % 2}
    pressure = np.array([1000.0, 850.0, 500.0, 100.0])

    # The run begins at 18:00, so the first day has three steps.
    quarters, days = every(3, 36), np.array([0, 3, 15, 27])
    some, places = [1, 3], [100, 7]
    return {
        "6h.nc": windows(
            quarters,
            7200,
            u=over(quarters, mean, u, type="f8"),
            cloudy=over(quarters, mean, cloudy, type="f8"),
            umin=over(quarters, smallest, u),
            clouds=over(quarters, total, cloudy, type="i4"),
            lev=pressure,
            **mesh,
        ),
        "levels.nc": instants(days[1:], 7200, u=u[:, :, some]) | mesh | {"lev": pressure[some]},
        "places.nc": windows(
            quarters,
            7200,
            u=over(quarters, mean, u)[:, places],
            **{name: values[places] for name, values in mesh.items()},
        ),
        "day_u.nc": windows(days, 7200, u=over(days, mean, u), **mesh),
        "day_cloudy.nc": windows(days, 7200, cloudy=over(days, mean, cloudy), **mesh),
    }


def soil():
    step, lat, lon = np.ogrid[1:1465, 0:7, 0:6]
    mrso = (lon + 10 * lat + (7 * step) % 23).astype("f4")
    mrsos = 2 * mrso.transpose(0, 2, 1)

    months = np.cumsum([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])  # days
    days, year = every(4, 1464), np.array([0, 1464])
    day = windows(days, 21600, HOUR, mrso=over(days, mean, mrso))
    half_day = instants(every(2, 1464)[1:], 21600, HOUR, mrso=mrso)
    ranges = {f"2000-{m:02}": edges for m, edges in enumerate(pairwise(months), 1)}
    twice = {key: (2 * a, 2 * b) for key, (a, b) in ranges.items()}
    seasons = 4 * np.array([0, 60, 152, 244, 335])
    bins = [(a, b, quarter) for a, b in pairwise(months) for quarter in range(4)]
    hours = np.array([[24 * a + 6 * q, 24 * b - 18 + 6 * q] for a, b, q in bins])
    growing = 4 * np.array([*range(11), 15, *range(20, 366, 7)])
    gained = np.diff(mrso[growing[1:] - 1], axis=0, prepend=mrso[:1])
    return {
        "season.nc": windows(seasons, 21600, HOUR, mrso=over(seasons, mean, mrso)),
        "diurnal.nc": {
            "time": hours[:, 0] + 3.0,
            "time_bnds": hours.astype("f8"),
            "mrso": np.stack([mean(mrso[4 * a + q : 4 * b : 4]) for a, b, q in bins]).astype("f4"),
        },
        # No sample is sent at the start.
        "gain.nc": windows(
            growing, 21600, HOUR, mrso=masked(gained, growing[1:, None, None] == growing[1])
        ),
        "forecast.nc": instants(np.array([6, 20]), 21600, HOUR, mrso=mrso),
        **cut("day_*.nc", day, ranges),
        **cut("12h_*.nc", half_day, twice),
        "year.nc": windows(year, 21600, HOUR, mrso=over(year, mean, mrso)),
        "wettest.nc": windows(4 * months, 21600, HOUR, mrsos=over(4 * months, largest, mrsos)),
        "valley.nc": instants(days[1:], 21600, HOUR, mrso=mrso[:, 2:5, 1:3]),
    }
