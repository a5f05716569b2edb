# SPDX-License-Identifier: Apache-2.0
"""Levels of histories: layers, and extrapolation below the ground, compared with NumPy, with CDO if
it is installed, and byte for byte with those of one rank, over a restart within a window."""

import shutil
import subprocess
from functools import partial

import netCDF4
import numpy as np
import pytest
from helpers import WORLD, fails, rows
from history_runs import run_on_all_and_one

NT, NZ, NY, NX = 4, 8, 7, 6
RNG = np.random.default_rng(4)
# A hybrid coordinate: interfaces of layers, and their middles.
A = np.array([0, 2000, 8000, 15000, 18000, 14000, 8000, 3000, 0.0])[:, None, None]
B = np.array([0, 0, 0.02, 0.1, 0.3, 0.55, 0.78, 0.93, 1])[:, None, None]
PS = RNG.uniform(55000, 104000, (NT, NY, NX))
PH = A + B * PS[:, None]
P = (PH[:, 1:] + PH[:, :-1]) / 2
PHIS = RNG.uniform(-2000, 32000, (NY, NX))
PHIS[0, :2] = 0
TA, Q, ZG = (RNG.uniform(a, b, P.shape) for a, b in ((230, 315), (0, 1), (0, 2e4)))
Q[RNG.random(P.shape) < 0.1] = -999
LEVELS, LAYERS = [110000, 100000, 85000, 60000, 500], [0, 20000, 60000, 85000, 120000]
R, G, LAPSE = 287.0597, 9.80665, 0.0065
NAMES = {"ta": "air_temperature", "zg": "geopotential_height", "phi": "geopotential", "q": "other"}
VALUES = {"ta": TA, "zg": ZG, "phi": ZG * G, "q": Q}
UNITS = {"ta": "K", "zg": "m", "phi": "m2 s-2", "phis": "m2/s2", "q": "1"}
DIMS = {"ps": "lat lon", "phis": "lat lon", "ph": "ilev lat lon"}


def config(folder):
    text = ""
    for name, op in (("mean", "mean"), ("now", "instant")):
        for method in ("linear", "log", "conservative"):
            layers = method == "conservative"
            more = "\n".join(
                [
                    'levels.below = "extrapolate"',
                    'levels.surface_pressure = "ps"',
                    'levels.surface_geopotential = "phis"',
                    'levels.temperature = "ta"',
                ]
            )
            text += f"""[[stream]]
name = "{name}_{method}"
every = "{2 if op == "mean" else 1} hours"
fields = ["ta", "zg", "phi", "q"]
op = "{op}"
type = "double"
path = "{folder}/{name}_{method}.nc"
levels.dim = "lev"
levels.name = "{"layer" if layers else "plev"}"
levels.method = "{method}"
levels.coordinate = "{"ph" if layers else "p"}"
levels.values = {LAYERS if layers else LEVELS}
{"" if layers else more}
"""
    return (
        text
        + f"""[[stream]]
name = "space"
every = "2 hours"
fields = ["ta", "q"]
type = "double"
path = "{folder}/space.nc"
reduce = "mean"
over = ["lat", "lon"]
levels = {{ dim = "lev", coordinate = "p", values = {LEVELS} }}
"""
    )


def declare(kind, io, h, rank, ranks):
    cells = np.random.default_rng(8).permutation(NY * NX)[rank::ranks]
    start, count = rows(NY, rank, ranks)

    def held(dims):
        size = {d: {"lat": NY, "lon": NX, "lev": NZ, "ilev": NZ + 1}[d] for d in dims}
        if kind == "list":
            return io.decompose_list(size, listed=["lat", "lon"], indices=cells)
        begin = [start if d == "lat" else 0 for d in size]
        own = [count if d == "lat" else n for d, n in size.items()]
        return io.decompose(size, start=begin, count=own)

    def mine(values):
        if kind == "list":
            return values.reshape(*values.shape[:-2], -1)[..., cells].copy()
        part = values[..., start : start + count, :]
        column = kind == "columns" and values.ndim == 3
        return np.ascontiguousarray(np.moveaxis(part, 0, -1) if column else part)

    inputs = {"p": P, "ph": PH, "ps": PS, "phis": [PHIS] * NT, **VALUES}
    for name in inputs:
        dims = DIMS.get(name, "lev lat lon")
        attributes = {"units": UNITS.get(name, "Pa")}
        if name in NAMES:
            attributes["standard_name"] = NAMES[name]
        if name == "q":
            attributes |= {"missing": "varying", "missing_value": -999.0}
        order = dims.split()
        if kind == "columns" and len(order) == 3:
            order = order[1:] + order[:1]
        h.field(name, "f8", dims, held(order), **attributes)

    def send(step):
        names = list(inputs)
        for name in names[step:] + names[:step]:
            h[name] = mine(inputs[name][step])

    return send


def below(name, wanted, p, value, warm, ps, phis):
    """Extrapolates one value."""
    plain = warm * (1 + LAPSE * R / G * (ps / p - 1))
    surface = 0.5 * (255 + plain) if plain < 255 else plain
    sea = surface + LAPSE * phis / G
    if sea > 290.5 and surface > 290.5:
        surface = sea = 0.5 * (290.5 + surface)
    elif sea > 290.5:
        sea = 290.5
    return plain, surface, sea


def ground(name, log, wanted, p, value, warm, ps, phis):
    if name == "q":
        return value
    unit = G if name == "zg" else 1
    plain, surface, sea = below(name, wanted, p, value, warm, ps, phis)
    if wanted <= ps:
        x, y = (np.log(wanted / p), np.log(ps / p)) if log else (wanted - p, ps - p)
        end = surface if name == "ta" else phis / unit
        return value + (end - value) * x / y
    if name == "ta":
        surface, sea, height = plain, plain + LAPSE * phis / G, phis / G
        if height > 2000 and sea > 298:
            sea = 298 if height > 2500 else ((2500 - height) * sea + (height - 2000) * 298) / 500
    rise = sea - surface
    flat = rise < 1e-6 if name == "ta" else abs(rise) < 1e-6
    alpha, depth = 0 if flat else R * rise / phis, np.log(wanted / ps)
    y = alpha * depth
    if name == "ta":
        return surface * (1 + y + y**2 / 2 + y**3 / 6)
    return (phis - R * surface * depth * (1 + y / 2 + y**2 / 6)) / unit


def right(name, method, ground_too=True):
    """Interpolates all samples; NaN: missing."""
    values = np.where(VALUES[name] == -999, np.nan, VALUES[name])
    size = len(LAYERS) - 1 if method == "conservative" else len(LEVELS)
    found = np.full((NT, size, NY, NX), np.nan)
    for t, j, y, x in np.ndindex(*found.shape):
        v, p, ph = values[t, :, y, x], P[t, :, y, x], PH[t, :, y, x]
        if method == "conservative":
            low, high = LAYERS[j], LAYERS[j + 1]
            width = np.clip(np.minimum(ph[1:], high) - np.maximum(ph[:-1], low), 0, None)
            there = (width > 0) & ~np.isnan(v)
            if there.any():
                found[t, j, y, x] = np.sum(width[there] * v[there]) / width[there].sum()
            continue
        f = np.log if method == "log" else np.float64
        low = np.flatnonzero(~np.isnan(v))[-1]
        if LEVELS[j] >= p[low]:
            if not ground_too:
                continue
            found[t, j, y, x] = ground(
                name, f is np.log, LEVELS[j], p[low], v[low], TA[t, low, y, x], PS[t, y, x],
                PHIS[y, x],
            )  # fmt: skip
        elif LEVELS[j] > p[0]:
            k = np.searchsorted(p, LEVELS[j])
            share = (f(LEVELS[j]) - f(p[k - 1])) / (f(p[k]) - f(p[k - 1]))
            found[t, j, y, x] = (1 - share) * v[k - 1] + share * v[k]
    return found


@pytest.mark.parametrize("kind", ["rows", "columns", "list"])
@pytest.mark.parametrize("restart", [False, True])
def test_levels(folder, kind, restart):
    ranges = [range(1), range(1, NT)] if restart else [range(NT)]
    run_on_all_and_one(folder, config, ranges, partial(declare, kind))
    if WORLD.rank > 0:
        return
    for method in ("linear", "log", "conservative"):
        for name in VALUES:
            samples = right(name, method)
            with netCDF4.Dataset(folder / f"all/now_{method}.nc") as f:
                found = f[name][:].filled(np.nan)
                assert np.allclose(found, samples, rtol=1e-12, equal_nan=True), (method, name)
            halves = samples.reshape(2, 2, *samples.shape[1:])
            number = (~np.isnan(halves)).sum(axis=1)
            with netCDF4.Dataset(folder / f"all/mean_{method}.nc") as f:
                means = np.nansum(halves, axis=1) / np.where(number > 0, number, np.nan)
                found = f[name][:].filled(np.nan)
                assert np.allclose(found, means, rtol=1e-12, equal_nan=True), (method, name)
                if method == "conservative":
                    assert f["layer"].bounds == "layer_bnds"
                    assert (
                        f["layer_bnds"][:].ravel().tolist() == np.repeat(LAYERS, 2)[1:-1].tolist()
                    )
    with netCDF4.Dataset(folder / "all/space.nc") as f:
        for name in ("ta", "q"):
            samples = right(name, "linear", False).reshape(2, 2, len(LEVELS), NY, NX)
            means = np.nanmean(samples, axis=(1, 3, 4))
            assert np.allclose(f[name][:].filled(np.nan), means, rtol=1e-12, equal_nan=True), name
    if shutil.which("cdo"):
        check_cdo(folder)


def check_cdo(folder):
    """Compares temperatures everywhere, and heights below the ground, with those of CDO, which
    takes heights of interfaces, and extrapolates at the top."""
    with netCDF4.Dataset(folder / "in.nc", "w", format="NETCDF3_CLASSIC") as file:

        def add(name, dims, values, **attributes):
            for dim, n in zip(dims.split(), np.shape(values), strict=True):
                if dim not in file.dimensions:
                    file.createDimension(dim, None if dim == "time" else n)
            made = file.createVariable(name, "f8", dims.split())
            made.setncatts(attributes)
            made[:] = values

        add("time", "time", np.arange(NT), units="hours since 2000-01-01", calendar="noleap")
        add("lat", "lat", np.arange(NY), units="degrees_north")
        add("lon", "lon", np.arange(NX), units="degrees_east")
        for dim, n, words, a, b in (
            ("lev", NZ, "midpoints", "hyam", "hybm"),
            ("ilev", NZ + 1, "interfaces", "hyai", "hybi"),
        ):
            add(
                dim,
                dim,
                np.arange(1, n + 1),
                long_name=f"hybrid level at layer {words}",
                units="level",
                formula=f"{a} {b} ({dim}={a}+{b}*aps)",
            )
        for name, dim, values in (("a", "ilev", A), ("b", "ilev", B)):
            add(f"hy{name}i", dim, values.ravel())
            add(f"hy{name}m", "lev", (values[1:] + values[:-1]).ravel() / 2)
        add("aps", "time lat lon", PS, units="Pa", code=134, standard_name="surface_air_pressure")
        add("geosp", "time lat lon", [PHIS] * NT, code=129, standard_name="surface_geopotential")
        add("ta", "time lev lat lon", TA, units="K", code=130, standard_name=NAMES["ta"])
        add("zg", "time lev lat lon", ZG, units="m", code=156, standard_name=NAMES["zg"])
    levels = ",".join(map(str, LEVELS))
    files = [folder / "in.nc", folder / "out.nc"]
    subprocess.run(["cdo", "-s", "-b", "F64", f"ml2plx,{levels}", *files], check=True)
    with (
        netCDF4.Dataset(folder / "out.nc") as theirs,
        netCDF4.Dataset(folder / "all/now_linear.nc") as ours,
    ):
        ground = np.array(LEVELS)[:, None, None] > PS[:, None]
        for name, where in (("ta", ~np.ma.getmaskarray(ours["ta"][:])), ("zg", ground)):
            good, found = theirs[name][:][where], ours[name][:][where]
            assert len(found) > 100 and np.allclose(found, good, rtol=1e-7, atol=1e-3), name


GROUND = 'below = "extrapolate", surface_pressure = "{}", surface_geopotential = "{}"'


@pytest.mark.parametrize(
    "keys, text",
    [
        ('below = "extrapolate"', "the air_temperature 'ta', 'surface_pressure', "),
        ('surface_pressure = "p"', "'surface_pressure' needs below = \"extrapolate\""),
        ('method = "conservative"', "'p' has to have a dimension of length 9 in place of 'lev'"),
        (
            'below = "extrapolate", surface_pressure = "p", surface_geopotential = "p"',
            "'p' has to have no dimension 'lev'",
        ),
        (GROUND.format("hpa", "phis"), "5: stream 's': levels: below: 'hpa' has the units 'hPa'"),
        (GROUND.format("ps", "height"), "'height' has the units 'm', but needs 'm2 s-2'"),
        (GROUND.format("ps", "phis"), "'tc' has the units 'degC', but needs 'K'"),
        (
            'method = "conservative", below = "extrapolate"',
            "'below' has no effect with method = \"conservative\"",
        ),
    ],
)
def test_errors(io, keys, text):
    def begin():
        cells = io.decompose({"lev": NZ, "lat": WORLD.size}, start=[0, WORLD.rank], count=[NZ, 1])
        column = io.decompose({"lat": WORLD.size}, start=[WORLD.rank], count=[1])
        name = "tc" if "tc" in text else "ta"
        start = f'[[stream]]\nname = "s"\nfields = ["{name}"]\nevery = "1 day"\n'
        keys_of = f'dim = "lev", coordinate = "p", values = [5, 6], {keys}'
        h = io.history(f"{start}levels = {{ {keys_of} }}\n", calendar="noleap", start="2000-01-01")
        h.field("p", "f8", "lev lat", cells, units="Pa")
        for name, units in (("ta", "K"), ("tc", "degC")):
            h.field(name, "f8", "lev lat", cells, standard_name="air_temperature", units=units)
        for name, units in (("ps", "Pa"), ("hpa", "hPa"), ("phis", "m2 s-2"), ("height", "m")):
            h.field(name, "f8", "lat", column, units=units)
        h.ready()

    assert text in str(fails("TW_ESETTING", begin))
