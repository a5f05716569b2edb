# SPDX-License-Identifier: Apache-2.0
"""Tests format=zarr: zarr-python, xarray and tensorstore read the values that netCDF4 reads from a
netCDF-4 file of the same program."""

import importlib.util
import os
from functools import partial

import netCDF4
import numpy as np
import pytest
import thalweg as tw
import xarray as xr
import zarr
from helpers import fails, rows
from test_references import on_root
from test_variable_files import values_of

CASES = int(os.environ.get("THALWEG_TEST_CASES", "12"))
TYPES = ["i1", "S1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8"]


def case(seed):
    """Returns the lengths of dimensions, the variables by name (type, dimensions, settings), and
    the settings of the file."""
    random = np.random.default_rng([seed, 7])
    sizes = {name: int(random.integers(1, 40)) for name in "zyx"}
    codecs = [{}, {"zstd": 3}, {"deflate": 2}, {"zstd": 1, "quantize": "bitround:9"}]
    variables = {"time": ("f8", ("time",), {}), "x": ("f4", ("x",), {}), "one": ("i2", (), {})}
    for k in range(5):
        dims = [d for d in sizes if random.integers(3)]
        dtype = str(random.choice(TYPES))
        settings = dict(random.choice(codecs)) if dims else {}
        if dtype not in ("f4", "f8"):
            settings.pop("quantize", None)
        if dims and random.integers(2):
            settings["chunks"] = ",".join(
                f"{d}={random.integers(1, sizes[d] + 1)}" for d in dims if random.integers(2)
            )
            if not settings["chunks"]:
                del settings["chunks"]
        if random.integers(3):
            dims.insert(0, "time")
        variables[f"v{k}"] = (dtype, tuple(dims), settings)
    options = {
        "service": str(random.choice(["inline", "background"])),
        "writers": str(random.choice(["auto", "1", "2"])),
        "method": str(random.choice(["auto", "auto", "serial", "slabs", "direct"])),
        "piece": str(random.choice(["auto", "64", "4KiB"])),
        "publish": str(random.choice(["close", "live"])),
        "durable": bool(random.integers(2)),
    }
    return sizes, variables, options


def values_at(seed, name, dtype, shape, record):
    random = np.random.default_rng([seed, sum(map(ord, name)), record + 1])
    return values_of(random, dtype, shape)


def write(io, path, seed, begin, end, **settings):
    """Writes records; of each, all variables but one that is missing in some records."""
    sizes, variables, _ = case(seed)
    opened = io.open(path, mode="a", **settings) if begin else io.create(path, **settings)
    with opened as f:
        f.attrs["title"], f.attrs["n"] = "Fjörð", np.int16(3)
        f.define_dim("time", None)
        cuts = {}
        for name, (dtype, dims, own) in variables.items():
            fixed = [d for d in dims if d != "time"]
            cells = None
            if fixed:
                first, n = rows(sizes[fixed[0]], io.rank, io.size)
                shape = [sizes[d] for d in fixed]
                cells = io.decompose(
                    list(zip(fixed, shape, strict=True)),
                    start=[first] + [0] * (len(fixed) - 1),
                    count=[n, *shape[1:]],
                )
                cuts[name] = slice(first, first + n)
            fill = {"f4": np.float32(99), "i2": np.int16(99), "S1": "-"}
            fill = {"_FillValue": fill[dtype]} if dtype in fill else {}
            attributes = {"units": "m", "valid_range": np.array([0, 1.5], "f4"), **fill}
            f.define(name, dtype, " ".join(dims), cells, **own, **attributes)
        for record in range(begin - 1, end):
            for name, (dtype, dims, _) in variables.items():
                if ("time" in dims) == (record < begin) or (record % 3 == 1 and name == "v1"):
                    continue
                whole = values_at(
                    seed, name, dtype, [sizes[d] for d in dims if d != "time"], record
                )
                f[name] = whole[cuts[name]] if name in cuts else whole
            if record >= begin:
                f.end_step()
            if record == begin:  # read by the handle that writes
                f.sync()
                same(f.get("time", record=record), values_at(seed, "time", "f8", [], record), path)
                same(f.get("x"), values_at(seed, "x", "f4", [sizes["x"]], begin - 1), path)
        f.attrs["late"] = 2.5


def same(a, b, name):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype, (name, a.shape, b.shape, a.dtype, b.dtype)
    assert a.tobytes() == b.tobytes(), (name, a, b)


def by_tensorstore(path, name):
    import tensorstore as ts

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path / name}/"}}
    return ts.open(spec).result().read().result()


def compare(store, path):
    """Compares a store with a netCDF file."""
    group = zarr.open_consolidated(store)
    alone = zarr.open_group(store, mode="r", use_consolidated=False)
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        f.set_auto_chartostring(False)
        assert set(group.array_keys()) == set(f.variables) == set(alone.array_keys())
        assert group.attrs["title"] == f.title and group.attrs["late"] == 2.5
        for name, v in f.variables.items():
            same(group[name][...], v[...], name)
            same(alone[name][...], v[...], name)
            assert group[name].metadata.dimension_names == v.dimensions
            assert group[name].attrs["units"] == "m"
            if importlib.util.find_spec("tensorstore") and v.dtype != "S1":
                same(by_tensorstore(store, name), v[...], name)
    with xr.open_zarr(store, consolidated=True) as a, xr.open_dataset(path) as b:
        for name in b.variables:
            np.testing.assert_array_equal(a[name].values, b[name].values)


@pytest.mark.parametrize("seed", range(CASES))
def test_random(io, folder, seed):
    """Tests random definitions, chunks, codecs and settings; then reads and continues the store."""
    _, _, options = case(seed)
    store, file = folder / "store", folder / "file.nc"
    write(io, store, seed, 0, 4, format="zarr", **options)
    write(io, file, seed, 0, 4, format="netcdf4", **options)
    on_root(lambda: compare(store, file))
    both = {}
    for path in (store, file):
        with io.open(path) as f:
            both[path] = {name: f.get(name) for name in case(seed)[1] if name != "time"}
            assert f.records == 4
    for name, values in both[store].items():
        same(values, both[file][name], name)
    del options["publish"]
    write(io, store, seed, 4, 6, format="zarr", **options)
    write(io, file, seed, 4, 6, **options)
    on_root(lambda: compare(store, file))


def test_checksums(io, folder):
    """Tests that each chunk has a checksum, that a damaged chunk is an error, and that records from
    the first damaged one on are not recovered."""
    first, n = rows(60)
    cells = io.decompose(x=60, start=first, count=n)
    with io.create(folder / "a", format="zarr", checksums=True) as f:
        f.define_dim("time", None)
        f.define("T", "f4", "time x", cells)
        for _ in range(3):
            f["T"] = np.arange(first, first + n, dtype="f4")
            f.end_step()

    def damage():
        shard = folder / "a" / "T" / "c.1.0"
        bytes_ = bytearray(shard.read_bytes())
        assert np.array_equal(zarr.open_group(folder / "a", mode="r")["T"][1], np.arange(60))
        bytes_[5] ^= 1
        shard.write_bytes(bytes_)

    on_root(damage)
    with io.open(folder / "a") as f:
        error = fails("TW_EFORMAT", lambda: f.get("T", record=1))
    assert "'T'" in str(error) and "damaged" in str(error)

    def recover():
        with pytest.raises(tw.Error, match=r"damaged, by the checksums: 'T' \(records 1\)"):
            tw.recover(folder / "a")
        (folder / "a").rename(folder / "a.part")
        text = "1 record recovered; 2 records cut off, from the first on that is not whole"
        assert text in tw.recover(folder / "a")
        assert zarr.open_group(folder / "a", mode="r")["T"].shape == (1, 60)
        assert [p.name for p in (folder / "a" / "T").glob("c.*")] == ["c.0.0"]

    on_root(recover)


@pytest.mark.parametrize(
    ("variable", "settings", "text"),
    [
        (("__a", "f4", {}), {}, "'__a'"),
        (("zarr.json", "f4", {}), {}, "'zarr.json'"),
        (("a", "f4", {"zstd": 1, "shuffle": True}), {}, "shuffle"),
        (("a", "f4", {"units": b"\xff"}), {}, "attribute 'units'"),
        (("a", "f4", {}), {"packing": "cmip7"}, "packing=cmip7"),
        (("a", "f4", {}), {"storage": "posix"}, "storage=posix"),
        (("a", "f4", {}), {"files": "variable"}, "format=zarr"),
        (("a", "f4", {}), {"files": "tiles", "method": "tiles"}, "format=zarr"),
        (("a", "f4", {}), {"stripes": 2}, "format=zarr"),
    ],
)
def test_refused(io, folder, variable, settings, text):
    """Tests that what Zarr lacks is refused by name, on all ranks."""
    name, dtype, own = variable
    code = "TW_ESETTING" if settings or "zstd" in own else "TW_EFORMAT"
    if "format=zarr" in text:
        error = fails(code, lambda: io.create(folder / "a", format="zarr", **settings))
    else:
        f = io.create(folder / "a", format="zarr", **settings)
        first, n = rows(8)
        cells = io.decompose(x=8, y=3, start=[first, 0], count=[n, 3])
        f.define(name, dtype, "x y", cells, **own)
        error = fails(code, f.enddef)
        fails(code, f.close)
    assert text in str(error)


def test_texts(io, folder):
    """Tests that xarray makes strings of texts, and that the library finds their fill values."""
    first, n = rows(12)
    cells = io.decompose(x=12, start=first, count=n)
    word = np.frombuffer(b"Thalweg\0\0\0\0\0", "S1")[first : first + n]
    with io.create(folder / "a", format="zarr") as f:
        f.define_dim("time", None)
        f.define("a", "S1", "time x", cells)
        f.define("b", "S1", "time x", cells, _FillValue="-")
        f.define("c", "S1", "time x", cells, _FillValue="\0")
        for record in range(2):
            f["a"] = word
            if record == 0:
                f["b"] = word
            f.end_step()

    def judge():
        with xr.open_zarr(folder / "a", consolidated=True) as data:
            assert data["a"].values.tolist() == [b"Thalweg", b"Thalweg"]
            assert data["b"].values.tolist() == [b"Thalweg", b"-" * 12]

    on_root(judge)
    with io.open(folder / "a") as f:
        same(f.get("b")[1], np.full(12, b"-", "S1"), "b")
        fills = {name: dict(f.variables[name].attrs) for name in "abc"}
    assert fills == {"a": {}, "b": {"_FillValue": "-"}, "c": {"_FillValue": ""}}


def test_replaced_record(io, folder):
    """Tests that a record that is replaced without a value reads as fill, as in netCDF-4."""
    first, n = rows(60)
    cells = io.decompose(x=60, start=first, count=n)
    found = {}
    for format_ in ("netcdf4", "zarr"):
        path = folder / format_
        for append in (False, True):
            make = partial(io.open, mode="a") if append else io.create
            with make(path, format=format_) as f:
                f.define_dim("time", None)
                f.define("T", "f4", "time x", cells, zstd=1)
                f.define("time", "f8", "time")
                if append:
                    f.set_record(1)
                    busy = partial(fails, "TW_EINUSE", partial(tw.recover, path), everywhere=False)
                    on_root(busy)
                for record in range(1 if append else 3):
                    f["time"] = 7.0 + record
                    if not append:
                        f["T"] = np.arange(first, first + n, dtype="f4")
                    f.end_step()
        with io.open(path) as f:
            found[format_] = f.get("T")
    same(found["zarr"], found["netcdf4"], "T")
    assert (found["zarr"][1] > 9e36).all() and (found["zarr"][2] < 60).all()


def test_copied_attribute(io, folder):
    """Tests that an attribute of quantization, as of a copied variable, quantizes nothing."""
    first, n = rows(8)
    cells = io.decompose(x=8, start=first, count=n)
    digits = {"_QuantizeBitGroomNumberOfSignificantDigits": np.int32(2)}
    for make, attributes in ((io.create, digits), (partial(io.open, mode="a"), {})):
        with make(folder / "a", format="zarr") as f:
            f.define_dim("time", None)
            f.define("T", "f4", "time x", cells, **attributes)
            f["T"] = np.arange(first, first + n, dtype="f4") + 1 / 3
            f.end_step()
    with io.open(folder / "a") as f:
        same(f.get("T"), [np.arange(8, dtype="f4") + np.float32(1 / 3)] * 2, "T")


def test_other_stores(io, folder):
    """Tests that stores of others are refused."""

    def prepare():
        zarr.create_group(folder / "other").create_array("a", shape=3, dtype="f4")

    on_root(prepare)
    error = fails("TW_EFORMAT", lambda: io.open(folder / "other"))
    assert "not a Zarr store of this library" in str(error)
    fails("TW_EEXISTS", lambda: io.create(folder / "other", format="zarr"))


def test_lost_files(io, folder):
    """Tests that a lost file is an error, and one that was never written is not: as the store was
    closed, while it is continued, and after it was recovered."""
    first, n = rows(600)
    cells = io.decompose(x=600, start=first, count=n)
    part = np.arange(first, first + n, dtype="f4")
    path = folder / "a"

    def lost(name, record):
        files = list((path / name).glob(f"c.{record}.*"))
        on_root(lambda: [file.rename(path / file.name) for file in files])
        with io.open(path) as f:
            error = fails("TW_EFORMAT", lambda: f.get(name, record=record))
            assert "the file is missing" in str(error) and f"'{name}'" in str(error)
        on_root(lambda: [(path / file.name).rename(file) for file in files])

    def write(make, settings, records):
        with make(path, format="zarr", publish="live") as f:
            f.define_dim("time", None)
            for name in ("T", "packed"):
                f.define(name, "f4", "time x", cells, **(settings if name == "packed" else {}))
            for k in records:
                f["T"] = part
                if k % 2 == 0:
                    f["packed"] = part
                f.end_step()
                f.sync()
                lost("T", k)

    write(io.create, {"zstd": 1}, range(3))
    for records in (range(3, 5), range(5, 6)):
        lost("packed", 2)
        write(partial(io.open, mode="a"), {}, records)
    on_root(lambda: (path.rename(folder / "a.part"), tw.recover(path)))
    lost("packed", 4)
    with io.open(path) as f:
        assert (f.get("packed")[1::2] > 9e36).all() and (f.get("packed")[::2] < 600).all()
    on_root(lambda: [file.unlink() for file in (path / "packed").glob("c.4.*")])
    write(partial(io.open, mode="a"), {}, range(6, 7))  # a lost file stays lost
    with io.open(path) as f:
        assert "the file is missing" in str(fails("TW_EFORMAT", lambda: f.get("packed", record=4)))
    f = io.open(path, mode="a", format="zarr")
    for name in ("T", "packed"):
        f.define(name, "f4", "time x", cells)
    f.put_record("packed", part, 4)
    assert "the file is missing" in str(fails("TW_EFORMAT", f.end_step))
    fails("TW_EFORMAT", f.close)


def test_rewritten_files(io, folder):
    """Tests that nothing is written where another program has moved the chunks of a file."""
    first, n = rows(60)
    cells = io.decompose([("y", 60), ("x", 7)], start=[first, 0], count=[n, 7])
    with io.create(folder / "a", format="zarr") as f:
        f.define_dim("time", None)
        f.define("T", "f4", "time y x", cells, chunks="y=20")
        for _ in range(2):
            f["T"] = np.ones((n, 7), "f4")
            f.end_step()

    def rewrite():
        array = zarr.open_group(folder / "a", mode="a", use_consolidated=False)["T"]
        array[0, :20] = array.fill_value

    on_root(rewrite)
    with io.open(folder / "a") as f:
        values = f.get("T")
        assert (values[0, :20] > 9e36).all() and (values[0, 20:] == 1).all()
    f = io.open(folder / "a", mode="a", format="zarr")
    f.define("T", "f4", "time y x", cells)
    f.put_record("T", np.full((n, 7), 2, "f4"), 0)
    error = fails("TW_EFORMAT", f.end_step)
    assert "another program has rewritten it" in str(error)
    fails("TW_EFORMAT", f.close)
