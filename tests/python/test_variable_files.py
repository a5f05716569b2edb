# SPDX-License-Identifier: Apache-2.0
"""Tests the settings files=variable and files=zarr: each file is a valid netCDF file, and the
folder is a Zarr store with the same values."""

import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import thalweg as tw
import xarray as xr
import zarr
from helpers import WORLD, fails, rows
from test_references import on_root

sys.path.append(str(Path(__file__).parent.parent / "zarr"))

from opened import attribute, same_bits

OLD_TYPES = ["i1", "S1", "i2", "i4", "f4", "f8"]
NEW_TYPES = [*OLD_TYPES, "u1", "u2", "u4", "i8", "u8"]


def values_of(random, dtype, shape):
    if dtype == "S1":
        return np.frombuffer(b"abcdefgh", "S1")[random.integers(0, 8, shape)]
    return (random.standard_normal(shape) * 50).astype(dtype)


def case(seed):
    """Returns a case: the dimensions; the variables by name (type, dimensions, and whether they
    have records); and the values."""
    random = np.random.default_rng(seed)
    sizes = {name: int(random.integers(1, 40)) for name in ("z", "y", "x")}
    types = OLD_TYPES if seed % 2 else NEW_TYPES
    variables = {"time": ("f8", (), True), "x": ("f4", ("x",), False), "one": ("i2", (), False)}
    if seed % 3 == 0:
        del variables["time"]
    for k in range(4):
        dims = tuple(d for d in sizes if random.integers(2))
        variables[f"v{k}"] = (str(random.choice(types)), dims, bool(random.integers(2)))
    records = int(random.integers(0, 5))
    values = {}
    for name, (dtype, dims, record) in variables.items():
        shape = [sizes[d] for d in dims]
        values[name] = values_of(random, dtype, [records, *shape] if record else shape)
    return sizes, variables, records, values


def write(io, path, seed, **settings):
    sizes, variables, records, values = case(seed)
    with io.create(path, attrs={"title": "all", "n": np.int32(3)}, **settings) as f:
        cuts = {}
        f.define_dim("time", None)
        for name, (dtype, dims, record) in variables.items():
            cells = None
            if dims:
                first, n = rows(sizes[dims[0]], io.rank, io.size)
                shape = [sizes[d] for d in dims]
                cells = io.decompose(
                    list(zip(dims, shape, strict=True)),
                    start=[first] + [0] * (len(dims) - 1),
                    count=[n, *shape[1:]],
                )
                cuts[name] = slice(first, first + n)
            fill = {"_FillValue": np.float32(-1)} if dtype == "f4" else {}
            f.define(
                name,
                dtype,
                " ".join((["time"] if record else []) + list(dims)),
                cells,
                long_name=f"{name} of the case",
                **fill,
            )
        for k in range(-1, records):
            for name, (_, _, record) in variables.items():
                if record == (k >= 0):
                    whole = values[name][k] if record else values[name]
                    f[name] = whole[cuts[name]] if name in cuts else whole
            if k >= 0:
                f.end_step()
        f.attrs["late"] = "yes"
    return variables, values


def check_netcdf(path, name, dims, values, coordinates, shard):
    done = subprocess.run(["ncvalidator", "-q", path], capture_output=True, text=True)
    if values.size > 0 and not shard:  # ncvalidator rejects files that end with their header
        assert done.returncode == 0, done.stdout + done.stderr
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        assert list(f.variables)[-1] == name and f.late == "yes" and f.n == 3
        assert f[name].dimensions == dims
        assert same_bits(f[name][...], values), name
        # Each file can be used alone.
        assert set(f.variables) == {d for d in dims if d in coordinates} | {name}
        return {k: attribute(f[name].getncattr(k)) for k in f[name].ncattrs()}


def check(path, variables, values, shards):
    assert not path.with_name(path.name + ".part").exists()
    coordinates = {"time", "x"} & set(variables)
    for name, (_, dims, record) in variables.items():
        dims = (("time",) if record else ()) + dims
        attributes = check_netcdf(
            path / f"{name}.nc", name, dims, values[name], coordinates, shards
        )
        if not shards:
            continue
        array = zarr.open_group(path, mode="r")[name]
        assert same_bits(array[...], values[name]), name
        assert array.metadata.dimension_names == dims
        found = dict(array.attrs)
        assert ("_FillValue" in found) == ("_FillValue" in attributes)
        found.pop("_FillValue", None), attributes.pop("_FillValue", None)
        assert found == attributes
    if shards:
        group = zarr.open_group(path, mode="r", use_consolidated=True)
        assert set(group.array_keys()) == set(variables)
        assert dict(group.attrs) == {"title": "all", "n": 3, "late": "yes"}
        with xr.open_zarr(path) as data:
            for name in variables:
                with xr.open_dataset(path / f"{name}.nc") as file:
                    np.testing.assert_array_equal(data[name].values, file[name].values)


def check_read(io, path, variables, values):
    with io.open(path) as f:
        for name in variables:
            if values[name].size > 0 and values[name].dtype != "S1":
                found = f.get(name)
                assert np.array_equal(np.asarray(found).reshape(values[name].shape), values[name])


@pytest.mark.parametrize("seed", range(8))
def test_random(io, folder, seed):
    settings = {
        "service": ["inline", "background"][seed % 2],
        "format": "cdf1" if seed % 2 else "cdf5",
        "method": ["auto", "slabs", "serial", "record"][seed % 4],
        "files": "zarr" if seed % 4 > 0 else "variable",
        "writers": "auto" if seed % 3 else 2,
    }
    path = folder / "history"
    variables, values = write(io, path, seed, **settings)
    on_root(lambda: check(path, variables, values, settings["files"] == "zarr"))
    check_read(io, path, variables, values)


def test_servers(comm, folder):
    if comm.size == 1:
        return
    with tw.Session(comm, servers=1) as io:
        if io.is_server:
            return
        path = folder / "history"
        variables, values = write(io, path, 1, files="zarr", service="servers", format="cdf1")
        if io.rank == 0:
            check(path, variables, values, True)


def test_names(io, folder):
    names = ["t", "T", "a b", "50%", "zarr.json", "c", "x" * 250, "X" * 250, "größe", "__m"]
    names += ["t.nc", "zarr.json.part", "T%n1"]
    path = folder / "names"
    with io.create(path, files="zarr") as f:
        for name in names:
            f.define(name, "f8", "")
        for k, name in enumerate(names):
            f[name] = float(k)

    def look():
        found = {}
        for file in path.glob("*.nc"):
            with netCDF4.Dataset(file) as f:
                found.update({name: float(f[name][...]) for name in f.variables})
        assert found == {name: k for k, name in enumerate(names)}
        assert len({p.name.lower() for p in path.glob("*.nc")}) == len(names)
        group = zarr.open_group(path, mode="r")
        assert sorted(float(a[...]) for _, a in group.arrays()) == list(range(len(names)))
        assert group["T%n1"][...] == 1 and group["a%20b"][...] == 2 and group["größe"][...] == 8

    on_root(look)
    with io.open(path) as f:
        assert [float(f.get(name)) for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    "settings",
    [
        {"format": "netcdf4"},
        {"storage": "netcdf4"},
        {"stripes": 2},
    ],
)
def test_refused(io, folder, settings):
    error = fails("TW_ESETTING", lambda: io.create(folder / "a", files="variable", **settings))
    assert "files=variable" in str(error)
    assert WORLD.bcast(list(folder.iterdir())) == []


def test_no_variables(io, folder):
    f = io.create(folder / "a", files="variable")
    error = fails("TW_ESETTING", f.enddef)
    assert "needs a variable" in str(error)
    fails("TW_ESETTING", f.close)


def test_existing(io, folder):
    """Tests that files of other programs are not replaced, and that two handles cannot write one
    folder."""

    def prepare():
        (folder / "full").mkdir()
        (folder / "full" / "mine.txt").write_text("mine")
        (folder / "empty").mkdir()
        (folder / "file").write_text("mine")

    on_root(prepare)
    for name in ("full", "file"):
        fails("TW_EEXISTS", lambda name=name: io.create(folder / name, files="variable"))
    with io.create(folder / "empty", files="variable") as f:
        f.define("a", "f8", "")
        fails("TW_EINUSE", lambda: io.create(folder / "empty", files="variable"))
        f["a"] = 1.0
    with io.open(folder / "empty") as f:
        assert f.get("a") == 1.0
    fails("TW_EEXISTS", lambda: io.create(folder / "empty", files="variable"))
    fails("TW_ESETTING", lambda: io.create(folder / "new", files="variable", mode="append"))


def test_other_folders(io, folder):
    """Tests that other netCDF files are not opened as one data set, and that a missing file is
    an error."""

    def prepare():
        for name in ("atmosphere", "ocean"):
            (folder / "output").mkdir(exist_ok=True)
            with netCDF4.Dataset(
                folder / "output" / f"{name}.nc", "w", format="NETCDF3_CLASSIC"
            ) as f:
                for k in range(2):
                    f.createVariable(f"{name[0]}{k}", "f8", ())[...] = k

    on_root(prepare)
    error = fails("TW_EFORMAT", lambda: io.open(folder / "output"))
    assert "atmosphere.nc" in str(error) and "'a1'" in str(error)
    with io.create(folder / "lost", files="zarr") as f:
        f.define("a", "f8", "")
        f.define("b", "f8", "")
        f["a"] = f["b"] = 1.0
    on_root(lambda: (folder / "lost" / "b" / "c").unlink())
    assert "b.nc" in str(fails("TW_EIO", lambda: io.open(folder / "lost")))
    fails("TW_EFORMAT", lambda: io.open(folder / "output", mode="a"))


def test_written_once(io, folder):
    """Tests that the files can neither be appended to, nor read through the handle that writes
    them."""
    with io.create(folder / "a", files="variable") as f:
        f.define("a", "f8", "")
        f["a"] = 1.0
        f.sync()
        assert "files=variable" in str(fails("TW_EUNSUPPORTED", lambda: f.get("a")))
    error = fails("TW_EUNSUPPORTED", lambda: io.open(folder / "a", mode="a"))
    assert "append" in str(error)
    error = fails("TW_ESETTING", lambda: io.open(folder / "a", mode="a", files="variable"))
    assert "append" in str(error)
    with io.open(folder / "a") as f:
        assert f.get("a") == 1.0


def rows_of(name, record, shape):
    return np.random.default_rng([record, len(name)]).standard_normal(shape)


def test_chunks(io, folder):
    """Tests variables that are divided into chunks, variables that cannot be divided evenly, and
    adjacent records of three bytes."""
    shapes = {"cut": (1200, 2000), "prime": (1009, 2503)}
    path = folder / "chunks"
    with io.create(path, files="zarr") as f:
        f.define_dim("time", None)
        for name, (ny, nx) in shapes.items():
            first, n = rows(ny)
            cells = io.decompose(
                [(f"y{ny}", ny), ("x" + name, nx)], start=[first, 0], count=[n, nx]
            )
            f.define(name, "f8", f"time y{ny} x{name}", cells)
        for record in range(2):
            for name, shape in shapes.items():
                first, n = rows(shape[0])
                f[name] = rows_of(name, record, shape)[first : first + n]
            f.end_step()

    def look():
        group = zarr.open_group(path, mode="r")
        for name, shape in shapes.items():
            expected = [rows_of(name, record, shape) for record in range(2)]
            assert np.array_equal(group[name][...], expected)
            # Read a part from its own chunks only.
            assert np.array_equal(group[name][1, 1000:, 5:9], expected[1][1000:, 5:9])
        inner = group["cut"].metadata.codecs[0].chunk_shape
        assert inner[0] == 1 and 1 << 20 <= 8 * np.prod(inner) <= 16 << 20

    on_root(look)


def test_fill_values(io, folder):
    """Tests that records which were not written are missing in both views."""
    fills = {"f8": np.nan, "f4": 1e20, "i2": -7, "i1": -1}
    path = folder / "fill"
    first, n = rows(6)
    cells = io.decompose(x=6, start=first, count=n)
    with io.create(path, files="zarr") as f:
        f.define_dim("time", None)
        for name, fill in fills.items():
            f.define(name, name, "time x", cells, _FillValue=np.dtype(name).type(fill))
        for written in ("f8", "i2"):
            f[written] = np.full(n, 3, written)
            f.end_step()

    def look():
        with xr.open_zarr(path) as data:
            for k, name in enumerate(fills):
                with xr.open_dataset(path / f"{name}.nc") as file:
                    np.testing.assert_array_equal(data[name].values, file[name].values)
                missing = np.isnan(data[name].values).all(axis=1).tolist()
                assert missing == {0: [False, True], 2: [True, False]}.get(k, [True, True])

    on_root(look)


def test_associated(io, folder):
    """Tests bounds, grid mapping and coordinates that attributes name."""
    path = folder / "cf"
    x = io.decompose(x=4, start=0, count=4 if WORLD.rank == 0 else 0)
    with io.create(path, files="variable", publish="live") as f:
        f.define("crs", "i4", "")
        f.define("lon", "f8", "x", x, bounds="lon_b")
        f.define("lon_b", "f8", "x", x)
        f.define("T", "f8", "x", x, coordinates="lon missing", grid_mapping="crs: x")
        for name in ("lon", "lon_b", "T"):
            f[name] = np.arange(4.0 if WORLD.rank == 0 else 0)
        f["crs"] = 7

    def look():
        with netCDF4.Dataset(path / "T.nc") as f:
            assert set(f.variables) == {"crs", "lon", "lon_b", "T"}
            for name in ("lon", "lon_b", "T"):
                assert np.array_equal(f[name][...], np.arange(4.0))
            assert f["crs"][...] == 7
        with netCDF4.Dataset(path / "crs.nc") as f:
            assert set(f.variables) == {"crs"}

    on_root(look)
