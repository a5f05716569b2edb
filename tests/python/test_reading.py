# SPDX-License-Identifier: Apache-2.0
import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, fails, field, rows

NT, NY, NX = 4, 7, 6


@pytest.fixture(params=["NETCDF3_64BIT_OFFSET", "NETCDF4"])
def source(request, folder):
    """Makes a file with netCDF4-python, and returns its values."""
    T = field(NT, NY, NX, dtype="f4")
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "in.nc", "w", format=request.param) as f:
            for name, length in {"time": None, "lat": NY, "lon": NX}.items():
                f.createDimension(name, length)
            f.createVariable("T", "f4", ("time", "lat", "lon"))[:] = T
            f["T"].units = "K"
            f["T"].bounds = np.array([1.0, 2.0])
            f.createVariable("lat", "f8", ("lat",))[:] = np.arange(NY)
            f.createVariable("n", "i4", ())[...] = 5
    WORLD.Barrier()
    return folder / "in.nc", T


def test_what_is_there(io, source):
    path, T = source
    with io.open(path) as f:
        assert f.dims == {"time": NT, "lat": NY, "lon": NX}
        assert (f.record_dim, f.records) == ("time", NT)
        assert list(f) == ["T", "lat", "n"] and "T" in f and "U" not in f
        assert (f["T"].dims, f["T"].shape) == (("time", "lat", "lon"), T.shape)
        assert f["T"].dtype == np.float32
        assert f["T"].attrs["units"] == "K"
        assert np.array_equal(f["T"].attrs["bounds"], [1, 2])
        assert dict(f.attrs) == {}
        assert f["n"][...] == 5 and f.get("n") == 5


def test_storage(io, folder):
    path = folder / "chunks.nc"
    if WORLD.rank == 0:
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("time", None)
            f.createDimension("lat", NY)
            zlib = {"compression": "zlib", "complevel": 3, "shuffle": True, "fletcher32": True}
            f.createVariable("T", "f4", ("time", "lat"), chunksizes=(2, 5), **zlib)
            f.createVariable("lat", "f8", ("lat",))
    WORLD.Barrier()
    with io.open(path) as f:
        assert f["T"].chunks == (2, 5)
        assert f["T"].filters == ((3, 0), (2, 0), (1, 3))
        assert (f["lat"].chunks, f["lat"].filters) == (None, ())
    with io.create(folder / "new.nc") as f:
        f.define("x", "f4", "")
        with pytest.raises(tw.Error) as failed:
            _ = f["x"].chunks
        assert failed.value.name == "TW_ESTATE"


def test_get(io, source):
    path, T = source
    j0, nj = rows(NY)
    mine = io.decompose(lon=NX, lat=NY, start=(0, j0), count=(NX, nj))
    with io.open(path) as f:
        assert np.array_equal(f.get("T", mine, 1), T[1, j0 : j0 + nj].T)
        assert np.array_equal(f.get("T", mine, -1, dtype="f8"), T[-1, j0 : j0 + nj].T)
        assert np.array_equal(f.get("T", mine), T[:, j0 : j0 + nj].transpose(0, 2, 1))
        assert np.array_equal(f.get("T"), T)
        out = np.zeros((2 * nj, NX))[::2].T
        assert f.get("T", mine, 2, out=out) is out
        assert np.array_equal(out, T[2, j0 : j0 + nj].T)


@pytest.mark.parametrize("edge", ["clip", "periodic"])
def test_halo(io, source, edge):
    path, T = source
    j0, nj = rows(NY)
    mine = io.decompose(lat=NY, lon=NX, start=(j0, 0), count=(nj, NX))
    wrapped = np.take(
        np.take(T[0], range(j0 - 2, j0 + nj + 2), 0, mode="wrap"), range(-1, NX + 1), 1, mode="wrap"
    )
    with io.open(path) as f:
        found = f.get("T", mine, 0, halo={"lat": 2, "lon": 1}, edges=edge)
    assert found.shape == wrapped.shape
    if edge == "clip":
        outside = np.ones(wrapped.shape, bool)
        rows_there = [i for i, j in enumerate(range(j0 - 2, j0 + nj + 2)) if 0 <= j < NY]
        outside[np.ix_(rows_there, range(1, NX + 1))] = False
        if nj:
            assert (found[outside] > 1e36).all()
        found, wrapped = found[~outside], wrapped[~outside]
    if nj:
        assert np.array_equal(found, wrapped)


def test_sections(io, source):
    path, T = source
    r = WORLD.rank
    keys = [
        (r % NT, slice(None), slice(1, 4)),
        (slice(None), r % NY),
        (Ellipsis, slice(None, None, -2)),
        (slice(0, 0),),
        (-1, -1, -1),
        (slice(3, 0, -1), slice(r, None, 3), Ellipsis),
        Ellipsis,
    ]
    with io.open(path) as f:
        for key in keys:
            found = f["T"][key]
            assert found.shape == T[key].shape
            assert np.array_equal(found, T[key]), key
        assert np.array_equal(f.get_box("T", (1, 0, 0), (2, 3, 2), (1, 2, 3)), T[1:3, :5:2, :4:3])


def test_ahead(io, source):
    path, T = source
    mine = io.split(lat=NY, lon=NX)
    (j0, i0), (nj, ni) = mine.boxes[0]
    part = T[:, j0 : j0 + nj, i0 : i0 + ni]
    with io.open(path, read_ahead=True) as f:
        for record in range(NT):
            assert np.array_equal(f.get("T", mine, record), part[record])
        a, b = f.get_deferred("T", mine, 0), f.get_deferred("T", mine, 3)
        f.prefetch()
        f.read()
        assert np.array_equal(a, part[0]) and np.array_equal(b, part[3])


def test_array_dropped_before_read(io, source):
    path, _ = source
    mine = io.split(lat=NY, lon=NX)
    with io.open(path) as f:
        for _ in range(50):
            f.get_deferred("T", mine, 0)  # the file keeps the array alive until it is filled
        f.read()


def test_new_records(io, folder):
    cells = io.split(y=5)
    with io.create(folder / "g.nc", publish="live") as f:
        f.define("T", "f4", "time y", cells)
        f["T"] = np.ones(cells.array_shape())
        f.end_step()
        f.sync()
        with io.open(folder / "g.nc") as reader:
            assert reader.records == 1
            f["T"] = np.ones(cells.array_shape())
            f.end_step()
            f.sync()
            reader.sync()
            assert reader.records == 2


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF4"])
def test_no_records(io, folder, format):
    if WORLD.rank == 0:
        with netCDF4.Dataset(folder / "none.nc", "w", format=format) as f:
            f.createDimension("time", None)
            f.createDimension("lat", NY)
            f.createVariable("T", "f4", ("time", "lat"))
    WORLD.Barrier()
    mine = io.split(lat=NY)
    with io.open(folder / "none.nc") as f:
        assert f["T"][...].shape == f.get("T").shape == (0, NY)
        assert f.get("T", mine).shape == (0, *mine.array_shape())
        fails("TW_EBOUNDS", lambda: f["T"][0])
        fails("TW_EBOUNDS", lambda: f.get("T", mine, 0))


def test_masked_indices_are_holes(io, source):
    path, T = source
    mine = io.decompose_list(
        lat=NY, lon=NX, listed="lat", indices=np.ma.masked_equal([3, 1, 2], 1), shared=True
    )
    with io.open(path) as f:
        found = f.get("T", mine, 0, out=np.full((3, NX), -1, "f4"))
    assert np.array_equal(found[[0, 2]], T[0, [3, 2]]) and (found[1] == -1).all()


def test_a_list_has_no_halo(io, source):
    path, _ = source
    mine = io.decompose_list(lat=NY, lon=NX, listed="lat", indices=[])
    with io.open(path) as f:
        fails("TW_EARG", lambda: f.get("T", mine, 0, halo=1))
