# SPDX-License-Identifier: Apache-2.0
"""Maps of histories to other grids: compared bit for bit with sums in the order of the file and
with CDO, and byte for byte with those of one rank and of runs with a restart within a window."""

import shutil
import subprocess
from functools import partial

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, fails
from history_runs import declare_fields, run_on_all_and_one
from test_history import aggregated
from test_history_reductions import NT, NX, NY, NZ, decomposed

RNG = np.random.default_rng(5)
SHAPE = (NT, NZ, NY, NX)
T = RNG.uniform(-1, 1, SHAPE) * 10.0 ** RNG.integers(-9, 9, SHAPE)
M = RNG.uniform(1, 2, SHAPE).astype("f4")
M[RNG.random(SHAPE) < 0.4] = -999
F = RNG.uniform(1, 2, SHAPE)
F[:, 0, :3, 2:5] = -999
N = RNG.integers(-100, 100, SHAPE).astype("i4")
H = RNG.uniform(0, 5, SHAPE)
H[H < 2] = 0
FIELDS = {
    "T": (T, "none"),
    "M": (M, "varying"),
    "F": (F, "fixed"),
    "N": (N, "none"),
    "V": (T, "varying"),
}
MY, MX = 5, 4
LINKS = 150  # in no order; the last row of the target has none
ROW = RNG.integers(0, (MY - 1) * MX, LINKS)
COLUMN = RNG.integers(0, NY * NX, LINKS)
S = RNG.uniform(0, 0.3, LINKS)

# Name of a stream: its keys; the map, and whether the mean is weighted.
STREAMS = {
    "mean": ('map = "esmf"', "esmf"),
    "now": ('map = "esmf"\nop = "instant"', "esmf"),
    "sum": ('map = "scrip"\nop = "sum"', "scrip"),
    "zero": ('map = "zero"', "zero"),
    "strict": ('map = "strict"\nmin_valid = 0.5', "strict"),
    "some": ('map = "some"', "some"),
    "all": ('map = "all"', "all"),
    "level": ('map = "esmf"\nlevels = { dim = "lev", index = [1] }', "esmf"),
    "thick": ('map = "esmf"\nweight = "H"', "esmf"),
    "share": ('map = "esmf"\nop = "fraction"', "esmf"),
    # Each sample is mapped.
    "max": ('map = "some"\nop = "max"', "some"),
    "std": ('map = "zero"\nop = "std"', "zero"),
    "inner": ('map = "esmf"\ninner = { op = "min", every = "3 hours" }', "esmf"),
}
NORTH = {"lon": "east", "lat": "north"}
SCRIP = {"n_s": "num_links", "n_a": "src_grid_size", "n_b": "dst_grid_size"}
MAPS = {
    "esmf": "",
    "scrip": "",
    "zero": 'missing = "zero"',
    "strict": 'missing = "propagate"',
    "some": "min_fraction = 0.7",
    "all": "min_fraction = 1",
}


def write_maps(folder):
    """Writes a map as ESMF and as SCRIP do."""
    lat = np.repeat(np.linspace(60, -60, MY), MX)
    lon = np.tile((np.arange(MX) * 90.0 + 180) % 360, MY)
    corners = lambda x, d: x[:, None] + np.array(d)  # noqa: E731
    for name in ("esmf", "scrip"):
        esmf = name == "esmf"
        with netCDF4.Dataset(folder / f"{name}.nc", "w", format="NETCDF3_64BIT_OFFSET") as f:
            sizes = {"n_s": LINKS, "n_a": NY * NX, "n_b": MY * MX, "nv_b": 4, "dst_grid_rank": 2}
            names = {} if esmf else SCRIP
            for dim, size in sizes.items():
                f.createDimension(names.get(dim, dim), size)
            f.createDimension("num_wgts", 1)
            weights = ["n_s"] if esmf else ["num_links", "num_wgts"]
            lengths = [MX, MY] if esmf else [MY, MX]  # files of TempestRemap have both orders
            scale = 1 if esmf else np.pi / 180
            arrays = [
                ("S", "remap_matrix", "f8", weights, S.reshape(-1, *[1] * (not esmf))),
                ("row", "dst_address", "i4", ["n_s"], ROW + 1),
                ("col", "src_address", "i4", ["n_s"], COLUMN + 1),
                ("yc_b", "dst_grid_center_lat", "f8", ["n_b"], lat * scale),
                ("xc_b", "dst_grid_center_lon", "f8", ["n_b"], lon * scale),
                ("frac_b", "dst_grid_frac", "f8", ["n_b"], np.arange(MY * MX) / 20),
                ("yv_b", "", "f8", ["n_b", "nv_b"], corners(lat, [-15, -15, 15, 15])),
                ("xv_b", "", "f8", ["n_b", "nv_b"], corners(lon, [-45, 45, 45, -45]) % 360),
                ("dst_grid_dims", "dst_grid_dims", "i4", ["dst_grid_rank"], lengths),
            ]
            for own, other, kind, dims, values in arrays:
                if not esmf and not other:
                    continue
                v = f.createVariable(own if esmf else other, kind, [names.get(d, d) for d in dims])
                v[:] = values
                if kind == "f8":
                    v.units = "degrees" if esmf else "radians"
            f.map_method = "Conservative remapping" if esmf else "Bilinear remapping"


def config(folder):
    text = ""
    for name, keys in MAPS.items():
        file = folder.parent / ("scrip.nc" if name == "scrip" else "esmf.nc")
        text += f'[map.{name}]\nfile = "{file}"\n{keys}\n'
    for name, (keys, _) in STREAMS.items():
        text += f"""[[stream]]
name = "{name}"
fields = ["*", "-H"]
type = "double"
every = "6 hours"
path = "{folder}/{name}.nc"
{keys}
"""
    return text


def declare(kind, io, h, rank, size):
    cells, mine = decomposed(io, kind, rank, size)
    h.coordinate("lon", np.arange(NX) * 45.0, units="degrees_east")
    h.coordinate("lat", np.arange(NY) * 20.0 - 80, units="degrees_north")
    return declare_fields(h, cells, mine, {"H": (H, "none"), **FIELDS})


def linked(x):
    """Returns the sums of elements times weights, in the order of the file."""
    x = np.ma.filled(x.reshape(*x.shape[:-2], -1), 0)
    found = np.zeros((*x.shape[:-1], MY * MX))
    first = np.ones(MY * MX, bool)
    for row, column, s in zip(ROW, COLUMN, S, strict=True):
        term = s * x[..., column]
        found[..., row] = term if first[row] else found[..., row] + term
        first[row] = False
    return found


def mapped(y, how):
    """Maps a sample, or the result of an operation."""
    least = {"some": 0.7, "all": 1}.get(how, 1e-10)
    valid = ~np.ma.getmaskarray(y) * 1.0
    r, top, f = linked(np.ones_like(valid)), linked(y), linked(valid)
    with np.errstate(all="ignore"):
        y = top if how == "zero" else np.where(f == r, top, top / (f / r))
        bad = ~((f / r > least) | (f == r)) if how not in ("zero", "strict") else f == 0
    if how == "strict":
        bad |= f != r
    return np.ma.array(y, mask=bad | (r == 0))


def of_samples(name, samples):
    """Computes a statistic of mapped samples."""
    if name == "max":
        return samples.max(axis=0)
    if name == "std":
        return samples.std(axis=0)
    return samples.reshape(2, 3, *samples.shape[1:]).min(axis=1).mean(axis=0)


def right(name, field):
    """Computes the records of a stream."""
    how = STREAMS[name][1]
    least = {"some": 0.7, "all": 1}.get(how, 1e-10)
    records = []
    for first in (0, 6):
        values, missing = FIELDS[field]
        x = np.ma.masked_equal(values[first : first + 6].astype("f8"), -999)
        if name in ("max", "std", "inner"):
            records.append(of_samples(name, np.ma.stack([mapped(each, how) for each in x])))
            continue
        w = H[first : first + 6] if name == "thick" else np.ones(x.shape)
        w = np.where(np.ma.getmaskarray(x), 0, w)
        n, d = (w * x.filled(0)).cumsum(axis=0)[-1], w.cumsum(axis=0)[-1]
        r = linked(np.ones_like(d))
        with np.errstate(all="ignore"):
            if name == "share":
                y, bad = linked(d / 6) / r, False
            elif name == "thick" or (missing == "varying" and name not in ("now", "sum")):
                if name == "strict":
                    n, d = np.where(d >= 3, n, 0), np.where(d >= 3, d, 0)
                top, bottom, whole = linked(n), linked(d), linked((d > 0) * 1.0)
                y = top / bottom if name == "thick" else r * top / bottom
                if how == "zero":
                    y = top / 6
                if name == "thick":
                    bad = ~(bottom > 0)
                else:
                    complete = linked((d == 6) * 1.0) == r
                    bad = (
                        ~((bottom / (r * 6) > least) | complete) if how != "zero" else ~(bottom > 0)
                    )
                if how == "strict":
                    bad |= whole != r
            else:
                y = x[-1] if name == "now" else np.ma.array(n, mask=d == 0)
                y = mapped(y if name in ("now", "sum") else y / d, how)
                bad = np.ma.getmaskarray(y)
        records.append(np.ma.array(y, mask=bad | (r == 0)))
    found = np.ma.stack(records).reshape(2, NZ, MY, MX)
    return found[:, 1:2] if name == "level" else found


@pytest.mark.parametrize("kind", ["rows", "levels", "boxes", "list"])
@pytest.mark.parametrize("restart", [False, True])
def test_maps(folder, kind, restart):
    if WORLD.rank == 0:
        write_maps(folder)
    ranges = [range(5), range(5, NT)] if restart else [range(NT)]
    run_on_all_and_one(folder, config, ranges, partial(declare, kind))
    if WORLD.rank == 0:
        check(folder)


def check(folder):
    for name in STREAMS:
        with netCDF4.Dataset(folder / f"all/{name}.nc") as f:
            for field in FIELDS:
                good, found = right(name, field), f[field][:]
                masks = np.ma.getmaskarray(found), np.ma.getmaskarray(good)
                assert np.array_equal(*masks), (name, field)
                same = partial(np.ma.allclose, rtol=1e-13) if name == "std" else np.ma.allequal
                assert same(found, good), (name, field, np.ma.abs(found - good).max())
    with netCDF4.Dataset(folder / "all/mean.nc") as f:
        assert f["T"].cell_methods == "time: mean area: mean"
        assert f["T"].dimensions == ("time", "lev", "lat", "lon")
        assert f["T"].ancillary_variables == "frac_b"
        assert f["frac_b"][:].ravel().tolist() == (np.arange(MY * MX) / 20).tolist()
        assert f["lat"][:].tolist() == [60, 30, 0, -30, -60] and f["lat"].bounds == "lat_bnds"
        assert f["lat_bnds"][0].tolist() == [75, 45] and f["lon_bnds"][2].tolist() == [-45, 45]
    with netCDF4.Dataset(folder / "all/max.nc") as f:
        assert f["T"].cell_methods == "area: mean time: maximum"
    with netCDF4.Dataset(folder / "all/sum.nc") as f:
        assert f["T"].cell_methods == "time: sum"
        assert np.allclose(f["lat"][:], [60, 30, 0, -30, -60], rtol=0, atol=1e-13)


@pytest.mark.skipif(shutil.which("cdo") is None, reason="CDO is not installed")
@pytest.mark.parametrize("make", ["con", "ycon", "bil", "nn", "dis", "con2", "bic", "laf"])
def test_cdo(io, folder, make):
    """Compares with weights that CDO has made and applied, or that are no weights of a sum."""

    def run(text, streams):
        for name, keys in streams.items():
            text += f"""[[stream]]
name = "{name}"
fields = ["T"]
type = "double"
path = "{folder}/{name}.nc"
{keys}
"""
        with io.history(text, calendar="noleap", start="2000-01-01") as h:
            send = declare("list", io, h, WORLD.rank, WORLD.size)
            for step in range(4):
                h.time = 3600 * (step + 1)
                send(step)
                h.end_step()

    run("", {"samples": 'every = "1 hour"\nop = "instant"'})
    samples, weights, grid = (folder / name for name in ("samples.nc", "weights.nc", "grid"))
    if WORLD.rank == 0:
        grid.write_text("gridtype=lonlat\nxsize=6\nysize=5\nxinc=60\nyfirst=-72\nyinc=36\n")
        cdo = ["cdo", "-s", "-O"]
        subprocess.run([*cdo, f"gen{make},{grid}", samples, weights], check=True)
        remap = f"-remap,{grid},{weights}"
        for op in ("copy", "timmax", "timmin", "timstd"):
            subprocess.run([*cdo, f"-{op}", remap, samples, folder / f"cdo_{op}.nc"], check=True)
    WORLD.barrier()
    streams = {"copy": 'every = "1 hour"\nop = "instant"\nmap = "cdo"'}
    for op in ("max", "min", "std"):
        streams[f"tim{op}"] = f'every = "run"\nop = "{op}"\nmap = "cdo"'
    mapped = partial(run, f'[map.cdo]\nfile = "{weights}"\n', streams)
    if make in ("con2", "bic", "laf"):
        text = "no sum" if make == "laf" else "gradients"
        assert text in str(fails("TW_EUNSUPPORTED", mapped))
        return
    mapped()
    for op in streams:
        with (
            netCDF4.Dataset(folder / f"{op}.nc") as f,
            netCDF4.Dataset(folder / f"cdo_{op}.nc") as g,
        ):
            same = partial(np.allclose, rtol=1e-12) if op == "timstd" else np.array_equal
            assert same(f["T"][:], g["T"][:]), op


def pyramid(x, levels):
    """Returns means of the elements that are not masked, in HEALPix's nested order."""
    x = x.reshape(*x.shape[:-1], -1, 4**levels)
    valid = ~np.ma.getmaskarray(x)
    n = np.where(valid, x.filled(0), 0).cumsum(axis=-1)[..., -1] / 4**levels
    f = valid.sum(axis=-1) / 4**levels
    with np.errstate(all="ignore"):
        return np.ma.array(n / f, mask=f == 0)


@pytest.mark.parametrize("masked", [False, True])
def test_healpix(folder, masked):
    """Tests pyramids without a file, and after a map whose target is a HEALPix grid."""
    x = np.random.default_rng(3).uniform(0, 2, (2, 12 * 4**3))
    x = np.ma.array(x, mask=(x < 0.6) & masked)
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "map.nc", "w") as f:
            for dim, n in {"n_s": 768, "n_a": 768, "n_b": 768}.items():
                f.createDimension(dim, n)
            f.createVariable("S", "f8", "n_s")[:] = 1
            f.createVariable("row", "i4", "n_s")[:] = np.arange(768, 0, -1)
            f.createVariable("col", "i4", "n_s")[:] = np.arange(768, 0, -1)
    WORLD.barrier()
    text = f'[map.same]\nfile = "{folder}/map.nc"\n'
    for name, keys in {"plain": "", "mapped": 'map = "same"\n'}.items():
        text += f"""[[stream]]
name = "{name}"
fields = ["x"]
zoom = [3, 2, 0]
every = "1 hour"
op = "instant"
type = "double"
path = "{folder}/{name}{{zoom}}.nc"
{keys}
"""
    io = tw.Session(WORLD)
    first, count = 768 * WORLD.rank // WORLD.size, 768 * (WORLD.rank + 1) // WORLD.size
    cells = io.decompose(lev=2, cell=768, start=(0, first), count=(2, count - first))
    with io.history(text, calendar="noleap", start="2000-01-01") as h:
        kind = {"missing": "varying", "missing_value": -9.0, "coordinates": "lon lat"}
        h.field("x", "f8", "lev cell", cells, **kind)
        for name in NORTH:  # they are those of the finer grid
            h.coordinate(name, np.zeros(768), "cell", units="degrees_" + NORTH[name])
        h.time = 3600
        h["x"] = np.ascontiguousarray(x.filled(-9)[:, first:count])
        h.end_step()
    io.finalize()
    WORLD.barrier()
    for zoom in (3, 2, 0):
        for name in ("plain", "mapped") if WORLD.rank == 0 else ():
            with netCDF4.Dataset(folder / f"{name}{zoom}.nc") as f:
                good, found = pyramid(x, 3 - zoom), f["x"][0]
                assert np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(good))
                assert np.ma.allequal(found, good)
                assert f["x"].dimensions == ("time", "lev", "cell")
                assert f["cell"][:].tolist() == list(range(12 * 4**zoom))
                assert f[f["x"].grid_mapping].refinement_level == zoom
                assert f.Conventions == "CF-1.13" and "lon" not in f.variables


def test_healpix_in_rings(folder):
    """Tests that fields in another order than the nested one are refused."""
    text = f"""[[stream]]
name = "z"
fields = ["x"]
zoom = [1]
every = "step"
op = "instant"
path = "{folder}/z{{zoom}}.nc"
"""
    io = tw.Session(WORLD)
    h = io.history(text, calendar="noleap", start="2000-01-01")
    h.coordinate("grid", np.int32(0), "", grid_mapping_name="healpix", indexing_scheme="ring")
    first, end = 192 * WORLD.rank // WORLD.size, 192 * (WORLD.rank + 1) // WORLD.size
    cells = io.decompose(cell=192, start=first, count=end - first)
    h.field("x", "f8", "cell", cells, grid_mapping="grid")
    with pytest.raises(tw.Error, match="the cells of field 'x' are not in HEALPix's nested order"):
        h.ready()
    io.finalize()


@pytest.mark.parametrize(
    "variable, value, text",
    [
        ("row", 0, "link 3 of 150 leads from element {} of 72 to element 0 of 20"),
        ("col", 73, "link 3 of 150 leads from element 73 of 72 to element"),
        ("S", np.nan, "with the weight nan"),
        ("units", "", "'yc_b' has the units 'm', not degrees or radians"),
        ("name", ["S", "s"], "it has neither the variables S, row and col"),
        ("name", ["yv_b", "area_b"], "'area_b' has 2 dimensions, not 1"),
        ("size", "", "7: stream 's': field 'T' has 54 elements along 'lat lon': map 'm' is for 72"),
        ("grid", [9, 8], "the source grid of map 'm' is 8 x 9, but the field's 9 x 8"),
        ("levels", "", "72 elements along 'lat lon': a map needs all of them"),
    ],
)
def test_files(io, folder, variable, value, text):
    if WORLD.rank == 0:
        write_maps(folder)
        with netCDF4.Dataset(folder / "esmf.nc", "a") as f:
            if variable == "units":
                f["yc_b"].units = "m"
            elif variable == "grid":
                f.createDimension("src_grid_rank", 2)
                f.createVariable("src_grid_dims", "i4", "src_grid_rank")[:] = value
            elif variable == "name":
                f.renameVariable(*value)
            elif variable in ("row", "col", "S"):
                f[variable][2] = value
    WORLD.barrier()

    def begin():
        start = f'[map.m]\nfile = "{folder}/esmf.nc"\n[[stream]]\nname = "s"\nfields = ["T"]\n'
        levels = 'levels = { dim = "lat", index = [1] }\n' if variable == "levels" else ""
        config = start + 'every = "1 day"\nmap = "m"\n' + levels
        h = io.history(config, calendar="noleap", start="2000-01-01")
        size = {"lat": NY, "lon": 6 if variable == "size" else NX}
        h.coordinate("lon", np.arange(size["lon"]) * 45.0, units="degrees_east")
        h.coordinate("lat", np.arange(NY) * 20.0 - 80, units="degrees_north")
        first, count = NZ * WORLD.rank // WORLD.size, NZ * (WORLD.rank + 1) // WORLD.size
        box = {"start": (first, 0, 0), "count": (count - first, *size.values())}
        h.field("T", "f4", "lev lat lon", io.decompose(lev=NZ, **size, **box))
        h.ready()

    code = "TW_EUNSUPPORTED" if variable in ("units", "name") else "TW_ESETTING"
    assert text.format(COLUMN[2] + 1) in str(fails(code, begin))


def begin_small(folder, text, weight=1 / 24, north=20):
    """Returns a history of a field x on 24 x 2 elements, and a map of it to two elements."""
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "small.nc", "w") as f:
            for dim, n in {"n_s": 48, "n_a": 48, "n_b": 2, "dst_grid_rank": 2}.items():
                f.createDimension(dim, n)
            f.createVariable("S", "f8", "n_s")[:] = weight
            f.createVariable("row", "i4", "n_s")[:] = np.arange(48) // 24 + 1
            f.createVariable("col", "i4", "n_s")[:] = np.arange(48) + 1
            f.createVariable("dst_grid_dims", "i4", "dst_grid_rank")[:] = [1, 2]
            for name in ("yc_b", "xc_b"):
                v = f.createVariable(name, "f8", "n_b")
                v[:], v.units = [10, north], "degrees"
    WORLD.barrier()
    io = tw.Session(WORLD)
    h = io.history(
        f'[map.m]\nfile = "{folder}/small.nc"\n' + text, calendar="noleap", start="2000-01-01"
    )
    first, count = 2 * WORLD.rank // WORLD.size, 2 * (WORLD.rank + 1) // WORLD.size
    cells = io.decompose(y=24, lev=3, x=2, start=(0, 0, first), count=(24, 3, count - first))
    kind = {"missing": "varying", "missing_value": -9.0}
    x = h.field("X", "f8", "y lev x", cells, coordinates="lon lat", **kind)
    r = h.field("R", "f8", "y x", coordinates="lon lat")
    for name in ("lon", "lat"):
        h.coordinate(name, np.arange(48.0).reshape(24, 2), "y x", units="degrees_" + NORTH[name])
    return io, h, x, r, slice(first, count)


SMALL = """[[stream]]
name = "s"
map = "m"
type = "double"
fields = ["X", "R"]
"""


def test_orders(folder):
    """Tests more ranks than elements, a replicated field, dimensions that are apart, weights 0."""
    keys = f'every = "2 hours"\npath = "{folder}/s.nc"\n'
    io, h, x, r, mine = begin_small(folder, SMALL + keys.replace("2 h", "1 h"))
    values = np.random.default_rng(1).uniform(0, 1, (2, 24, 3, 2))
    for step, weight in enumerate([1, 0]):
        h.time = 3600 * (step + 1)
        x.send(np.ascontiguousarray(values[step][:, :, mine]), weight=weight)
        r.send(np.ascontiguousarray(values[step][:, 0]))
        h.end_step()
    h.close()
    io.finalize()
    WORLD.barrier()
    with netCDF4.Dataset(folder / "s.nc") as f:
        assert f["X"].dimensions == ("time", "cell", "lev") and f["X"].coordinates == "lat lon"
        good = values[0].transpose(0, 2, 1).reshape(2, 24, 3)
        assert np.allclose(f["X"][0], good.mean(axis=1), rtol=1e-14)
        assert np.ma.getmaskarray(f["X"][1]).all()
        assert np.allclose(f["R"][:], values[:, :, 0].reshape(2, 2, 24).mean(axis=2), rtol=1e-14)
        assert f["lat"][:].tolist() == f["lon"][:].tolist() == [10, 20]


def test_unsent(folder):
    """A sample that no rank sends is missing; one that some ranks send is refused."""
    keys = f'every = "1 hour"\nop = "max"\npath = "{folder}/s.nc"\n'
    io, h, x, _, mine = begin_small(folder, SMALL.replace(', "R"', "") + keys)
    everyone = range(WORLD.size)
    for hour, who in enumerate((range(0), everyone, everyone[-1:], everyone), 1):
        h.time = 3600 * hour
        if WORLD.rank in who:
            x.send(np.full((24, 3, mine.stop - mine.start), float(hour)))
        if 0 < len(who) < WORLD.size:
            fails("TW_EMISSING", h.end_step)
        else:
            h.end_step()
    h.close()
    io.finalize()
    WORLD.barrier()
    with netCDF4.Dataset(folder / "s.nc") as f:
        found = f["X"][:].reshape(len(f["time"]), -1)
        assert np.ma.getmaskarray(found[0]).all()
        assert np.allclose(found[1:], np.array([2, 3, 4] if WORLD.size == 1 else [2, 4])[:, None])


def test_static(folder):
    keys = f'every = "once"\npath = "{folder}/s.nc"\n'
    io, h, x, r, mine = begin_small(folder, SMALL + keys)
    h.time = 3600
    x.send(np.full((24, 3, mine.stop - mine.start), -9.0))
    r.send(np.ones((24, 2)))
    h.end_step()
    h.close()
    io.finalize()
    WORLD.barrier()
    with netCDF4.Dataset(folder / "s.nc") as f:
        assert np.ma.getmaskarray(f["X"][:]).all() and "_FillValue" in f["R"].ncattrs()


def test_changed(folder):
    """Tests that a run is refused which goes on with another map."""
    keys = f'every = "2 hours"\npath = "{folder}/s.nc"\n'
    io, h, x, r, mine = begin_small(folder, SMALL + keys)
    h.time = 3600
    x.send(np.ones((24, 3, mine.stop - mine.start)))
    r.send(np.ones((24, 2)))
    h.end_step()
    with io.restart() as saved:
        h.save(saved)
        saved.write(f"{folder}/restart.nc")
    io.finalize()
    strict = ("missing = 'propagate'\n", {})
    for text, change in (strict, ("", {"weight": 0.1}), ("", {"north": 21}), ("", {})):
        io, h, *_ = begin_small(folder, text + SMALL + keys, **change)
        with io.restart() as saved, saved.open(f"{folder}/restart.nc") as file:
            load = partial(h.load, file)
            fails("TW_EDIFFERENT", load) if text or change else load()
        io.finalize()


@pytest.mark.parametrize("fields", [1, 2])
def test_yac(io, folder, fields):
    """Tests weights as YAC writes them, without their target, and an element that no rank holds."""
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "yac.nc", "w") as f:
            sizes = {"num_links": 4, "num_wgts": 1, "src_grid_size": 5, "dst_grid_size": 2}
            for dim, n in {**sizes, "num_src_fields": fields}.items():
                f.createDimension(dim, n)
            f.createVariable("remap_matrix", "f4", ("num_links", "num_wgts"))[:] = 0.5
            f.createVariable("dst_address", "i8", "num_links")[:] = [2, 1, 2, 1]
            f.createVariable("src_address", "i4", "num_links")[:] = [5, 1, 4, 3]
    WORLD.barrier()
    text = f'[map.m]\nfile = "{folder}/yac.nc"\n' + SMALL.replace(', "R"', "")
    text += f'every = "1 hour"\npath = "{folder}/s_{{start}}.nc"\nrecords = 1\n'
    h = io.history(text + f'aggregate = "{folder}/all.nc"\n', calendar="noleap", start="2000-01-01")
    mine = np.arange(1, 5)[WORLD.rank :: WORLD.size]
    h.field("X", "f8", "c", io.decompose_list(c=5, listed=["c"], indices=mine), missing="varying")
    if fields > 1:
        fails("TW_EUNSUPPORTED", h.ready)
        return
    h.time = 3600
    h["X"] = mine * 1.0
    h.end_step()
    h.close()
    assert aggregated(folder / "all.nc", "X").tolist() == [[2, 3.5]]
