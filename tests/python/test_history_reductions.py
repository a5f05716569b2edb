# SPDX-License-Identifier: Apache-2.0
"""Reductions of histories: compared with NumPy, with CDO if it is installed, and byte for byte with
those of one rank, for several decompositions and over a restart within a window."""

import math
import shutil
import subprocess
from functools import partial

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, fails, rows
from history_runs import declare_fields, run_on_all_and_one
from mpi4py import MPI
from test_history import aggregated

NT, NZ, NY, NX = 12, 3, 9, 8
RNG = np.random.default_rng(3)
SHAPE = (NT, NZ, NY, NX)
T = (RNG.uniform(-1, 1, SHAPE) * 10.0 ** RNG.integers(-12, 12, SHAPE)).astype("f4")
M = RNG.uniform(1, 2, SHAPE)
M[RNG.random(SHAPE) < 0.4] = -999
M[:, :, 4, :] = -999  # a latitude without values
F = RNG.uniform(1, 2, SHAPE)
F[:, 0, :3, 2:5] = -999
N = RNG.integers(-100, 100, SHAPE).astype("i4")
H = RNG.uniform(0, 5, SHAPE)
H[H < 1] = 0
AREA = RNG.uniform(1e8, 1e9, (NY, NX))
BASIN = RNG.integers(-1, 4, (NY, NX)).astype("i4")
BASIN[BASIN == 3] = 700
FIELDS = {"T": (T, "none"), "M": (M, "varying"), "F": (F, "fixed"), "N": (N, "none")}

# Name of a stream: its keys; the operation in time and in space, dimensions, weights.
STREAMS = {
    "mean": ("", "mean", "mean", (2, 3), "area"),
    "sum": ('area = ""', "mean", "sum", (2, 3), ""),
    "profile": ('over = ["lev"]', "mean", "sum", (1,), ""),
    "integral": ("", "mean", "sum", (2, 3), "area"),
    "zonal": ('over = ["lon"]', "mean", "mean", (3,), ""),
    "meridional": ('over = ["lat", "lev"]', "mean", "mean", (1, 2), "area"),
    "column": ('over = ["lev"]\nweight = "H"', "mean", "sum", (1,), "H"),
    "thick": ('over = ["lev"]\nweight = "H"', "mean", "mean", (1,), "H"),
    "mass": ('over = ["lon", "lat", "lev"]\nweight = "H"', "mean", "mean", (1, 2, 3), "area H"),
    "total": ("", "sum", "sum", (2, 3), ""),
    "highest": ("", "max", "max", (2, 3), ""),
    "lowest": ('over = ["lat"]', "min", "min", (2,), ""),
    "peaks": ("", "mean", "max", (2, 3), ""),
    "best": ("", "max", "mean", (2, 3), "area"),
    "spread": ('over = ["lev"]', "std", "mean", (1,), ""),
    "now": ('weight = "H"', "instant", "mean", (2, 3), "area H"),
    "basins": ('by = "basin"', "mean", "mean", (2, 3), "area"),
    "part": ('region = "part"', "mean", "mean", (2, 3), "area"),
    "growth": ("", "difference", "mean", (2, 3), "area"),
    "speed": ('over = ["lon"]', "rate", "sum", (3,), ""),
    "number": ('over = ["lon"]', "count", "mean", (3,), ""),
    "share": ('by = "basin"', "fraction", "max", (2, 3), ""),
    "hours": ("bins = 8", "diurnal", "mean", (2, 3), "area"),
    "seasons": ('bins = "season"\nfiles = "variable"', "climatology", "mean", (2, 3), ""),
    "noon": ("local_time = [12]", "mean", "mean", (2, 3), "area"),
    "pieces": ('records = 1\naggregate = "{folder}/pieces.nc"', "mean", "mean", (2, 3), "area"),
    "parts": (
        'by = "basin"\nrecords = 1\naggregate = "{folder}/parts.nc"',
        "mean",
        "max",
        (2, 3),
        "",
    ),
}
# Streams with several files.
SEVERAL = {
    "seasons": "{variable}_seasons",
    "pieces": "pieces_{start:YYYYMMDDhh}",
    "parts": "parts_{start:YYYYMMDDhh}",
}


# Operators that give the records of fields whose missing elements do not vary.
CDO = {
    "zonal": ["-timselmean,6", "-zonmean"],
    "sum": ["-timselmean,6", "-fldsum"],
    "total": ["-timselsum,6", "-fldsum"],
    "highest": ["-timselmax,6", "-fldmax"],
    "peaks": ["-timselmean,6", "-fldmax"],
}


def config(folder):
    text = f"""[region.part]
index = {{ lon = [2, 6], lat = [1, 4] }}
[[stream]]
name = "samples"
fields = ["T", "F", "N"]
type = "double"
every = "step"
op = "instant"
path = "{folder}/samples.nc"
"""
    for name, (keys, op, reduce, _, weights) in STREAMS.items():
        own = keys.replace('area = ""', "").replace("{folder}", str(folder))
        own += '\narea = "area"' if "area" in weights else ""
        text += f"""[[stream]]
name = "{name}"
fields = ["*", "-H"]
type = "double"
every = "{"run" if op in ("diurnal", "climatology") else "6 hours"}"
path = "{folder}/{SEVERAL.get(name, name)}.nc"
op = "{op}"
reduce = "{reduce}"
{own}
"""
    return (
        text
        + f"""[[stream]]
name = "computed"
type = "double"
every = "6 hours"
path = "{folder}/computed.nc"
reduce = "mean"
over = ["lon"]
[stream.field.twice]
of = "2 * M"
units = "K"
"""
    )


def decomposed(io, kind, rank, size):
    """Returns a decomposition, and a function that returns a rank's elements of a field."""
    if kind == "list":
        mine = np.random.default_rng(8).permutation(NY * NX)[rank::size]
        cells = io.decompose_list(lev=NZ, lat=NY, lon=NX, listed=["lat", "lon"], indices=mine)
        return cells, lambda field: field.reshape(NZ, -1)[:, mine]
    if kind == "boxes":
        corners = [(z, y) for z in range(NZ) for y in range(0, NY, 3)][rank::size]
        boxes = [((z, y, 0), (1, 3, NX)) for z, y in corners]
        cells = io.decompose(lev=NZ, lat=NY, lon=NX, boxes=boxes)
        return cells, lambda field: np.array([field[z : z + 1, y : y + 3] for z, y in corners])
    axis = ["levels", "rows", "columns"].index(kind)
    start, count = [0, 0, 0], [NZ, NY, NX]
    start[axis], count[axis] = rows(count[axis], rank, size)
    cells = io.decompose(lev=NZ, lat=NY, lon=NX, start=start, count=count)
    return cells, lambda field: field.take(range(start[axis], start[axis] + count[axis]), axis)


def declare(kind, io, h, rank, size):
    cells, mine = decomposed(io, kind, rank, size)
    h.coordinate("lon", np.arange(NX) * 45.0, units="degrees_east")
    h.coordinate("lat", np.arange(NY) * 20.0 - 80, units="degrees_north")
    h.coordinate("area", AREA, "lat lon", units="m2")
    h.coordinate("basin", BASIN, "lat lon", long_name="basin")
    return declare_fields(h, cells, mine, {"H": (H, "none"), **FIELDS})


def space(op, values, weights, axes):
    if op == "mean":
        return np.ma.average(values, axis=axes, weights=weights)
    if op == "sum":
        return (values * weights).sum(axis=axes)
    return getattr(values, op)(axis=axes)


def right(name, field):
    """Computes the records of a stream. Means and sums weigh all valid samples of a window."""
    weights = STREAMS[name][4]
    values = np.ma.masked_equal(FIELDS[field][0].astype("f8"), -999)
    w = np.ones(SHAPE) * (AREA if "area" in weights else 1) * (H if "H" in weights else 1)
    if name == "part":
        values, w = values[..., 1:5, 2:7], w[..., 1:5, 2:7]
    if "by =" in STREAMS[name][0]:
        others = [np.broadcast_to(b != BASIN, SHAPE) for b in (1, 2, 700)]
        regions = [np.ma.masked_where(other, values) for other in others]
        return np.ma.stack([windows(name, r, w) for r in regions], axis=2)
    if name == "noon":
        w = w * [[[np.arange(1, NT + 1)[h] == 12 - 3 * np.arange(NX)]] for h in range(NT)]
    return windows(name, values, w)


def windows(name, values, w):
    _, op, reduce, axes, _ = STREAMS[name]
    found = []
    if op in ("difference", "rate"):
        each = space(reduce, values, w, axes)
        return (each[5::6] - np.ma.stack([np.ma.masked_all_like(each[0]), each[5]])) / (
            6 * 3600 if op == "rate" else 1
        )
    if op in ("count", "fraction"):
        there = ~np.ma.getmaskarray(space(reduce, values, w, axes))
        halves = there.reshape(2, 6, *there.shape[1:])
        return np.ma.array(halves.sum(axis=1) if op == "count" else halves.mean(axis=1))
    if op in ("diurnal", "climatology"):
        length = 3 if op == "diurnal" else NT
        return np.ma.stack(
            [
                np.ma.average(values[t : t + length], axis=(0, *axes), weights=w[t : t + length])
                for t in range(0, NT, length)
            ]
        )
    for first in (0, 6):
        v, u = values[first : first + 6], w[first : first + 6]
        if op == "mean" and reduce == "mean":
            found.append(np.ma.average(v, axis=(0, *axes), weights=u))
            continue
        each = space(reduce, v, u, axes)
        if op == "instant":
            found.append(each[-1])
        elif name == "column":  # the integral of nothing is 0
            mask = np.ma.getmaskarray(each).all(axis=0)
            found.append(np.ma.array(each.filled(0).mean(axis=0), mask=mask))
        else:
            found.append(getattr(each, op)(axis=0))
    return np.ma.stack(found)


@pytest.mark.parametrize("kind", ["rows", "levels", "columns", "boxes", "list"])
@pytest.mark.parametrize("restart", [False, True])
def test_reductions(folder, kind, restart):
    ranges = [range(5), range(5, NT)] if restart else [range(NT)]
    run_on_all_and_one(folder, config, ranges, partial(declare, kind))
    if WORLD.rank == 0:
        check(folder)
    if WORLD.rank == 0 and shutil.which("cdo"):
        check_cdo(folder)


def check(folder):
    for name in STREAMS:
        for field in FIELDS:
            good = right(name, field)
            found = records(folder / "all", name, field)
            assert found.shape == good.shape, (name, field)
            masks = np.ma.getmaskarray(found), np.ma.getmaskarray(good)
            assert np.array_equal(*masks), (name, field)
            scale = np.abs(np.ma.masked_equal(FIELDS[field][0].astype("f8"), -999)).max()
            assert np.ma.allclose(found, good, rtol=1e-12, atol=1e-15 * scale), (name, field)
    with netCDF4.Dataset(folder / "all/zonal.nc") as f:
        good = 2 * f["M"][:]
    with netCDF4.Dataset(folder / "all/computed.nc") as f:
        assert f["twice"][:].filled().tolist() == good.filled(f["twice"]._FillValue).tolist()
    means = [T[first : first + 6].astype("f8").cumsum(axis=0)[-1] / 6 for first in (0, 6)]
    with netCDF4.Dataset(folder / "all/sum.nc") as f:
        good = [[math.fsum(level.ravel()) for level in mean] for mean in means]
        assert f["T"][:].tolist() == good
    with netCDF4.Dataset(folder / "all/zonal.nc") as f:
        good = [math.fsum(row) / NX for mean in means for row in mean.reshape(-1, NX)]
        assert f["T"][:].ravel().tolist() == good
    with netCDF4.Dataset(folder / "all/mean.nc") as f:
        assert f["T"].cell_methods == "area: mean time: mean"
        assert f["T"].dimensions == ("time", "lev")
    with netCDF4.Dataset(folder / "all/basins.nc") as f:
        assert list(f["basin"][:]) == [1, 2, 700]
        assert f["T"].dimensions == ("time", "lev", "basin")
    with netCDF4.Dataset(folder / "all/integral.nc") as f:
        assert f["T"].units == "K m2" and "lat" not in f.variables


def records(folder, name, field):
    """Returns the records of a variable, also of a stream with several files."""
    if "aggregate" in STREAMS[name][0]:
        return np.ma.masked_equal(aggregated(folder / f"{name}.nc", field), 1e20)
    with netCDF4.Dataset(folder / f"{field + '_' if name == 'seasons' else ''}{name}.nc") as f:
        return f[field][:]


def check_cdo(folder):
    for name, operators in CDO.items():
        other = folder / "cdo.nc"
        files = [folder / "all/samples.nc", other]
        subprocess.run(["cdo", "-s", "-O", *operators, *files], check=True)
        with netCDF4.Dataset(folder / f"all/{name}.nc") as f, netCDF4.Dataset(other) as theirs:
            for field in ("T", "F"):
                found = f[field][:]
                good = theirs[field][:].reshape(found.shape)
                size = np.abs(FIELDS[field][0].astype("f8")).max()
                assert np.ma.allclose(found, good, rtol=1e-12, atol=1e-14 * size), (name, field)


@pytest.mark.parametrize(
    "keys, text",
    [
        ('area = "aera"', "6: stream 's': area: the model declares no coordinate 'aera'"),
        ('over = ["x"]', "6: stream 's': over: field 'T' has the dimensions"),
        ('by = "area"', "6: stream 's': by: coordinate 'area' has no integers"),
        ('op = "rms"\nlocal_time = [6]', "7: stream 's': 'local_time' with 'reduce' needs a mean"),
        ("weight = 1", "6: stream 's': 'weight': expected"),
    ],
)
def test_errors(io, folder, keys, text):
    def begin():
        cells, _ = decomposed(io, "rows", WORLD.rank, WORLD.size)
        start = '[[stream]]\nname = "s"\nfields = ["T"]\nevery = "1 day"\nreduce = "mean"\n'
        h = io.history(start + keys + "\n", calendar="noleap", start="2000-01-01")
        h.field("T", "f4", "lev lat lon", cells)
        h.coordinate("area", AREA, "lat lon")
        h.ready()

    assert text in str(fails("TW_ESETTING", begin, everywhere="weight" not in keys))


@pytest.mark.parametrize("op", ["mean", "max"])
def test_unsent(io, folder, op):
    """A sample that no rank sends is missing; one that some ranks send is refused."""
    cells, mine = decomposed(io, "rows", WORLD.rank, WORLD.size)
    config = f"""[[stream]]
name = "s"
fields = ["T"]
every = "1 hour"
op = "{op}"
reduce = "mean"
over = ["lat", "lon"]
path = "{folder}/s.nc"
"""
    h = io.history(config, calendar="noleap", start="2000-01-01")
    h.field("T", "f4", "lev lat lon", cells)
    for step in range(2):
        h.time = 3600 * (step + 1)
        if step > 0:
            h["T"] = np.ascontiguousarray(mine(T[step]))
        h.end_step()
    h.time = 3600 * 3
    if WORLD.rank == 0:
        h["T"] = np.ascontiguousarray(mine(T[2]))
    if WORLD.size > 1:
        text = str(fails("TW_EMISSING", h.end_step))
        assert "field 'T' was sent by some ranks, but not by" in text
        h.time = 3600 * 4
        h["T"].send(np.ascontiguousarray(mine(T[3])), weight=None if WORLD.rank else 0)
        fails("TW_EMISMATCH", h.end_step)
    h.close()
    io.finalize()
    WORLD.barrier()
    with netCDF4.Dataset(folder / "s.nc") as f:
        values = f["T"][:]
    assert values.mask[0].all() and not values.mask[1].any()
    assert np.allclose(values[1], T[1].astype("f8").mean(axis=(1, 2)))


def test_edges(folder):
    """A field that every rank has counts once. Numbers that cancel and zeros give the same bits on
    any ranks. A window of samples with weight 0 has no value."""
    each = np.array([1e30, -1e30, 48, -0.0, 0.0, -0.0, 3, 5])
    every = np.array([1.0, 2, -1, 6])
    for who, comm in (("all", WORLD), ("one", MPI.COMM_SELF)):
        if who == "one" and WORLD.rank > 0:
            continue
        io = tw.Session(comm)
        start, count = rows(each.size, comm.rank, comm.size)
        mine = each[start : start + count]
        streams = "".join(
            f'[[stream]]\nname = "{op}"\nfields = ["*"]\nevery = "1 hour"\nop = "mean"\n'
            f'reduce = "{op}"\nover = ["x", "y"]\ntype = "double"\n'
            f'path = "{folder}/{who}_{op}.nc"\n'
            for op in ("sum", "mean", "min", "max")
        )
        with io.history(streams, calendar="noleap", start="2000-01-01") as h:
            h.coordinate("y", np.arange(4.0))
            h.field("each", "f8", "x", io.decompose(x=each.size, start=(start,), count=(count,)))
            h.field("tail", "f8", "x", io.decompose(x=each.size, start=(start,), count=(count,)))
            h.field("every", "f8", "y", None, missing="varying", missing_value=-1.0)
            for step in range(2):
                h.time = 3600 * (step + 1)
                h["each"] = mine
                h["tail"] = np.where(np.arange(start, start + count) < 2, -0.0, mine * 0)
                h["every"].send(every, weight=1 - step)
                h.end_step()
        io.finalize()
    WORLD.barrier()
    for op, good in (("sum", 9), ("mean", 3), ("min", 1), ("max", 6)):
        files = [folder / f"{who}_{op}.nc" for who in ("all", "one")]
        assert files[0].read_bytes() == files[1].read_bytes()
        with netCDF4.Dataset(files[0]) as f:
            assert f["every"][0] == good and f["every"][:].mask.tolist() == [False, True]
            assert not np.signbit(f["tail"][0])


def test_other_areas(io, folder):
    """A restart with other areas, or other numbers of regions, is refused."""
    cells, mine = decomposed(io, "rows", WORLD.rank, WORLD.size)
    config = f"""[[stream]]
name = "s"
fields = ["T"]
every = "1 day"
reduce = "mean"
over = ["lat", "lon"]
area = "area"
by = "basin"
path = "{folder}/s.nc"
"""

    def begin(area, basin):
        h = io.history(config, calendar="noleap", start="2000-01-01")
        h.field("T", "f4", "lev lat lon", cells)
        h.coordinate("area", area, "lat lon")
        h.coordinate("basin", basin, "lat lon")
        return h

    with begin(AREA, BASIN) as h, io.restart() as saved:
        h.time = 3600
        h["T"] = np.ascontiguousarray(mine(T[0]))
        h.end_step()
        h.save(saved)
        saved.write(folder / "restart.nc")
    others = [(AREA, BASIN), (AREA, np.roll(BASIN, 1)), (2 * AREA, BASIN)]
    for number, (area, basin) in enumerate(others):
        with begin(area, basin) as h, io.restart() as saved, saved.open(folder / "restart.nc") as f:
            h.ready()
            if number == 0:
                h.load(f)
            else:
                text = str(fails("TW_EDIFFERENT", lambda h=h, f=f: h.load(f)))
                assert "stream 's': 'reduce' was 'mean" in text.replace("was '0", "was 'mean")


def test_lost_digits(io, folder):
    """An integer that no double represents is refused in an expression, and so is a weight of
    counts."""
    cells = io.decompose(x=WORLD.size, start=(WORLD.rank,), count=(1,))
    start = '[[stream]]\nname = "s"\nevery = "1 hour"\n'
    field = "[stream.field.f]\nof = 'n + 1'\nunits = '1'\n"
    paths = f'path = "{folder}/s.nc"\ntype = "double"\n'
    h = io.history(start + paths + field, calendar="noleap", start="2000-01-01")
    h.field("n", "i8", "x", cells)
    values = [2**53, 2**53 + 1 if WORLD.rank == 0 else 0, -(2**60)]
    for hour, value in enumerate(values, 1):
        h.time = 3600 * hour
        if value == 2**53 + 1:
            text = str(
                fails("TW_ERANGE", lambda: h["n"].send(np.array([2**53 + 1])), everywhere=False)
            )
            assert "lacks 9007199254740993 of field 'n'" in text
        else:
            h["n"] = np.array([value])
        if hour == 2:
            fails("TW_ERANGE", h.end_step, everywhere=False)
        else:
            h.end_step()
    h.close()
    h = io.history(
        start + "fields = ['n']\nweight = 'w'\n[stream.field.f]\nof = 'n'\nop = 'count'\n",
        calendar="noleap",
        start="2000-01-01",
    )
    h.field("n", "f8", "x", cells)
    h.field("w", "f8", "x", cells)
    assert "field 'f': op = \"count\" takes no weight" in str(fails("TW_ESETTING", h.ready))
