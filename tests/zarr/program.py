# SPDX-License-Identifier: Apache-2.0
"""Tests `thalweg zarr` with files that netCDF4 has written, of all formats, types and filters."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from opened import compare, load, open_group, open_references, same_bits

from layout import check_layout

sys.path.append(str(Path(__file__).parent.parent / "tools"))

import unlisted
from thalweg.__main__ import main

CASES = int(os.environ.get("THALWEG_TEST_CASES", "12"))
CLASSIC = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"]
FORMATS = [*CLASSIC, "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]
OLD_TYPES = ["i1", "S1", "i2", "i4", "f4", "f8"]
NEW_TYPES = [*OLD_TYPES, "u1", "u2", "u4", "i8", "u8"]


def run(*arguments, cwd=None, command="zarr"):
    """Runs the command in this process, which has loaded netCDF4 and h5py."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or "."),
    ):
        try:
            code = main([command, *map(str, arguments)])
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def refer(*arguments, cwd=None):
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr


def fails(text, *arguments):
    done = run(*arguments)
    assert done.returncode == 1 and text in done.stderr, (done.returncode, done.stdout, done.stderr)


def types_of(form):
    return OLD_TYPES if form in CLASSIC or form == "NETCDF4_CLASSIC" else NEW_TYPES


def values_of(random, dtype, shape):
    if dtype == "S1":
        letters = np.frombuffer(b"abcdefgh", "S1")
        return letters[random.integers(0, 8, shape)]
    if dtype[0] == "f":
        values = random.standard_normal(shape).astype(dtype)
        return np.where(random.random(shape) < 0.02, np.nan, values).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def storage_of(random, form, shape, dtype):
    """Chooses the storage of a variable in netCDF-4."""
    if not form.startswith("NETCDF4") or not shape:
        return {}
    options = {"shuffle": bool(random.integers(2)), "fletcher32": bool(random.integers(2))}
    codec = random.choice(["none", "zlib", "zstd"])
    if codec != "none":
        options["compression"] = str(codec)
        options["complevel"] = int(random.integers(1, 6))
    if random.integers(2):
        options["chunksizes"] = [int(random.integers(1, n + 1)) for n in shape]
    if dtype[0] in "iuf" and random.integers(2):
        options["endian"] = str(random.choice(["little", "big"]))
    return options


def define(f, random, form):
    """Defines the dimensions and variables of a random file."""
    f.title = "Fjörð"
    f.numbers = random.standard_normal(3).astype("f4")
    f.createDimension("time", None)
    lengths = {name: int(random.integers(1, 9)) for name in "zyx"}
    for name, n in lengths.items():
        f.createDimension(name, n)
    for k in range(int(random.integers(1, 6))):
        dtype = str(random.choice(types_of(form)))
        dims = [name for name in "zyx" if random.integers(2)]
        if random.integers(3) > 0:
            dims.insert(0, "time")
        shape = [lengths.get(name, 4) for name in dims]
        fill = values_of(random, dtype, ()) if random.integers(2) else None
        v = f.createVariable(
            f"v {k}é", dtype, dims, fill_value=fill, **storage_of(random, form, shape, dtype)
        )
        v.units = "m s-1"
        if dtype != "S1":
            v.valid_range = values_of(random, dtype, 2)


def write(path, random, form, records):
    with netCDF4.Dataset(path, "w", format=form) as f:
        define(f, random, form)
        put(f, random, records)


def put(f, random, records, fixed=None):
    """Puts the values of all variables.

    fixed: the generator for those without records"""
    f.set_auto_maskandscale(False)
    f.set_auto_chartostring(False)
    for v in f.variables.values():
        own = random if fixed is None or "time" in v.dimensions else fixed
        if own.integers(8) == 0:
            continue  # this variable keeps the fill value
        shape = [records if name == "time" else len(f.dimensions[name]) for name in v.dimensions]
        if 0 not in shape:
            v[...] = values_of(own, v.dtype.str[1:], shape)


def options_of(random):
    options = []
    if random.integers(4) > 0:
        options += ["--copy", int(random.choice([0, 10, 100]))]
    if random.integers(4) > 0:
        options += ["--chunk", int(random.choice([8, 40, 100, 1000]))]
    return options


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(CASES))
def test_any_file(tmp_path, form, seed):
    random = np.random.default_rng([seed, FORMATS.index(form)])
    path = tmp_path / "any.nc"
    write(path, random, form, int(random.choice([0, 1, 3, 7])))
    refer(path, *options_of(random))
    compare(f"{path}.json", path)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(CASES))
def test_any_stream(tmp_path, form, seed):
    """Tests files with the same definitions and fixed-size values, and any numbers of records."""
    random = np.random.default_rng([seed, FORMATS.index(form), 1])
    options = options_of(random)
    paths, parts = [], []
    for k, records in enumerate(random.choice([0, 1, 2, 4], int(random.integers(2, 5)))):
        same = np.random.default_rng([seed, 2])
        path = tmp_path / f"{k}.nc"
        with netCDF4.Dataset(path, "w", format=form) as f:
            define(f, same, form)
            put(f, random, records, same)
            parts.append({n: (np.array(v[...]), v.dimensions) for n, v in f.variables.items()})
        paths.append(path)
    done = run(*paths, "-o", tmp_path / "all.json", *options)
    if "not a multiple" in done.stderr:
        return  # the variable has chunks of several records, which are too large to be copied
    assert done.returncode == 0, done.stderr
    group = open_group(tmp_path / "all.json")
    assert set(group.array_keys()) == set(parts[0])
    for name, (first, dims) in parts[0].items():
        joined = np.concatenate([p[name][0] for p in parts]) if dims[:1] == ("time",) else first
        assert same_bits(group[name][...], joined), name


@pytest.mark.parametrize("form", FORMATS)
def test_xarray_finds_the_same(tmp_path, form):
    path = tmp_path / "decoded.nc"
    random = np.random.default_rng(5)
    with netCDF4.Dataset(path, "w", format=form) as f:
        f.createDimension("time", None)
        f.createDimension("x", 300)
        f.createDimension("n", 6)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "hours since 1999-12-31", "noleap"
        packed = f.createVariable("packed", "i2", ("time", "x"), fill_value=-1)
        packed.scale_factor, packed.add_offset = 0.5, 10.0
        names = f.createVariable("name", "S1", ("x", "n"))
        f.set_auto_maskandscale(False)
        f.set_auto_chartostring(False)
        for k in range(4):
            time[k] = 6 * k
            packed[k] = random.integers(-1, 3, 300)
        names[...] = values_of(random, "S1", (300, 6))
    for options in ([], ["--copy", 0]):
        refer(path, *options)
        with xr.open_dataset(path) as a, open_references(f"{path}.json") as b:
            xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())
            assert a["packed"].isnull().any()


def make(path, form="NETCDF3_64BIT_DATA", records=2, **changes):
    """Makes a small file of a stream that differs in something."""
    with netCDF4.Dataset(path, "w", format=form) as f:
        f.createDimension("time", None)
        f.createDimension("x", changes.get("nx", 40))
        t = f.createVariable("T", changes.get("dtype", "f4"), ("time", "x"))
        t.units = changes.get("units", "K")
        if "extra" in changes:
            f.createVariable(changes["extra"], "f4", ("time", "x"))
        lat = f.createVariable("lat", "f8", ("x",))
        lat[:] = changes.get("lat", 1.0)
        for k in range(records):
            t[k] = k


@pytest.mark.parametrize(
    "change, text",
    [
        ({"nx": 41}, "variable 'T': it is float(time, x=41) in big-endian byte order"),
        ({"dtype": "f8"}, "variable 'T': it is double"),
        ({"units": "degC"}, "variable 'T': attribute units"),
        ({"extra": "U"}, "it has a variable 'U'"),
        ({"lat": 2.0}, "variable 'lat': its values differ"),
        ({"form": "NETCDF4"}, "byte order"),
    ],
)
def test_files_that_differ(tmp_path, change, text):
    make(tmp_path / "a.nc")
    make(tmp_path / "b.nc", **change)
    fails(text, tmp_path / "a.nc", tmp_path / "b.nc", "-o", tmp_path / "r.json")
    fails("b.nc", tmp_path / "a.nc", tmp_path / "b.nc", "-o", tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()
    if "extra" in change:
        fails("no variable 'U'", tmp_path / "b.nc", tmp_path / "a.nc", "-o", tmp_path / "r.json")


def test_chunks_of_several_records_that_do_not_divide_a_file(tmp_path):
    for name in "ab":
        with netCDF4.Dataset(tmp_path / f"{name}.nc", "w") as f:
            f.createDimension("time", None)
            f.createDimension("x", 2000000)
            v = f.createVariable("T", "f8", ("time", "x"), chunksizes=(2, 1000000))
            v[0:3] = 1.0
    files = [tmp_path / "a.nc", tmp_path / "b.nc"]
    fails("a.nc has 3 records, not a multiple of the 2 of a chunk", *files, "-o", tmp_path / "r")
    refer(*files, "-o", tmp_path / "r", "--skip", "T")


def stream(path, first, *, records=4, chunk=2, kind="f4", since=2000, z=1, **more):
    """Writes a file of a stream."""
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("x", 20000)
        f.createVariable("time", "f8", ("time",), chunksizes=(512,))[:] = first + np.arange(records)
        f["time"].units = f"days since {since}-01-01"
        v = f.createVariable("T", kind, ("time", "x"), chunksizes=(chunk, 20000), **more)
        v[:records] = 1
        f.createVariable("z", "f8", ())[...] = z


def test_reasons_against_joining(tmp_path):
    a, b, c, d = (tmp_path / f"{name}.nc" for name in "abcd")
    stream(a, 0)
    stream(b, 4)
    stream(c, 8, records=3)
    stream(d, 6, chunk=3, kind="f8", zlib=True, fill_value=3.0, since=1999, z=2, records=3)
    good = run(a, b, c, command="joinable")
    assert good.returncode == 0 and good.stdout == f"{a}, {b}, {c}: can be joined\n", good
    disorder = [f"variable 'T': {c} has 3 records, not a multiple", "begins with 4.0, but the file"]
    change = ["days since 1999", "double(time, x=20000)", "_FillValue: 3.0", "chunks (3, 20000)"]
    change += ["filters [(2, 8), (1, 0)]", f"'z': 2.0, but in {a} 1.0"]
    for files, reasons in [((a, c, b), disorder), ((a, d), change)]:
        done = run(*files, command="joinable")
        lines = done.stdout.splitlines()
        assert done.returncode == 1 and len(lines) == len(reasons) + 1, done
        assert all(any(why in line for line in lines) for why in reasons), done
        assert "cannot be joined" in lines[-1]
    assert run(a, tmp_path / "none.nc", command="joinable").returncode == 2


def test_repack_to_the_layout_of_cmip7(tmp_path):
    program = os.environ["THALWEG_TEST_PROGRAM"]
    stream(tmp_path / "a.nc", 0, records=300, zlib=True)
    command = [program, "repack", "--packing", "cmip7", tmp_path / "a.nc", tmp_path / "b.nc"]
    subprocess.run(command, check=True)
    chunks = check_layout(tmp_path / "b.nc")
    assert chunks["T"] == (60, 20000) and chunks["time"] == (300,)
    subprocess.run([program, "verify", tmp_path / "a.nc", tmp_path / "b.nc"], check=True)


def test_damaged_and_foreign_files(tmp_path):
    (tmp_path / "text.nc").write_text("not netCDF at all")
    fails("text.nc", tmp_path / "text.nc")
    (tmp_path / "empty.nc").touch()
    fails("empty.nc", tmp_path / "empty.nc")
    fails("none.nc", tmp_path / "none.nc")
    fails("is a directory", tmp_path)
    for form in ["NETCDF3_64BIT_OFFSET", "NETCDF4"]:
        path = tmp_path / f"{form}.nc"
        make(path, form, records=50)
        with open(path, "r+b") as f:
            f.truncate(path.stat().st_size - 3000)
        fails(str(path), path)
    assert not list(tmp_path.glob("*.json"))


def test_what_is_there_is_not_replaced(tmp_path):
    make(tmp_path / "a.nc")
    before = (tmp_path / "a.nc").read_bytes()
    fails("not a JSON file", tmp_path / "a.nc", "-o", tmp_path / "a.nc")
    assert (tmp_path / "a.nc").read_bytes() == before
    fails("'S'", tmp_path / "a.nc", "--skip", "S")
    refer(tmp_path / "a.nc")
    refer(tmp_path / "a.nc")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.nc", "a.nc.json"]


def test_variables_with_many_dimensions(tmp_path):
    for form in FORMATS:
        path = tmp_path / f"{form}.nc"
        with netCDF4.Dataset(path, "w", format=form) as f:
            for k in range(24):
                f.createDimension(f"d{k}", 1)
            f.createVariable("many", "f8", [f"d{k}" for k in range(24)])[:] = 1
        refer(path, "--copy", 0)
        compare(f"{path}.json", path)


def test_an_order_that_is_not_that_of_the_times(tmp_path):
    files = []
    for form in ["NETCDF3_64BIT_DATA", "NETCDF4"]:
        for k in range(3):
            files.append(tmp_path / f"{form}.{k}.nc")
            with netCDF4.Dataset(files[-1], "w", format=form) as f:
                f.createDimension("time", None)
                f.createVariable("time", "i4", ("time",))[0:2] = [256 * k - 1, 256 * k]
        first, middle, last = files[-3:]
        done = run(first, middle, last, "-o", tmp_path / "r.json")
        assert (done.returncode, done.stderr) == (0, "")
        done = run(last, first, "-o", tmp_path / "r.json")
        assert f"{first}: variable 'time' begins with -1, but the file before" in done.stderr
        assert f"{last.name}, ends with 512" in done.stderr and done.returncode == 0
        found = open_group(tmp_path / "r.json")["time"][...].tolist()
        assert found == [511, 512, -1, 0]


def test_the_command_line(tmp_path):
    make(tmp_path / "a.nc")
    make(tmp_path / "b.nc")
    out = tmp_path / "r.json"
    refer("--skip", "T,lat", tmp_path / "a.nc")
    assert not list(open_group(f"{tmp_path}/a.nc.json").array_keys())
    refer("--skip", "T", "--skip", "lat", tmp_path / "a.nc", "--chunk", "1MiB", "--copy", "1 KiB")
    fails("twice", tmp_path / "a.nc", tmp_path / "b.nc", tmp_path / "a.nc", "-o", out)
    fails("cannot write references", tmp_path / "a.nc", "-o", tmp_path / "none" / "r.json")
    for wrong in [(), ("a.nc", "b.nc"), ("a.nc", "--chunk", 0), ("a.nc", "--copy", -1)]:
        assert run(*wrong, cwd=tmp_path).returncode == 2, wrong
    for value in ("0", "-1", "nan", "1e30", "99999999999999999999", ""):
        done = run("a.nc", "--chunk", value, cwd=tmp_path)
        assert done.returncode == 2 and "--chunk" in done.stderr, (value, done)
    with netCDF4.Dataset(tmp_path / "c.nc", "w") as f:
        f.createDimension("x", 2)
        for name in ("u,t", "v", "w"):
            f.createVariable(name, "f4", ("x",))[:] = 1
    refer(tmp_path / "c.nc", "--skip", "u\\,t,v")
    assert list(open_group(f"{tmp_path}/c.nc.json").array_keys()) == ["w"]
    fails("'nosuch'", tmp_path / "c.nc", "--skip", "nosuch")


def test_the_program(tmp_path):
    """Tests that `thalweg zarr` runs the command, and says what is missing where it cannot."""
    make(tmp_path / "a.nc")
    command = [os.environ["THALWEG_TEST_PROGRAM"], "zarr", "--skip", "T", "a.nc", "-o", "r.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "r.json: references to a.nc\n"), done
    assert list(open_group(tmp_path / "r.json").array_keys()) == ["lat"]
    own = {"PYTHONPATH": "", "PATH": os.defpath}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=own)
    assert done.returncode == 1 and "pip install" in done.stderr, done


def test_strings_cannot_be_referred_to(tmp_path):
    path = tmp_path / "s.nc"
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("x", 3)
        f.createVariable("word", str, ("x",))
        f.createVariable("T", "f4", ("x",))[:] = 1
    fails("variable 'word': it is of type string", path)
    refer(path, "--skip", "word")
    assert list(open_group(f"{path}.json").array_keys()) == ["T"]


def test_objects_that_netcdf_does_not_list(tmp_path):
    path, out = tmp_path / "in.nc", tmp_path / "in.json"
    cases = [(k, where) for k in unlisted.COMPARABLE for where in ("variable", "T", "file")]
    for kind, where in cases + [(kind, "variable") for kind in unlisted.LOW]:
        unlisted.write(path, kind, where)
        if where == "variable":
            fails("'odd'", path)
            fails("--skip", path)
        done = run(path, "-o", out, *(["--skip", "odd"] if where == "variable" else ()))
        assert done.returncode == 0, (kind, where, done.stderr)
        assert where == "variable" or unlisted.name_of(where) in done.stderr, (kind, done.stderr)
        assert "T/.zarray" in json.loads(out.read_text())["refs"]
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("x", 2)
        data.createVariable("T", "f4", ("x",))[:] = [1, 2]
        data["T"].setncattr_string("words", ["a", "b"])
        data.createGroup("inner")
    done = run(path)
    assert done.returncode == 0 and "'T:words'" in done.stderr and "1 groups" in done.stderr, done


def test_layouts_that_only_hdf5_has(tmp_path):
    """Tests data with other filters, layouts or types than netCDF-C writes: they are refused, or
    copied where they are small."""
    path = tmp_path / "odd.nc"

    def create(name, make):
        with h5py.File(path, "w", libver="latest") as f:
            for d, n in (("y", 70), ("x", 90)):
                f.create_dataset(d, data=np.arange(float(n)))
                f[d].make_scale(d)
            v = make(f, name)
            v[...] = values
            v.dims[0].attach_scale(f["y"])
            v.dims[1].attach_scale(f["x"])

    def low_level(set_options, kind=h5py.h5t.STD_I32LE):
        def make(f, name):
            options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            set_options(options)
            space = h5py.h5s.create_simple((70, 90))
            return h5py.Dataset(h5py.h5d.create(f.id, name.encode(), kind, space, options))

        return make

    values = np.arange(6300, dtype="i4").reshape(70, 90)
    chunked = {"shape": (70, 90), "dtype": "i4", "chunks": (30, 40)}
    for make in (
        lambda f, name: f.create_dataset(name, scaleoffset=0, **chunked),
        low_level(lambda p: p.set_layout(h5py.h5d.COMPACT)),
        low_level(lambda p: p.set_external(bytes(tmp_path / "raw"), 0, values.nbytes)),
    ):
        create("T", make)
        refer(path, "--copy", 0)
        refs = load(f"{path}.json")["refs"]
        assert refs["T/0.0"].startswith("base64:")
        compare(f"{path}.json", path)
    create("T", lambda f, name: f.create_dataset(name, compression=1, shuffle=True, **chunked))
    refer(path, "--copy", 0)
    compare(f"{path}.json", path)
    create("T", lambda f, name: f.create_dataset(name, **chunked))
    path.rename(tmp_path / "other.nc")
    with h5py.File(path, "w") as f:
        for name in ("y", "x", "T"):
            f[name] = h5py.ExternalLink("other.nc", name)
    refer(path, "--copy", 0)
    assert load(f"{path}.json")["refs"]["T/0.0"].startswith("base64:")
    create("T", lambda f, name: f.create_dataset(name, compression=1, shuffle=True, **chunked))
    with h5py.File(path, "r+") as f:  # a chunk without filters
        f["T"].id.write_direct_chunk((30, 40), values[30:60, 40:80].tobytes(), filter_mask=3)
    refer(path, "--copy", 0)
    assert load(f"{path}.json")["refs"]["T/0.0"].startswith("base64:")
    compare(f"{path}.json", path)


def test_other_folders_and_odd_names(tmp_path):
    data = tmp_path / "data é"
    out = tmp_path / "out"
    data.mkdir()
    out.mkdir()
    for name in ["a b.nc", "a{{b}}.nc", "a::b:c.nc", "%41.nc", "ü.nc"]:
        make(data / name)
        refer(data / name, "-o", out / "r.json")
        compare(out / "r.json", data / name)
        refer(Path("..") / data.name / name, "-o", "q.json", cwd=out)
        assert (out / "q.json").read_bytes() == (out / "r.json").read_bytes()
        refer(data / name, "-o", out / "r.json", "--absolute", "--copy", 0)
        places = {r[0] for r in load(out / "r.json")["refs"].values() if isinstance(r, list)}
        assert places == {str(data / name)}
        compare(out / "r.json", data / name)
        with xr.open_dataset(data / name) as a, open_references(out / "r.json") as b:
            xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())


def test_a_link_to_a_file(tmp_path):
    (tmp_path / "far").mkdir()
    make(tmp_path / "far" / "a.nc")
    (tmp_path / "link.nc").symlink_to(tmp_path / "far" / "a.nc")
    refer(tmp_path / "link.nc", "--copy", 0)
    compare(tmp_path / "link.nc.json", tmp_path / "far" / "a.nc")


def test_large_variables_are_cut(tmp_path):
    """Tests chunks of 1 to 16 MiB, for levels and for a mesh with a prime number of cells."""
    path = tmp_path / "large.nc"
    random = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
        for name, n in [("time", None), ("lev", 37), ("lat", 181), ("lon", 720), ("cell", 5000011)]:
            f.createDimension(name, n)
        f.createVariable("T", "f4", ("time", "lev", "lat", "lon"))
        f.createVariable("S", "f8", ("time", "cell"))
        f.createVariable("time", "f8", ("time",))
        for k in range(2):
            f["T"][k] = random.standard_normal((37, 181, 720))
            f["S"][k] = random.standard_normal(5000011)
            f["time"][k] = k
    refer(path)
    group = open_group(f"{path}.json")
    for name in "TS":
        array = group[name]
        assert 1 << 20 <= np.prod(array.chunks) * array.dtype.itemsize <= 16 << 20, array.chunks
    assert group["S"].chunks[1] < 5000011
    compare(f"{path}.json", path)
