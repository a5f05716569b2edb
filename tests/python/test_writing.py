# SPDX-License-Identifier: Apache-2.0
import array
import gc
import json
import subprocess
import sys
import weakref

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, as_netcdf4, fails, field, rows
from thalweg._arrays import FILLS, TYPES

NZ, NY, NX = 3, 9, 5


def part(io, **more):
    j0, nj = rows(NY)
    cells = io.decompose(lev=NZ, lat=NY, lon=NX, start=(0, j0, 0), count=(NZ, nj, NX), **more)
    return cells, slice(j0, j0 + nj)


@pytest.mark.parametrize("service", ["inline", "background"])
def test_history(io, folder, service):
    T = field(3, NZ, NY, NX, dtype="f4")
    cells, mine = part(io)
    with io.create(folder / "a.nc", Conventions="CF-1.11", service=service) as f:
        f.define("T", "f4", "time lev lat lon", cells, units="K", valid_range=[0, 400])
        f.define("time", "f8", "time", units="days since 2000-01-01")
        f.define("lat", "f4", "lat")
        f["lat"] = np.linspace(-90, 90, NY)
        for step in range(3):
            f["T"] = T[step, :, mine]
            f["time"] = step * 0.5
            f.end_step()
    assert np.array_equal(as_netcdf4(folder / "a.nc", "T"), T)
    assert np.array_equal(as_netcdf4(folder / "a.nc", "time"), [0, 0.5, 1])
    with io.open(folder / "a.nc") as f:
        assert f.attrs["Conventions"] == "CF-1.11"
        assert f["T"].attrs["units"] == "K"
        assert f["T"].attrs["valid_range"].dtype == np.float32


@pytest.mark.parametrize("code", TYPES)
def test_types(io, folder, code):
    """Tests each type, in the file and in memory, and netCDF's fill value for elements that no
    rank holds."""
    dtype = TYPES[code]
    j0, nj = rows(NY)
    part = io.decompose(lat=NY + 1, start=(j0,), count=(nj,))
    values = np.arange(NY).astype("i1")
    values = values.astype("S1") if code == 2 else values.astype(dtype)
    with io.create(folder / "t.nc") as f:
        f.define("v", dtype, "lat", part)
        f["v"] = values[j0 : j0 + nj]
    found = as_netcdf4(folder / "t.nc", "v")
    assert found.dtype == dtype
    assert np.array_equal(found[:NY], values)
    assert found[NY] == np.array(FILLS[code]).astype(dtype)
    with io.open(folder / "t.nc") as f:
        assert np.array_equal(f.get("v", part), values[j0 : j0 + nj])
        assert f["v"].dtype == dtype


def in_memory(values):
    """Yields one array in many layouts."""
    halo = np.full([n + 4 for n in values.shape], 77.0)
    halo[2:-2, 2:-2, 2:-2] = values
    wide = np.zeros([2 * n for n in values.shape])
    wide[::2, ::2, ::2] = values
    record = np.zeros(values.shape, [("a", "f8"), ("b", "i2")])
    record["a"] = values
    return {
        "as it is": values,
        "section": halo[2:-2, 2:-2, 2:-2],
        "every second": wide[::2, ::2, ::2],
        "reversed": values[::-1, :, ::-1].copy()[::-1, :, ::-1],
        "columns first": np.asfortranarray(values),
        "component": record["a"],
        "read-only": np.frombuffer(values.tobytes()).reshape(values.shape),
        "other byte order": values.astype(">f8"),
        "float32": values.astype("f4").astype("f8").astype("f4"),
        "list": values.tolist() if values.size else values,
        "memoryview": memoryview(np.ascontiguousarray(values)),
        "masked, nothing hidden": np.ma.masked_array(values),
        "DLPack": Exported(values),
    }


class Exported:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **arguments):
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("deferred", [False, True])
def test_memory(io, folder, deferred):
    T = np.round(field(NZ, NY, NX))
    cells, mine = part(io)
    forms = in_memory(T[:, mine])
    with io.create(folder / "m.nc") as f:
        f.define("T", "f8", "time lev lat lon", cells)
        for form in forms.values():
            f.put("T", form, deferred=deferred)
            f.end_step()
    found = as_netcdf4(folder / "m.nc", "T")
    for form, values in zip(forms, found, strict=True):
        assert np.array_equal(values, T), form


def test_boxes_and_padding(io, folder):
    T = field(8, 4)
    boxes = [((j, 0), (min(2, 8 - j), 4)) for j in range(0, 8, 2)][WORLD.rank :: WORLD.size]
    cells = io.decompose(y=8, x=4, boxes=boxes)
    cells.pad((2, 4), len(boxes) + 1)
    values = np.zeros(cells.array_shape())
    for box, ((j, _), _) in zip(values, boxes, strict=False):
        box[...] = T[j : j + 2]
    with io.create(folder / "b.nc") as f:
        f.define("T", "f8", "y x", cells)
        f["T"] = values
    assert np.array_equal(as_netcdf4(folder / "b.nc", "T"), T)
    with io.open(folder / "b.nc") as f:
        assert np.array_equal(f.get("T", cells)[: len(boxes)], values[: len(boxes)])


def test_records_and_boxes(io, folder):
    T = field(3, NY, NX)
    j0, nj = rows(NY)
    by_row = io.decompose(lat=NY, lon=NX, start=(j0, 0), count=(nj, NX))
    by_column = io.split(lat=NY, lon=NX, along="lon")
    (_, i0), (_, ni) = by_column.boxes[0]
    with io.create(folder / "r.nc") as f:
        f.define("T", "f8", "time lat lon", by_row)
        f.put_record("T", T[2, j0 : j0 + nj], 2)
        f.put_record("T", T[0, :, i0 : i0 + ni], 0, by_column)
        f["T"][1, j0 : j0 + nj] = T[1, j0 : j0 + nj]
        f.end_step()
        if WORLD.rank == 0:
            f.put_box("T", [7.0], (1, 2, 3))
            f["T"][1, 0, 1:3] = [5, 6]
        f.sync()
        assert np.array_equal(f["T"][0, :, i0 : i0 + ni], T[0, :, i0 : i0 + ni])
    T[1, 2, 3], T[1, 0, 1:3] = 7, [5, 6]
    assert np.array_equal(as_netcdf4(folder / "r.nc", "T"), T)


def test_values_are_spread_over_sections_as_by_numpy(io, folder):
    every = np.s_[:]
    puts = [
        (np.s_[0, 1:4], 3.0),
        (np.s_[1], 4),
        (np.s_[2:4, 1:], np.array(5.0)),
        (np.s_[every, 0], np.float32(6)),
        (np.s_[4], np.arange(NX)),
        (np.s_[every, -1:], np.arange(NY)[:, None]),
        (np.s_[-1, ::-2], [8.0] * len(range(NX)[::-2])),
        (np.s_[NY - 2 :, 2:3], [[9.0], [9.5]]),
    ]
    T = field(NY, NX)
    by_row = io.split(lat=NY, lon=NX, along="lat")
    whole = [((0, 0), (NY, NX))] if WORLD.rank == 0 else []
    by_place = io.decompose([("*", NY), ("*", NX)], boxes=whole)
    mine = slice(by_row.boxes[0][0][0], sum(part[0] for part in by_row.boxes[0]))
    with io.create(folder / "n.nc") as f:
        f.define("T", "f8", "lat lon", by_row)
        f.define("S", "f8", "time lat lon", by_row)
        f.define("P", "f8", "y x", by_place)
        f.define_dim("n", 3)
        f.define("c", "i4", "n")
        f["T"] = f["S"] = T[mine]
        f["c"] = np.zeros(3)
        f["P"] = np.zeros(by_place.array_shape())
        f.end_step()
        for key, values in puts:
            T[key] = values
            if WORLD.rank == 0:
                f["T"][key] = values
                f["S"][(0, *key) if isinstance(key, tuple) else (0, key)] = values
        if WORLD.rank == 0:
            f["c"][1:] = 2
            f["P"][...] = 1.0
        for values in (np.zeros(NX + 1), np.zeros((2, NX))):
            fails(
                "TW_ESHAPE", lambda values=values: f["T"].__setitem__(0, values), everywhere=False
            )
        error = fails("TW_EBOUNDS", lambda: f["S"].__setitem__((every, 0, 0), 1), everywhere=False)
        assert "slice of the record dimension 'time' needs an end" in str(error)
    assert np.array_equal(as_netcdf4(folder / "n.nc", "T"), T)
    assert np.array_equal(as_netcdf4(folder / "n.nc", "S"), T[None])
    assert np.array_equal(as_netcdf4(folder / "n.nc", "P"), np.ones((NY, NX)))
    assert np.array_equal(as_netcdf4(folder / "n.nc", "c"), [0, 2, 2])


def test_sections_with_steps(io, folder):
    T = field(2, NY, NX)
    j0, nj = rows(NY)
    with io.create(folder / "s.nc") as f:
        f.define("T", "f8", "time lat lon", io.split(lat=NY, lon=NX, along="lat"))
        mine = slice(j0, j0 + nj)
        f.put_box("T", T[0, mine, 1::2], (0, j0, 1), (1, 1, 2))
        f["T"][0, mine, ::2] = T[0, mine, ::2]
        f["T"][1, mine, 4::-2] = T[1, mine, 4::-2]
        f["T"][1, mine, 3:NX:NX] = 8
        fails("TW_EARG", lambda: f.put_box("T", [1.0], (0, 0, 0), (1, 1, 0)), everywhere=False)
        # Four start indices are one too many; the first three alone would select another valid
        # section.
        more = field(1, 1, 1, NX)
        fails("TW_ESHAPE", lambda: f.put_box("T", more, (0, 0, 0, 0)), everywhere=False)
        fails("TW_ESHAPE", lambda: f.put_box("T", [1.0], (0,)), everywhere=False)
    T[1, :, 3], T[1, :, 1] = 8, FILLS[6]
    assert np.array_equal(as_netcdf4(folder / "s.nc", "T"), T)


def test_dimensions_by_position(io, folder):
    T = field(NY, NX)
    j0, nj = rows(NY)
    any_name = io.decompose([("*", NY), ("*", NX)], start=(j0, 0), count=(nj, NX), halo=1)
    any_name.fill_halo("clip")
    with io.create(folder / "p.nc") as f:
        f.define_dim("y", NY)
        f.define_dim("x", NX)
        f.define("T", "f8", "y x", any_name)
        f["T"] = T[j0 : j0 + nj]
    assert np.array_equal(as_netcdf4(folder / "p.nc", "T"), T)
    with io.open(folder / "p.nc") as f:
        part = f.get("T", any_name)
        assert np.array_equal(part[1:-1, 1:-1], T[j0 : j0 + nj])


def test_masked_elements(io, folder):
    """Tests that the variable's fill value is used, even if the array's type cannot represent
    it."""
    cells = io.split(y=NY)
    (j0,), (nj,) = cells.boxes[0]
    hidden = np.arange(NY) % 3 == 0
    cases = [  # array, variable, fill value as given
        ("i4", "f4", {"_FillValue": np.nan}),
        ("i8", "f4", {"_FillValue": np.nan}),
        ("i2", "f8", {"fill": "nan"}),
        ("f4", "f4", {"fill": 0.1}),
        ("f8", "f4", {"fill": "1e30"}),
        ("f4", "i4", {}),
        ("f8", "i2", {"_FillValue": -5}),
        ("u4", "i4", {"_FillValue": -5}),
        (">f8", "f4", {"_FillValue": 1e20}),
        ("?", "i1", {"_FillValue": -1}),
        ("i8", "i2", {}),
        ("i8", "f4", {"_FillValue": -9}),
        ("i8", "i8", {"fill": -5}),
    ]
    with io.create(folder / "f.nc") as f:
        for i, (_, dtype, fill) in enumerate(cases):
            f.define(f"v{i}", dtype, "y", cells, **fill)
        for i, (own, _, _) in enumerate(cases):
            values = np.arange(NY).astype(own)
            f[f"v{i}"] = np.ma.masked_array(values, hidden)[j0 : j0 + nj]
    for i, (own, dtype, fill) in enumerate(cases):
        code = next(code for code, own_type in TYPES.items() if own_type == dtype)
        value = np.array(next(iter(fill.values()), FILLS[code])).astype(dtype)
        expected = np.where(hidden, value, np.arange(NY).astype(own).astype(dtype))
        found = as_netcdf4(folder / "f.nc", f"v{i}")
        assert np.array_equal(found, expected, equal_nan=dtype[0] == "f"), (own, dtype, fill)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_masked_elements_whose_fill_value_the_array_cannot_hold(io, folder, dtype):
    """Tests that the fill value of int64 is written, although it would become another number in
    the array's type."""
    f = io.create(folder / "f.nc", format="cdf5")
    f.define("v", "i8", "y", io.split(y=NY))
    (j0,), (nj,) = io.split(y=NY).boxes[0]
    values = np.ma.masked_equal(np.arange(NY) % 3, 0)[j0 : j0 + nj]
    if values.mask.any():
        with pytest.raises(tw.Error, match="convert the array to int64"):
            f["v"] = values.astype(dtype)
    f["v"] = values.astype("i8")
    f.close()
    expected = np.where(np.arange(NY) % 3 == 0, -(2**63) + 2, np.arange(NY) % 3)
    assert np.array_equal(as_netcdf4(folder / "f.nc", "v"), expected)


def test_masked_elements_are_appended_with_the_fill_value_of_the_file(io, folder):
    cells = io.split(y=NY)
    (j0,), (nj,) = cells.boxes[0]
    values = np.ma.masked_equal(np.arange(NY) % 3, 0)[j0 : j0 + nj]
    with io.create(folder / "f.nc") as f:
        f.define("T", "f4", "time y", cells, _FillValue=-999)
    with io.open(folder / "f.nc", "a") as f:
        f.define("T", "f4", "time y", cells)
        f["T"] = values
        f.end_step()
    expected = np.where(np.arange(NY) % 3 == 0, -999, np.arange(NY) % 3)
    assert np.array_equal(as_netcdf4(folder / "f.nc", "T"), [expected])


def test_masked_elements_of_restarts(io, folder):
    cells = io.split(y=NY)
    (j0,), (nj,) = cells.boxes[0]
    values = np.ma.masked_equal(np.arange(NY) % 3, 0)[j0 : j0 + nj]
    restart = io.restart()
    for fill in (FILLS[10], -1):
        restart.add("T", values, "y", cells, copy=True)
        restart.write(folder / "r.nc")
        expected = np.where(np.arange(NY) % 3 == 0, fill, np.arange(NY) % 3)
        assert np.array_equal(as_netcdf4(folder / "r.nc", "T"), expected)
        restart.set_var("T", fill=-1)


@pytest.mark.parametrize("settings", [{}, {"publish": "live"}])
def test_definitions_that_fail_leave_no_file(io, folder, settings):
    """Tests that a new file is removed, and that an existing one stays as it was."""
    path = folder / "failed.nc"
    first, n = rows(10)
    cells = io.decompose(y=10, start=(first,), count=(n,))
    for there in (False, True):
        f = io.create(path, format="cdf1", **settings)
        f.define("i", "i8", "y", cells)
        fails("TW_EFORMAT", f.enddef)
        fails("TW_EFORMAT", f.close)
        WORLD.Barrier()
        assert [p.name for p in folder.glob("*failed*")] == ["failed.nc"] * there
        if there:
            assert np.array_equal(as_netcdf4(path, "i"), np.arange(10))
        WORLD.Barrier()
        with io.create(path, format="cdf5", **settings) as f:
            f.define("i", "i8", "y", cells)
            f["i"] = np.arange(first, first + n)
    assert np.array_equal(as_netcdf4(path, "i"), np.arange(10))


def test_arrays_freed_before_they_are_written(io, folder):
    """Tests that the file keeps arrays that were put without a copy alive, and releases them
    afterwards."""
    cells = io.split(y=1000)
    n = cells.array_shape()[0]
    with io.create(folder / "k.nc") as f:
        f.define("a", "f8", "time y", cells)
        f.define("b", "f8", "time y", cells)
        values = np.full(n, 1.0)
        watched = weakref.ref(values)
        f.put("a", values, deferred=True)
        f.put("b", array.array("d", [2.0] * n), deferred=True)
        del values
        gc.collect()
        assert watched() is not None
        _ = [np.full(n, 9.0) for _ in range(20)]
        f.end_step()
        assert watched() is None
    assert (as_netcdf4(folder / "k.nc", "a") == 1).all()
    assert (as_netcdf4(folder / "k.nc", "b") == 2).all()


LISTS = """
import json, sys, h5py
f = h5py.File(sys.argv[1])
def address(v):
    return h5py.h5o.get_info(v.id).addr
names = {address(v): path for path, v in f.items()}
def name(reference):
    return names[address(f[reference])]
lists = {}
for path, v in f.items():
    found = v.attrs.get("DIMENSION_LIST", [])
    uses = v.attrs.get("REFERENCE_LIST", [])
    lists[path] = [[name(d[0]) for d in found], sorted([name(u[0]), int(u[1])] for u in uses)]
print(json.dumps(lists))
"""


def lists_of_dimensions(path):
    """Returns what h5py, which has an HDF5 of its own, finds in the attributes of HDF5's scales."""
    return json.loads(subprocess.check_output([sys.executable, "-c", LISTS, str(path)]))


@pytest.mark.parametrize("many", [0, 4200])
def test_dimension_scales(io, folder, many):
    names = {"lon": "lat lon", "lat": "lat", "T": "time lat lon", "square": "lat lat", "one": ""}
    names |= {f"v{i}": "lat" for i in range(many)}  # a list longer than 64 KiB
    sizes = {"time": None, "lat": 3, "lon": 4}
    with io.create(folder / "own.nc", format="netcdf4") as f:
        for dim, n in sizes.items():
            f.define_dim(dim, n)
        for name, dims in names.items():
            f.define(name, "f8", dims)
    if WORLD.rank == 0:
        own = lists_of_dimensions(folder / "own.nc")
        assert own["lat"][1].count(["square", 1]) == 1 and len(own["lat"][1]) == 4 + many
    if WORLD.rank == 0 and not many:  # netCDF-C's time grows quadratically
        with netCDF4.Dataset(folder / "netcdf.nc", "w") as f:
            for dim, n in sizes.items():
                f.createDimension(dim, n)
            for name, dims in names.items():
                f.createVariable(name, "f8", dims.split())
        assert own == lists_of_dimensions(folder / "netcdf.nc")
    WORLD.Barrier()


def test_restart(io, folder):
    T, q = field(NY, NX), field(NX, NY, dtype="f4")
    cells = io.split(lat=NY, lon=NX, along="lat")
    j0, nj = rows(NY)
    state = T[j0 : j0 + nj].copy(), q[:, j0 : j0 + nj].T, np.array(3.0)

    def restart(arrays):
        r = io.restart()
        r.add("T", arrays[0], "lat lon", cells)
        r.add("q", arrays[1], "lon lat", cells)
        r.add("forcing", arrays[2])
        return r

    writer = restart(state)
    writer.set_attr("step", 12)
    writer.add("copied", state[0] + 1, "lat lon", cells, copy=True)
    writer.write(folder / "s.nc")
    found = tuple(np.zeros_like(a) for a in state)
    reader = restart(found)
    reader.read(folder / "s.nc")
    assert all(np.array_equal(a, b) for a, b in zip(state, found, strict=True))
    with reader.open(folder / "s.nc") as f:
        assert f.attrs["step"] == 12
        assert "copied" in f and "nothing" not in f
        assert np.array_equal(f.get("copied", cells), state[0] + 1)
    assert np.array_equal(as_netcdf4(folder / "s.nc", "T"), T)


def test_summary_and_settings(comm, folder):
    with tw.Session(comm, method="slabs", queue="1MiB", summary=str(folder / "s.json")) as io:
        with io.create(folder / "a.nc") as f:
            f.define("x", "i4")
            f["x"] = 1
        assert io.summary()["files"]
        assert "a.nc" in io.summary("table") and "slabs" in io.summary("settings")
        fails("TW_EARG", lambda: io.summary("page"))
        assert (io.rank, io.size, io.is_server) == (comm.rank, comm.size, False)
        assert io.comm.size == comm.size
    assert not io.is_open
    comm.Barrier()
    assert (folder / "s.json").exists()


def test_close_later(comm, folder):
    with tw.Session(comm, service="background", close="later") as io:
        for n in range(3):
            with io.create(folder / f"{n}.nc") as f:
                f.define_dim("time", None)
                f.define("x", "i4", "time")
                f["x"] = n
                f.end_step()
        io.wait()
        assert (folder / "2.nc").exists()


def test_servers(comm, folder):
    if comm.size < 2:
        pytest.skip("needs two ranks")
    with tw.Session(comm, servers=1) as io:
        if not io.is_server:
            cells = io.split(y=8)
            (first,), (count,) = cells.boxes[0]
            with io.create(folder / "s.nc") as f:
                f.define("T", "i4", "time y", cells)
                for step in range(3):
                    f["T"] = np.arange(first, first + count) + step
                    f.end_step()
    assert np.array_equal(as_netcdf4(folder / "s.nc", "T"), np.arange(8) + np.arange(3)[:, None])


@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_names_may_be_spelt_otherwise(io, folder, format):
    """Tests that every spelling of a name finds it: netCDF stores names in Unicode's normal form
    C."""
    one, two = "\u00e9t", "e\u0301t"
    j0, nj = rows(NY)
    cells = io.decompose({two: NY}, start=(j0,), count=(nj,))
    with io.create(folder / "a.nc", format=format) as f:
        f.define(two, "f4", two, cells, **{two: "text"})
        assert list(f.variables) == [one] and two in f and one in f
        assert f[two].dims == f[one].dims == (one,)
        f[two] = np.arange(j0, j0 + nj)
    with io.open(folder / "a.nc") as f:
        assert f.dims == {one: NY}
        for name in (one, two):
            assert name in f and f[name].attrs[name] == "text"
            assert np.array_equal(f[name][:], np.arange(NY))
    assert np.array_equal(as_netcdf4(folder / "a.nc", one), np.arange(NY))


def test_sync_within_a_record(io, folder):
    """A variable without fill values may follow after tw_sync; until then others can read it."""
    path = folder / "open.nc"
    cells, mine = part(io)
    T = field(2, NZ, NY, NX, dtype="f4")
    with io.create(path, publish="live", format="cdf5") as f:
        for name in ("first", "last"):
            f.define(name, "f4", "time lev lat lon", cells, fill="none")
        for step in range(2):
            f.put_record("first", T[step, :, mine], step)
            f.sync()
            WORLD.Barrier()
            if WORLD.rank == 0:
                with netCDF4.Dataset(path) as synced:
                    synced.set_auto_mask(False)
                    assert synced["first"].shape[0] == step + 1
                    assert np.array_equal(synced["first"][:], T[: step + 1])
                assert path.stat().st_size >= 2 * T[: step + 1].nbytes
            WORLD.Barrier()
            if step == 1:
                f.put_record("last", T[step, :, mine], step)
    assert np.array_equal(as_netcdf4(path, "last")[1], T[1])
    assert np.all(as_netcdf4(path, "last")[0] > 9e36)
