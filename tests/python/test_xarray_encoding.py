# SPDX-License-Identifier: Apache-2.0
"""Tests encodings of data sets that are inherited from a file, or passed by a program."""

import netCDF4
import numpy as np
import pandas as pd
import pytest
import thalweg as tw
import thalweg.xarray
import xarray as xr
from helpers import WORLD

pytestmark = pytest.mark.skipif(WORLD.size > 1, reason="one process")

N = 6
TIMES = pd.date_range("2000-01-01", periods=N)
VALUES = np.random.default_rng(1).normal(size=(N, 8, 10)).astype("f4")
SOURCE = xr.Dataset({"T": (("time", "y", "x"), VALUES)}, {"time": TIMES})
INHERITED = {
    "default": {},
    "chunks": {"chunksizes": (1, 4, 5), "zlib": True, "complevel": 2, "fletcher32": True},
    "several records": {"chunksizes": (3, 8, 10), "zlib": True},
    "zstd": {"compression": "zstd", "complevel": 4},
    "bzip2": {"compression": "bzip2"},
    "digits": {"least_significant_digit": 2},
    "packed": {"dtype": "i2", "scale_factor": 0.001, "_FillValue": -32768, "zlib": True},
}
CHANGES = {
    "all": lambda ds: ds,
    "cut": lambda ds: ds.isel(x=slice(0, 3), time=slice(0, 2)),
    "below the chunk": lambda ds: ds.isel(x=slice(0, 3)),
    "transposed": lambda ds: ds.transpose("time", "x", "y"),
    "without records": lambda ds: ds.isel(time=0),
    "chunks that are too large": lambda ds: with_encoding(ds, chunksizes=(1, 100, 100)),
    "fewer chunks": lambda ds: with_encoding(ds, chunksizes=(8, 10)),
    "Zarr's": lambda ds: with_encoding(ds, compressors=("blosc",), chunks=(1, 8, 10), filters=None),
}


def with_encoding(ds, **encoding):
    ds = ds.copy()
    ds["T"].encoding = encoding
    return ds


def loaded(path):
    with xr.open_dataset(path, engine="netcdf4") as ds:
        return ds.load()


@pytest.mark.parametrize("form", [None, "cdf5", "netcdf4"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", INHERITED)
def test_inherited_encodings_that_do_not_fit_are_dropped(folder, kind, change, form):
    SOURCE.to_netcdf(folder / "in.nc", unlimited_dims=["time"], encoding={"T": INHERITED[kind]})
    ds = CHANGES[change](loaded(folder / "in.nc"))
    ds.thalweg.write(folder / "o.nc", **({"format": form} if form else {}))
    ds.to_netcdf(folder / "x.nc")
    xr.testing.assert_identical(loaded(folder / "o.nc"), loaded(folder / "x.nc"))


def test_inherited_encodings_that_fit_are_kept(folder):
    SOURCE.to_netcdf(folder / "in.nc", unlimited_dims=["time"], encoding={"T": INHERITED["chunks"]})
    loaded(folder / "in.nc").thalweg.write(folder / "o.nc", format="netcdf4")
    with netCDF4.Dataset(folder / "o.nc") as f:
        assert f["T"].chunking() == [1, 4, 5]
        assert f["T"].filters()["zlib"] and f["T"].filters()["complevel"] == 2


@pytest.mark.parametrize(
    ("encoding", "chunks", "filters"),
    [
        ({"zlib": True}, None, {"zlib": True, "complevel": 4, "shuffle": True}),
        (
            {"zlib": True, "complevel": 9, "shuffle": False},
            None,
            {"complevel": 9, "shuffle": False},
        ),
        ({"compression": "zlib", "complevel": np.int64(1)}, None, {"zlib": True, "complevel": 1}),
        ({"zstd": True, "complevel": 3}, None, {"zstd": True, "complevel": 3}),
        ({"chunksizes": (1, 4, 5)}, [1, 4, 5], {"zlib": False}),
        ({"chunksizes": [1, 8, 10], "zlib": True}, [1, 8, 10], {"zlib": True}),
        ({"shuffle": True}, None, {"shuffle": True, "zlib": False}),
        ({"zlib": False, "complevel": 0, "fletcher32": False, "contiguous": False}, None, {}),
        ({"zlib": True, "dtype": "f8", "_FillValue": None}, None, {"zlib": True}),
    ],
)
def test_passed_encodings_are_done(folder, encoding, chunks, filters):
    SOURCE.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding={"T": encoding})
    with netCDF4.Dataset(folder / "o.nc") as f:
        assert chunks is None or f["T"].chunking() == chunks
        found = f["T"].filters() or {}
        assert {k: found.get(k) for k in filters} == filters
    np.testing.assert_array_equal(loaded(folder / "o.nc")["T"], VALUES)


def test_quantization_is_done(folder):
    for mode in ("BitGroom", "GranularBitRound", "BitRound"):
        encoding = {"T": {"significant_digits": 3, "quantize_mode": mode, "zlib": True}}
        SOURCE.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding=encoding)
        SOURCE.to_netcdf(folder / "x.nc", unlimited_dims="time", encoding=encoding)
        np.testing.assert_array_equal(loaded(folder / "o.nc")["T"], loaded(folder / "x.nc")["T"])
    encoding = {"T": {"least_significant_digit": 1}}
    SOURCE.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding=encoding)
    SOURCE.to_netcdf(folder / "x.nc", unlimited_dims="time", encoding=encoding)
    np.testing.assert_array_equal(loaded(folder / "o.nc")["T"], loaded(folder / "x.nc")["T"])


def test_compression_of_every_variable(folder):
    """Tests compression as programs request it, for variables of any kind."""
    ds = SOURCE.assign(height=2.0, name=("y", list("abcdefgh")), mask=("x", np.arange(10) > 4))
    encoding = {name: {"zlib": True, "complevel": 1} for name in ds.variables}
    ds.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding=encoding)
    assert loaded(folder / "o.nc")["name"].values.tolist() == list("abcdefgh")
    with netCDF4.Dataset(folder / "o.nc") as f:
        assert f["mask"].filters()["zlib"] and f["name"].filters()["zlib"]


@pytest.mark.parametrize(
    "encoding",
    [
        {"fletcher32": True},
        {"nonsense": 1},
        {"chunks": (1, 4, 5)},
        {"units": "K"},
        {"compression": "szip"},
        {"compression": "lzf"},
        {"szip": True},
        {"blosc": True},
        {"complevel": 5},
        {"zlib": True, "complevel": 10},
        {"zlib": True, "complevel": 2.5},
        {"zlib": True, "complevel": "high"},
        {"chunksizes": (3, 8, 10)},
        {"chunksizes": (1, 8)},
        {"chunksizes": (1, 8, 11)},
        {"chunksizes": (1, 0, 10)},
        {"chunksizes": (1, 8, 2.5)},
        {"contiguous": True},
        {"endian": "big"},
        {"significant_digits": 9},
        {"significant_digits": 3, "quantize_mode": "none"},
        {"significant_digits": 3, "dtype": "i4"},
        {"quantize_mode": "BitRound"},
    ],
)
def test_passed_encodings_that_cannot_be_done_are_refused(folder, encoding):
    with pytest.raises(ValueError, match=r"'T': (unknown )?encoding"):
        SOURCE.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding={"T": encoding})
    assert not list(folder.iterdir())


def test_a_format_that_cannot_store_what_is_passed(folder):
    for encoding in ({"zlib": True}, {"chunksizes": (1, 4, 5)}):
        with pytest.raises(ValueError, match="only netCDF-4"):
            SOURCE.thalweg.write(
                folder / "o.nc", unlimited_dims="time", encoding={"T": encoding}, format="cdf5"
            )


def test_passed_encodings_of_appended_variables(folder):
    first, second = SOURCE.isel(time=slice(0, 3)), SOURCE.isel(time=slice(3, None))
    encoding = {"T": {"zlib": True, "complevel": 3, "chunksizes": (1, 4, 5), "dtype": "f8"}}
    first.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding=encoding)
    for other in (
        {"complevel": 4, "zlib": True},
        {"chunksizes": (1, 8, 10)},
        {"dtype": "f4"},
        {"compression": "zstd"},
        {"fletcher32": True},
        {"nonsense": 1},
        {"scale_factor": 0.5},
    ):
        with pytest.raises(ValueError, match="'T'"):
            second.thalweg.write(
                folder / "o.nc", mode="a", unlimited_dims="time", encoding={"T": other}
            )
    second.thalweg.write(folder / "o.nc", mode="a", unlimited_dims="time", encoding=encoding)
    np.testing.assert_array_equal(loaded(folder / "o.nc")["T"], VALUES)


# Type and attributes in the file, new values, and the expected contents (None: the fill value).
MISFITS = {
    "packed": (
        {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -32768},
        [1e6, 2.0],
        [None, 200],
    ),
    "packed with offset": (
        {"dtype": "u1", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": 255},
        [9.0, 10.0, 138.0, 11.0],
        [None, 0, None, 2],
    ),
    "packed with missing_value": (
        {"dtype": "i2", "scale_factor": 0.1, "missing_value": -999},
        [1e9, 1.0, np.nan],
        [None, 10, -999],
    ),
    "packed unsigned": (
        {"dtype": "i1", "_Unsigned": "true", "_FillValue": -1, "scale_factor": 0.1},
        [20.0, 26.0, -1.0, np.nan],
        [-56, None, None, -1],
    ),
    "no fill value": ({"dtype": "i4", "_FillValue": None}, [np.nan, 3e9, 7.0], [None, None, 7]),
    "rounded": ({"dtype": "i1", "_FillValue": -128}, [126.6, 127.6, -127.4], [127, None, -127]),
    "infinite": ({"dtype": "i4", "_FillValue": -9}, [np.inf, -np.inf, 1.0], [None, None, 1]),
    "negative unsigned": ({"dtype": "u4", "_FillValue": 0}, [-1.0, 5.0], [None, 5]),
    "large": ({"dtype": "i8", "_FillValue": -1}, [1e19, 2.0**62], [None, 2**62]),
    "large unsigned": ({"dtype": "u8", "_FillValue": 1}, [2e19, 2.0**63], [None, 2**63]),
    "floating point": ({"dtype": "f4", "_FillValue": 1e30}, [1e200, 2.0, np.nan], [None, 2, 1e30]),
    "integers": ({"dtype": "i2", "_FillValue": -9}, np.array([70000, 5]), [None, 5]),
    "long integers": ({"dtype": "u8"}, np.array([-1, 2**53 + 1]), [None, 2**53 + 1]),
}
FILLS = {"i4": -2147483647, "u8": 18446744073709551614, "i2": -32767}


@pytest.mark.parametrize("how", ["written", "appended", "not a record", "dask"])
@pytest.mark.parametrize("kind", MISFITS)
def test_values_that_do_not_fit_become_fill_values(folder, kind, how):
    encoding, values, held = MISFITS[kind]
    values = np.asarray(values)
    good = np.full_like(values, values[-1] if np.isfinite(values[-1]) else 1)
    ds = xr.Dataset({"v": (("t", "x"), np.stack([good, values]))}, {"t": [0.0, 1.0]})
    form = {} if how == "appended" else {"format": "cdf5"}
    if how == "not a record":
        ds = ds.isel(t=1, drop=True)
    if how == "dask":
        pytest.importorskip("dask")
        ds = ds.chunk({"t": 1})
    if how == "appended":
        first, ds = ds.isel(t=slice(0, 1)), ds.isel(t=slice(1, 2))
        first.thalweg.write(folder / "o.nc", unlimited_dims="t", encoding={"v": encoding})
        encoding, form = None, {"mode": "a"}
    with pytest.raises(tw.Error) as failed:
        ds.thalweg.write(
            folder / "o.nc",
            **form,
            unlimited_dims=[] if how == "not a record" else "t",
            encoding=encoding and {"v": encoding},
        )
    assert failed.value.name == "TW_ERANGE"
    with netCDF4.Dataset(folder / "o.nc") as f:
        f.set_auto_maskandscale(False)
        v = f["v"]
        encoding = MISFITS[kind][0]
        fill = encoding.get("_FillValue")
        if fill is None:
            fill = FILLS[encoding["dtype"]]
        found = np.ma.getdata(v[...]).reshape(-1, len(values))[-1]
        wanted = [fill if one is None else one for one in held]
        np.testing.assert_array_equal(found, np.array(wanted, v.dtype))


def test_times_that_do_not_fit_become_fill_values(folder):
    hours = xr.Dataset({"v": ("time", [1.0, 2.0])}, {"time": TIMES[:2]})
    encoding = {"time": {"dtype": "i2", "units": "hours since 2000-01-01", "_FillValue": -9}}
    hours.thalweg.write(folder / "o.nc", unlimited_dims="time", encoding=encoding)
    late = hours.assign_coords(time=pd.to_datetime(["2001-01-01", "2010-01-01"]))
    with pytest.raises(tw.Error) as failed:
        late.thalweg.write(folder / "o.nc", mode="a", unlimited_dims="time")
    assert failed.value.name == "TW_ERANGE"
    seconds = np.array([1, 100000], "m8[s]").astype("m8[ns]")
    with pytest.raises(tw.Error, match="'d' do not fit type short"):
        xr.Dataset({"d": ("x", seconds)}).thalweg.write(
            folder / "d.nc", encoding={"d": {"dtype": "i2", "units": "seconds"}}
        )
    with netCDF4.Dataset(folder / "o.nc") as f, netCDF4.Dataset(folder / "d.nc") as g:
        f.set_auto_mask(False)
        g.set_auto_mask(False)
        assert f["time"][:].tolist() == [0, 24, 24 * 366, -9]
        assert g["d"][:].tolist() == [1, -32767]


def test_appended_texts(folder):
    names = xr.Dataset({"s": ("time", ["abcd", "ø"])}, {"time": TIMES[:2]})
    names.thalweg.write(folder / "o.nc", unlimited_dims="time")
    short = xr.Dataset({"s": ("time", ["e", ""])}, {"time": TIMES[2:4]})
    short.thalweg.write(folder / "o.nc", mode="a", unlimited_dims="time")
    assert loaded(folder / "o.nc")["s"].values.tolist() == ["abcd", "ø", "e", ""]
    for text in ("abcde", "øøø"):
        with pytest.raises(ValueError, match="'s' cannot be appended: its longest text"):
            xr.Dataset({"s": ("time", [text])}, {"time": TIMES[:1]}).thalweg.write(
                folder / "o.nc", mode="a", unlimited_dims="time"
            )
