#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares expressions, counts and interpolation to levels with numpy and CDO, and the files of
several numbers of ranks, with restarts, with each other: check_computed.py SEED LAUNCHER..."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import computed_fields as model
import netCDF4
import numpy as np

HERE = Path(__file__).parent
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
every = "{every}"
op = "{op}"
{close}
type = "double"
fields = ["t", "v"]
levels = {{ dim = "lev", coordinate = "p", values = {values}, method = "{method}", name = "{dim}" }}
[stream.field.twice]
of = "t * scale + u"
units = "K"
"""
CASES = [("log", "mean", "loglev"), ("linear", "instant", "plev")]


def configuration(expressions):
    text = STREAMS
    for name, op, dim in CASES:
        every, close = ("4 hours", 'at_close = "write"') if op == "mean" else ("1 hour", "")
        text += LEVELS.format(
            name=name, op=op, method=name, dim=dim, values=PLEV, every=every, close=close
        )
    text += '[[stream]]\nname = "random"\nevery = "1 hour"\nop = "instant"\ntype = "double"\n'
    for i, (expression, _) in enumerate(expressions):
        text += f'[stream.field.e{i}]\nof = "{expression}"\nunits = "1"\n'
    return text


def run(folder, launcher, ranks, form, *arguments):
    command = [*launcher, str(ranks), sys.executable, str(HERE / "computed.py")]
    job = subprocess.run(
        [*command, "history.toml", form, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert job.returncode == 0, f"{job.stdout}{job.stderr}"


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
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(np.where(weight > 0, total / weight, model.MISSING))
    return np.array(found)


def instants(samples):
    found = [samples(step) for step in range(1, STEPS + 1)]
    return np.array([np.where(missing, model.MISSING, x) for x, missing in found])


def expected(expressions):
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
        for variable, field in (("t", lambda step: model.load("t", step)), ("twice", twice)):

            def sample(step, log=name == "log", field=field):
                return model.interpolate(*field(step), model.load("p", step)[0], PLEV, log)

            yield name, variable, instants(sample) if op == "instant" else mean(sample)
        v = instants(lambda step: model.load("v", step))
        yield name, "v", v if op == "instant" else mean(lambda step: model.load("v", step))
    for i, (_, compute) in enumerate(expressions):
        yield "random", f"e{i}", instants(compute)


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


def main():
    seed, launcher = int(sys.argv[1]), sys.argv[2:]
    rng = np.random.default_rng(seed)
    expressions = [
        ("sqrt(u*u + v*v)", model.speed),
        ("u > v", lambda step: (model.load("u", step)[0] > model.load("v", step)[0], np.False_)),
        (DIVISION, lambda step: (model.load("u", step)[0], np.ones((model.NY, model.NX), bool))),
    ]
    while len(expressions) < 15:
        wide = rng.random() < 0.5
        names = ["t", "u", "scale", "p", "ice"] if wide else ["u", "v", "ice", "n"]
        made = model.random_expression(rng, names, int(rng.integers(1, 4)))
        with np.errstate(all="ignore"):
            x, missing = made[1](1)
        # One field has all dimensions, and no result overflows.
        shape = ((model.NZ,) if wide else ()) + (model.NY, model.NX)
        has_all = np.shape(x + missing) == shape and re.search(r"\b[tp]\b" if wide else "", made[0])
        if has_all and np.isfinite(np.where(missing, 0, x)).all():
            expressions.append(made)
    text = configuration(expressions)
    runs = [(1, "boxes"), (3, "boxes"), (7, "boxes"), (3, "empty"), (3, "list"), (7, "list")]
    with tempfile.TemporaryDirectory() as root:
        folders = []
        for ranks, form in runs:
            folder = Path(root) / f"{ranks}{form}"
            folder.mkdir()
            folders.append(folder)
            (folder / "history.toml").write_text(text)
            if folder == folders[0]:
                run(folder, launcher, ranks, form, "1", str(STEPS))
                continue
            # A restart in the middle of a window continues on another number of ranks.
            run(folder, launcher, ranks, form, "1", "6", "none", "restart.nc")
            run(folder, launcher, 4 - ranks % 3, form, "7", str(STEPS), "restart.nc")
        problems = []
        with np.errstate(all="ignore"):
            for stream, name, right in expected(expressions):
                with netCDF4.Dataset(folders[0] / f"{stream}.nc") as file:
                    file.set_auto_maskandscale(False)
                    found = file[name][:]
                if found.shape != right.shape or not np.array_equal(found, right, equal_nan=True):
                    close = found.shape == right.shape and np.allclose(found, right, rtol=1e-14)
                    differing = "shape" if found.shape != right.shape else np.sum(found != right)
                    if not close or stream == "random":
                        problems.append(f"{stream}: {name} differs in {differing} values")
        for folder in folders[1:]:
            for path in folders[0].glob("*.nc"):
                if path.read_bytes() != (folder / path.name).read_bytes():
                    problems.append(f"{folder.name}/{path.name} differs from that of one rank")
        print(*problems, sep="\n")
        check_attributes(folders[0])
        check_cdo(folders[0])
    print(text if problems else "", f"computed: {len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
