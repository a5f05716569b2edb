# SPDX-License-Identifier: Apache-2.0
"""Tests histories: instants, means and extremes compared with NumPy; restarts; errors on all
ranks alike."""

import contextlib
import importlib.util
import resource

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, fails, field, rows

NT, NY, NX = 48, 7, 6
T = field(NT + 1, NY, NX, dtype="f4")

CONFIG = """
[[stream]]
name = "mean"
every = "1 day"
fields = ["*"]
path = "{folder}/mean.nc"
[[stream]]
name = "max"
every = "12 hours"
op = "max"
fields = ["T"]
path = "{folder}/max.nc"
[[stream]]
name = "now"
every = "6 hours"
op = "instant"
type = "same"
fields = ["T"]
new_file = "1 day"
path = "{folder}/now_{{start:YYYYMMDD}}.nc"
aggregate = "{folder}/all_{{stream}}.nc"
file = {{ format = "{format}" }}
"""


def history(io, folder, format="auto"):
    first, n = rows(NY)
    cells = io.decompose(lat=NY, lon=NX, start=(first, 0), count=(n, NX))
    config = CONFIG.format(folder=folder, format=format)
    h = io.history(config, calendar="noleap", start="2000-01-01")
    h.coordinate("lat", np.arange(NY, dtype="f8"), units="degrees_north")
    h.field("T", "f4", "lat lon", cells, units="K", standard_name="air_temperature")
    h.field("g", "f8", "", units="1")
    return h, slice(first, first + n)


def run(h, mine, first, last):
    for hour in range(first, last + 1):
        h.time = 3600 * hour
        h["T"] = T[hour, mine]
        h["g"].send(np.float64(hour))
        h.end_step()


def check(folder):
    if WORLD.rank:
        return
    with netCDF4.Dataset(folder / "mean.nc") as f:
        days = T[1:].astype("f8").reshape(2, 24, NY, NX)
        total = days[:, 0].copy()
        for hour in range(1, 24):
            total += days[:, hour]
        assert np.array_equal(f["T"][:].data, (total / 24).astype("f4"))
        assert np.array_equal(f["g"][:], [12.5, 36.5])
        assert np.array_equal(f["time_bnds"][:], [[0, 1], [1, 2]])
        assert np.array_equal(f["time"][:], [0.5, 1.5])
        assert f["T"].cell_methods == "time: mean"
        assert f["T"].standard_name == "air_temperature"
        assert f["time"].calendar == "noleap" and f["time"].bounds == "time_bnds"
        assert f["lat"].units == "degrees_north"
    with netCDF4.Dataset(folder / "max.nc") as f:
        assert np.array_equal(f["T"][:], T[1:].reshape(4, 12, NY, NX).max(axis=1))
    for day in (1, 2):
        with netCDF4.Dataset(folder / f"now_200001{day:02}.nc") as f:
            right = T[24 * (day - 1) + 6 : 24 * day + 1 : 6]
            assert np.array_equal(f["T"][:], right)
            assert "time_bnds" not in f.variables
            assert f["T"].cell_methods == "time: point"


def aggregated(path, name):
    """Returns the data that an aggregation variable describes (CF 1.13, section 2.8)."""
    with netCDF4.Dataset(path) as f:
        words = f[name].aggregated_data.split()
        parts = dict(zip(words[::2], words[1::2], strict=True))
        lengths = [row.compressed() for row in f[parts["map:"]][:]]
        uris = netCDF4.chartostring(f[parts["uris:"]][:])
        identifier = f[parts["identifiers:"]][:].tobytes().decode()
        dims = f[name].aggregated_dimensions.split()
        data = np.empty([f.dimensions[d].size for d in dims], f[name].dtype)
        assert f[name].dimensions == () and f.Conventions == "CF-1.13"
    assert data.shape == tuple(sum(n) for n in lengths)
    assert uris.shape == tuple(len(n) for n in lengths)
    for index in np.ndindex(uris.shape):
        places = zip(lengths, index, strict=True)
        place = tuple(slice(sum(n[:i]), sum(n[: i + 1])) for n, i in places)
        with netCDF4.Dataset(path.parent / str(uris[index])) as f:
            data[place] = f[identifier][:]
    return data


def check_aggregation(folder, days):
    WORLD.Barrier()
    path = folder / "all_now.nc"
    assert np.array_equal(aggregated(path, "T"), T[6 : 24 * days + 1 : 6])
    assert np.array_equal(aggregated(path, "time"), np.arange(1, 4 * days + 1) / 4)
    with netCDF4.Dataset(path) as f:
        assert np.array_equal(f["lat"][:], range(NY)) and f["T"].cell_methods == "time: point"
        assert f["time"].units == "days since 2000-01-01 00:00:00"
    if importlib.util.find_spec("cfdm"):
        import cfdm

        with contextlib.chdir(folder):  # cfdm 1.13.3 looks for the files here
            (found,) = (v for v in cfdm.read("all_now.nc") if v.nc_get_variable() == "T")
            assert np.array_equal(found.array, T[6 : 24 * days + 1 : 6])
            time = found.construct("time").array
        assert np.array_equal(time, np.arange(1, 4 * days + 1) / 4)
    WORLD.Barrier()


@pytest.mark.parametrize("format", ["cdf2", "netcdf4"])
def test_means_and_instants(io, folder, format):
    h, mine = history(io, folder, format)
    with h:
        run(h, mine, 1, NT)
        assert h.memory > 0
    check_aggregation(folder, 2)
    check(folder)


def test_restart(io, folder):
    h, mine = history(io, folder)
    with h, io.restart() as restart:
        run(h, mine, 1, 31)
        h.save(restart)
        restart.write(folder / "restart.nc")
    h, mine = history(io, folder)
    with h:
        with io.restart() as restart, restart.open(folder / "restart.nc") as file:
            h.load(file)
        check_aggregation(folder, 1)
        run(h, mine, 32, NT)
    check_aggregation(folder, 2)
    check(folder)


def test_errors(io, folder):
    def begin(text, calendar):
        return lambda: io.history(text, calendar=calendar, start="2000-01-01")

    wrong = fails("TW_ESETTING", begin("[[stream]]\nevry = 1\n", "noleap"))
    assert "did you mean 'every'?" in str(wrong)
    right = CONFIG.format(folder="x", format="auto")
    for old, new, text in (
        ('new_file = "1 day"', "", "'aggregate' needs 'new_file'"),
        ("all_{stream}", "all_{start}", "cannot have {start}"),
        ("all_{stream}", "all_{variable}", "cannot have {variable}"),
        ("x/all_", "/all_", "must both begin with '/'"),
        ("x/all_", "../all_", "no relative path leads from its folder"),
    ):
        assert text in str(fails("TW_ESETTING", begin(right.replace(old, new), "noleap")))
    assert "lunar" in str(fails("TW_EARG", begin("[[stream]]\n", "lunar")))
    h, mine = history(io, folder)
    with pytest.raises(tw.Error, match="declared before"):
        h.field("T", "f4", "lat lon", None)
    h.time = 3600
    with pytest.raises(tw.Error, match="array"):
        h["T"].send(np.zeros((1, 1, 1), "f4"))
    h["T"] = T[1, mine]
    with pytest.raises(tw.Error, match="twice"):
        h["T"] = T[1, mine]
    h.end_step()
    h.close()


def test_coordinates_are_exact(io, folder):
    """Settings that quantize all variables leave coordinates as they are. A field that a formula
    term names is written beside those that need it."""
    first, n = rows(NY)
    cells = io.decompose(lev=2, lat=NY, lon=NX, start=(0, first, 0), count=(2, n, NX))
    plane = io.decompose(lat=NY, lon=NX, start=(first, 0), count=(n, NX))
    config = f"""
[[stream]]
name = "s"
every = "7 hours"
anchor = "start"
fields = ["T"]
type = "double"
file = {{ format = "netcdf4", quantize = "bitround:4" }}
path = "{folder}/s.nc"
"""
    where = np.random.default_rng(1).uniform(-90, 90, (NY, NX))
    with io.history(config, calendar="noleap", start="2000-01-01") as h:
        h.field("ps", "f8", "lat lon", plane, units="hPa")
        h.field("T", "f8", "lev lat lon", cells, units="K", coordinates="where")
        terms = "sigma: lev ps: ps ptop: top"
        h.coordinate("lev", np.array([0.25, 0.75]), units="1", formula_terms=terms)
        h.coordinate("top", np.array(10.0), "", units="hPa")
        h.coordinate("where", where, "lat lon", units="degrees_north")
        for hour in range(1, 15):
            h.time = 3600 * hour
            h["ps"] = where[first : first + n]
            h["T"] = np.full((2, n, NX), 1.2345)
            h.end_step()
    WORLD.barrier()
    with netCDF4.Dataset(folder / "s.nc") as f:
        assert np.array_equal(f["where"][:], where)
        assert np.array_equal(f["time_bnds"][:], [[0, 7 / 24], [7 / 24, 14 / 24]])
        assert f["ps"].dimensions == ("time", "lat", "lon") and f["top"][:] == 10
        assert np.array_equal(np.unique(f["T"][:]), [1.25])
    WORLD.barrier()


def test_masked(io, folder):
    first, n = rows(NY)
    cells = io.decompose(lat=NY, lon=NX, start=(first, 0), count=(n, NX))
    config = """
[[stream]]
name = "mean"
every = "1 day"
fields = ["M", "T"]
path = "{folder}/masked.nc"
"""
    with io.history(config.format(folder=folder), calendar="noleap", start="2000-01-01") as h:
        h.field("M", "f4", "lat lon", cells, missing="varying", missing_value=-999)
        h.field("T", "f4", "lat lon", cells)
        h.ready()
        fails("TW_ESTATE", lambda: h["T"].send(np.zeros((n, NX), "f4")), everywhere=False)
        for half in (1, 2):
            h.time = half * 43200
            values = np.ma.masked_array(np.full((n, NX), half, "f4"), mask=False)
            values[:, 0] = np.ma.masked if half == 1 else 2
            h["M"] = values
            if n > 0 and half == 1:
                with pytest.raises(tw.Error, match="masked"):
                    h["T"] = values
            h["T"] = np.zeros((n, NX), "f4")
            h.end_step()
    WORLD.barrier()
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "masked.nc") as f:
            right = np.full((NY, NX), 1.5)
            right[:, 0] = 2
            assert np.array_equal(f["M"][0], right)


def limited(kind, soft):
    """Sets a soft limit of this process, and returns the limits before."""
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft, before[1]))
    return before


def test_more_files_than_a_process_may_open(io, folder):
    names = [f"v{i:02}" for i in range(60)]
    cells = io.decompose(x=2 * WORLD.size, start=(2 * WORLD.rank,), count=(2,))
    config = f"""
[[stream]]
name = "s"
every = "1 day"
fields = ["*"]
files = "variable"
path = "{folder}/{{variable}}.nc"
"""
    # The last rank alone has the lower limit: all close files as often as it must.
    lowest = 96 if WORLD.rank == WORLD.size - 1 else 512
    before = limited(resource.RLIMIT_NOFILE, lowest)
    try:
        with io.history(config, calendar="noleap", start="2000-01-01") as h:
            for name in names:
                h.field(name, "f8", "x", cells)
            h.ready()
            for step in range(1, 7):
                h.time = 43200 * step
                for i, name in enumerate(names):
                    h[name] = np.full(2, float(step + i))
                h.end_step()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    WORLD.barrier()
    for i, name in enumerate(names[WORLD.rank :: WORLD.size]):
        first = WORLD.rank + i * WORLD.size + 1.5
        with netCDF4.Dataset(folder / f"{name}.nc") as f:
            right = np.outer([first, first + 2, first + 4], np.ones(2 * WORLD.size))
            assert np.array_equal(f[name][:], right), name
