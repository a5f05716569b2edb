# SPDX-License-Identifier: Apache-2.0
"""Expressions, counts and interpolation to levels of histories: compared with NumPy and CDO, and
byte for byte with those of one rank, for several decompositions and over a restart in a window."""

import re
import shutil
import subprocess
from functools import partial

import computed_fields as model
import netCDF4
import numpy as np
import pytest
from helpers import WORLD, rows
from history_runs import run_on_all_and_one

STEPS, WINDOW = 10, 4
PLEV = [850.0, 500.0, 200.0]
DIVISION = "(u+v)/(u-u)+log(v)"
STREAMS = """
[field.where]
of = "u where ice > 0.15"
[field.speed]
of = "sqrt(u*u + v*v)"
units = "m s-1"
[[stream]]
name = "mean"
path = "{folder}/mean.nc"
every = "4 hours"
at_close = "write"
type = "double"
fields = ["where", "speed"]
[stream.field.count]
of = "u where ice > 0.15"
op = "count"
[stream.field.share]
of = "u where ice > 0.15"
op = "fraction"
[stream.field.most]
of = "u"
op = "max"
"""
LEVELS = """
[[stream]]
name = "{name}"
path = "{folder}/{name}.nc"
op = "{op}"
{windows}
type = "double"
fields = ["t", "v"]
levels = {{ dim = "lev", coordinate = "p", values = {values}, method = "{name}", name = "{dim}" }}
[stream.field.twice]
of = "t * scale + u"
units = "K"
"""
CASES = [("log", "mean", "loglev"), ("linear", "instant", "plev")]


def make_expressions():
    rng = np.random.default_rng(1)
    found = [
        ("sqrt(u*u + v*v)", model.speed),
        ("u > v", lambda step: (model.load("u", step)[0] > model.load("v", step)[0], np.False_)),
        (DIVISION, lambda step: (model.load("u", step)[0], np.ones((model.NY, model.NX), bool))),
    ]
    while len(found) < 15:
        wide = rng.random() < 0.5
        names = ["t", "u", "scale", "p", "ice"] if wide else ["u", "v", "ice", "n"]
        made = model.random_expression(rng, names, int(rng.integers(1, 4)))
        with np.errstate(all="ignore"):
            x, missing = made[1](1)
        # One field has all dimensions, and no result overflows.
        shape = ((model.NZ,) if wide else ()) + (model.NY, model.NX)
        has_all = np.shape(x + missing) == shape and re.search(r"\b[tp]\b" if wide else "", made[0])
        if has_all and np.isfinite(np.where(missing, 0, x)).all():
            found.append(made)
    return found


EXPRESSIONS = make_expressions()


def config(folder):
    text = STREAMS.format(folder=folder)
    for name, op, dim in CASES:
        windows = 'every = "4 hours"\nat_close = "write"' if op == "mean" else 'every = "1 hour"'
        text += LEVELS.format(
            folder=folder, name=name, op=op, values=PLEV, windows=windows, dim=dim
        )
    text += f'[[stream]]\nname = "random"\npath = "{folder}/random.nc"\nevery = "1 hour"\n'
    text += 'op = "instant"\ntype = "double"\n'
    for i, (expression, _) in enumerate(EXPRESSIONS):
        text += f'[stream.field.e{i}]\nof = "{expression}"\nunits = "1"\n'
    return text


def declare(form, io, h, rank, size):
    first, n = rows(model.NY, rank, size)
    cells = np.random.default_rng(1).permutation(model.NY * model.NX)[rank::size]

    def held(dims):
        sizes = {dim: model.SIZES[dim] for dim in dims.split()}
        if form == "list":
            return io.decompose_list(sizes, listed="y x", indices=cells)
        start = [first if dim == "y" else 0 for dim in sizes]
        count = [n if dim == "y" else length for dim, length in sizes.items()]
        if form == "empty":
            none = [0 if dim == "x" else m for dim, m in zip(sizes, count, strict=True)]
            return io.decompose(sizes, boxes=[(start, none), (start, count)])
        return io.decompose(sizes, start=start, count=count)

    def part(dims, values):
        if form == "list":
            return np.ascontiguousarray(values.reshape(*values.shape[:-2], -1)[..., cells])
        index = tuple(slice(first, first + n) if d == "y" else slice(None) for d in dims.split())
        return np.ascontiguousarray(values[index])

    for name, (dtype, dims, attributes) in model.FIELDS.items():
        # The order of one field in memory is another than in the file.
        order = "y x lev" if form == "boxes" and name == "p" else dims
        h.field(name, dtype, dims, held(order) if "y" in dims else None, **attributes)

    def send(step):
        # The order of the fields changes, so each of them is the last one in some step.
        names = list(model.FIELDS)
        for name in names[step % len(names) :] + names[: step % len(names)]:
            dims = model.FIELDS[name][1]
            values = model.value(name, step + 1)
            if "y" in dims:
                values = part(dims, values)
            if form == "boxes" and name == "p":
                values = np.ascontiguousarray(np.moveaxis(values, 0, 2))
            if h[name].wanted and form == "empty" and "y" in dims:
                h[name].send_block(1, values)
                h[name].send_block(0, values[..., :0])
            elif h[name].wanted:
                h[name].send(values)

    return send


def windows():
    return [range(first, min(first + WINDOW, STEPS + 1)) for first in range(1, STEPS + 1, WINDOW)]


def mean(samples):
    """Returns means over windows of (values, missing), by the order of the samples."""
    found = []
    for window in windows():
        total, weight = 0.0, 0.0
        for step in window:
            x, missing = samples(step)
            w = np.where(missing, 0.0, 1.0)
            total = total + np.where(w > 0, x, -0.0)
            weight = weight + w
        found.append(np.where(weight > 0, total / weight, model.MISSING))
    return np.array(found)


def instants(samples):
    found = [samples(step) for step in range(1, STEPS + 1)]
    return np.array([np.where(missing, model.MISSING, x) for x, missing in found])


def expected():
    """Returns the values of all variables, by stream."""

    def where(step):
        (u, _), (ice, missing) = model.load("u", step), model.load("ice", step)
        return u, missing | ~(ice > 0.15)

    def twice(step):
        (t, missing), (scale, _) = model.load("t", step), model.load("scale", step)
        return t * scale + model.load("u", step)[0], missing

    valid = [np.sum([~where(step)[1] for step in window], axis=0) for window in windows()]
    u = [np.max([model.load("u", step)[0] for step in window], axis=0) for window in windows()]
    yield "mean", "where", mean(where)
    yield "mean", "speed", mean(model.speed)
    yield "mean", "count", np.array(valid, "f8")
    yield "mean", "share", np.array([n / len(w) for n, w in zip(valid, windows(), strict=True)])
    yield "mean", "most", np.array(u)
    for name, op, _ in CASES:
        over = instants if op == "instant" else mean
        for variable, field in (("t", partial(model.load, "t")), ("twice", twice)):

            def sample(step, log=name == "log", field=field):
                return model.interpolate(*field(step), model.load("p", step)[0], PLEV, log)

            yield name, variable, over(sample)
        yield name, "v", over(partial(model.load, "v"))
    for i, (_, compute) in enumerate(EXPRESSIONS):
        yield "random", f"e{i}", instants(compute)


@pytest.mark.parametrize("form, restart", [("boxes", 0), ("boxes", 6), ("empty", 6), ("list", 6)])
def test_computed(folder, form, restart):
    ranges = [range(restart), range(restart, STEPS)] if restart else [range(STEPS)]
    run_on_all_and_one(folder, config, ranges, partial(declare, form))
    if WORLD.rank > 0:
        return
    with np.errstate(all="ignore"):
        for stream, name, right in expected():
            with netCDF4.Dataset(folder / f"all/{stream}.nc") as file:
                file.set_auto_maskandscale(False)
                found = file[name][:]
            same = np.array_equal(found, right, equal_nan=True)
            close = found.shape == right.shape and np.allclose(found, right, rtol=1e-14)
            assert same or (close and stream != "random"), (stream, name, config(""))
    check_attributes(folder / "all")
    if shutil.which("cdo"):
        check_cdo(folder / "all")


def check_attributes(folder):
    """Checks that metadata are right: units of products are not copied."""
    with netCDF4.Dataset(folder / "mean.nc") as file:
        assert file["where"].units == "m s-1" and file["count"].units == "1"
        assert file["where"].standard_name == "eastward_wind"
        assert file["where"].cell_methods == "time: mean (where ice > 0.15)"
        assert file["count"].standard_name == "eastward_wind number_of_observations"
        assert file["speed"].long_name == "sqrt(u*u + v*v)"
        assert not hasattr(file["speed"], "standard_name")
        assert not hasattr(file["share"], "standard_name")
    with netCDF4.Dataset(folder / "log.nc") as file:
        assert file["loglev"].units == "Pa" and file["loglev"][:].tolist() == PLEV


def cdo(folder, *words):
    subprocess.run(["cdo", "-s", "-O", *words], cwd=folder, check=True, timeout=60)


def check_cdo(folder):
    """Compares an expression, and an interpolation, with CDO."""
    wanted = np.broadcast_to(np.array(PLEV)[:, None, None], (3, model.NY, model.NX))
    step = STEPS - 1
    inputs = {name: model.load(name, step)[0] for name in ("u", "v", "t", "p")}
    for path, names in {"uv": ("u", "v"), "t": ("t",), "p": ("p",), "wanted": ("p",)}.items():
        with netCDF4.Dataset(folder / f"{path}.nc", "w") as file:
            for name in names:
                values = wanted if path == "wanted" else inputs[name]
                dims = ("z", "y", "x")[-values.ndim :]
                for dim, n in zip(dims, values.shape, strict=True):
                    if dim not in file.dimensions:
                        file.createDimension(dim, n)
                if "z" in dims:
                    z = file.createVariable("z", "f8", ("z",))
                    z.axis = "Z"
                    z[:] = np.arange(len(values))
                file.createVariable(name, "f8", dims, fill_value=model.MISSING)[:] = values
    cdo(folder, "-b", "F64", f"expr,e=sqrt(u*u+v*v);c=u>v;d={DIVISION}", "uv.nc", "expressions.nc")
    cdo(folder, "-b", "F64", "intlevel3d,wanted.nc", "t.nc", "p.nc", "levels.nc")
    with (
        netCDF4.Dataset(folder / "random.nc") as ours,
        netCDF4.Dataset(folder / "expressions.nc") as file,
    ):
        for i, name in enumerate("ecd"):
            found, right = ours[f"e{i}"][step - 1], file[name][...].squeeze()
            assert np.array_equal(np.ma.filled(found, np.inf), np.ma.filled(right, np.inf)), (
                name,
                found,
                right,
            )
    with (
        netCDF4.Dataset(folder / "linear.nc") as ours,
        netCDF4.Dataset(folder / "levels.nc") as file,
    ):
        # CDO takes the nearest value if only the other one is missing.
        found, right = ours["t"][step - 1], file["t"][...].squeeze()
        both = ~np.ma.getmaskarray(found)
        assert not np.ma.getmaskarray(right)[both].any()
        # CDO has the coordinate in single precision.
        assert both.mean() > 0.3 and np.allclose(found[both], right[both], atol=2e-5)
