# SPDX-License-Identifier: Apache-2.0
"""Tests the setting zarr_stream: one file of references to all files of a stream."""

import json
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import thalweg as tw
import xarray as xr
from helpers import WORLD, fails, field, rows
from test_references import on_root

sys.path.append(str(Path(__file__).parent.parent / "zarr"))

from opened import load, open_group, open_references, same_bits

NY, NX = 90, 100  # sizes that are not copied into the references


class Stream:
    """Writes files, and computes the expected contents of the references."""

    def __init__(self, io, folder, **settings):
        self.io, self.folder = io, folder
        self.path = settings.pop("zarr_stream", folder / "stream.json")
        self.settings = {"zarr_stream": str(self.path), **settings}
        self.files = {}
        j, nj = self.rows = rows(NY)
        self.plane = io.decompose(y=NY, x=NX, start=(j, 0), count=(nj, NX))

    def define(self, f, units="K", **more):
        f.define("area", "f8", "y x", self.plane, **more)
        f.define("T", "f4", "time y x", self.plane, units=units, _FillValue=np.float32(-1))
        f.define("time", "f8", "time", units="days since 2000-01-01")
        f.define("level", "i2", "time")

    def put(self, f, times):
        j, nj = self.rows
        for t in times:
            f["T"] = field(NY, NX, seed=t, dtype="f4")[j : j + nj]
            f["time"] = float(t)
            f["level"] = t % 100
            f.end_step()

    def write(self, name, times, units="K", **settings):
        j, nj = self.rows
        with self.io.create(self.folder / name, **{**self.settings, **settings}) as f:
            self.define(f, units)
            f["area"] = field(NY, NX, seed=99)[j : j + nj]
            self.put(f, times)
        self.files[name] = list(times)
        self.check()

    def check(self):
        times = [t for name in sorted(self.files) for t in self.files[name]]
        on_root(lambda: self.compare(times))

    def compare(self, times):
        group = open_group(self.path)
        assert group["time"][...].tolist() == times
        assert group["level"][...].tolist() == [t % 100 for t in times]
        expected = np.array([field(NY, NX, seed=t, dtype="f4") for t in times], "f4")
        assert same_bits(group["T"][...], expected.reshape(-1, NY, NX))
        assert same_bits(group["area"][...], field(NY, NX, seed=99))
        folder = self.path.parent
        for name in ("*.part*", ".s.json.lock"):
            assert not list(folder.glob(name)), list(folder.glob(name))
        for place in json.loads(self.path.read_text())["refs"].values():
            assert isinstance(place, str) or not Path(place[0]).is_absolute()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"format": "cdf5", "service": "background"},
        {"format": "netcdf4", "zstd": 1},
        {"format": "netcdf4", "chunks": "time=1,y=50,x=33", "service": "background"},
        {"publish": "live"},
        {"method": "serial", "close": "later", "service": "background"},
    ],
)
def test_it_grows(io, folder, settings):
    stream = Stream(io, folder, **settings)
    if settings.get("close") == "later":
        stream.check = lambda: None
    for k, times in enumerate([[0, 1, 2], [3], [4, 5], [6, 7, 8]]):
        stream.write(f"h.{k:02}.nc", times)
    io.wait()
    Stream.check(stream)

    def as_xarray():
        files = [xr.open_dataset(folder / f"h.{k:02}.nc") for k in range(4)]
        with open_references(stream.path) as found:
            joined = xr.concat([f[["T", "level"]] for f in files], "time")
            joined["area"] = files[0]["area"]
            xr.testing.assert_identical(joined.drop_attrs(), found.drop_attrs())

    if settings.get("format") != "netcdf4":
        on_root(as_xarray)


def test_files_without_records(io, folder):
    stream = Stream(io, folder)
    stream.write("h.0.nc", [])
    stream.write("h.1.nc", [1])
    stream.write("h.2.nc", [])
    stream.write("h.3.nc", [3, 4])
    stream.write("h.2.nc", [2])


@pytest.mark.parametrize("publish", ["close", "live"])
def test_files_that_are_rewritten(io, folder, publish):
    stream = Stream(io, folder, publish=publish)
    for k in range(3):
        stream.write(f"h.{k}.nc", [10 * k, 10 * k + 1])
    stream.write("h.1.nc", [10, 11, 12])
    stream.write("h.0.nc", [1])
    stream.write("h.2.nc", [21, 22])
    stream.write("h.0.nc", [0, 1, 2])


def test_the_order_is_that_of_the_times(io, folder):
    stream = Stream(io, folder)
    stream.write("h.2.nc", [20, 21])
    stream.write("h.0.nc", [0])
    stream.write("h.3.nc", [30])
    stream.write("h.1.nc", [10, 11])


def test_a_file_that_is_being_replaced(io, folder):
    """Tests a file that is replaced while it is in the references: its old records are removed
    while it is written under its final name, and new ones are added at each sync."""
    stream = Stream(io, folder, publish="live")
    for k in range(2):
        stream.write(f"h.{k}.nc", [10 * k, 10 * k + 1])
    j, nj = stream.rows
    f = io.create(folder / "h.0.nc", **stream.settings)
    stream.define(f)
    stream.check()
    f.enddef()
    stream.files["h.0.nc"] = []
    stream.check()
    f["area"] = field(NY, NX, seed=99)[j : j + nj]
    for t in range(3):
        stream.put(f, [t])
        f.sync()
        stream.files["h.0.nc"].append(t)
        stream.check()
    f.close()
    stream.check()


def test_appending(io, folder):
    stream = Stream(io, folder)
    stream.write("h.0.nc", [0, 1])
    stream.write("h.1.nc", [10])
    f = io.open(folder / "h.0.nc", "a", **stream.settings)
    stream.define(f)
    stream.put(f, [2, 3])
    f.close()
    stream.files["h.0.nc"] = [0, 1, 2, 3]
    stream.check()


def test_the_only_file_is_replaced(io, folder):
    stream = Stream(io, folder, publish="live")
    stream.write("h.0.nc", [0, 1])
    f = io.create(folder / "h.0.nc", **stream.settings)
    stream.define(f)
    stream.check()
    f.enddef()
    on_root(lambda: gone(stream.path))
    f.close()
    stream.write("h.0.nc", [5])


def gone(path):
    assert not path.exists()


def test_files_that_differ(io, folder):
    stream = Stream(io, folder)
    stream.write("h.0.nc", [0])
    found = fails("TW_EDIFFERENT", lambda: stream.write("h.1.nc", [1], units="degC"))
    assert "units" in str(found) and "h.1.nc" in str(found) and "stream.json" in str(found)
    stream.check()
    WORLD.Barrier()
    with netCDF4.Dataset(folder / "h.1.nc") as f:  # the file is complete
        assert f["time"][:].tolist() == [1]
    stream.write("h.1.nc", [1])


def test_another_folder(io, folder):
    if WORLD.rank == 0:
        (folder / "views").mkdir()
        (folder / "data").mkdir()
    WORLD.Barrier()
    stream = Stream(io, folder / "data", zarr_stream=folder / "views" / "s.json")
    stream.write("h.0.nc", [0])
    stream.write("h.1.nc", [1])

    def right():
        text = json.loads(stream.path.read_text())["refs"]
        places = {r[0] for r in text.values() if isinstance(r, list)}
        assert places == {"../data/h.0.nc", "../data/h.1.nc"}

    on_root(right)


def test_with_references_of_each_file(io, folder):
    stream = Stream(io, folder, zarr_references=True)
    stream.write("h.0.nc", [0])
    stream.write("h.1.nc", [1])
    on_root(lambda: [open_group(folder / f"h.{k}.nc.json")["T"][...] for k in range(2)])


def test_what_cannot_be(io, folder):
    def create(path, **settings):
        return io.create(folder / "f.nc", zarr_stream=str(path), **settings)

    fails("TW_EIO", lambda: create(folder / "none" / "s.json"))
    fails("TW_ESETTING", lambda: create(folder / "s.json", method="tiles", files="tiles"))
    fails("TW_ESETTING", lambda: create(folder / "s.json", zarr_references=str(folder / "s.json")))
    if WORLD.rank == 0:
        (folder / "other.json").write_text('{"version":1,"refs":{}}')
        (folder / "damaged.json").write_text('{"version":1,"stream":{"files":')
    WORLD.Barrier()
    fails("TW_EEXISTS", lambda: create(folder / "other.json"))
    j, nj = rows(NY)
    f = create(folder / "damaged.json")
    f.define("T", "f4", "time y", io.decompose(y=NY, start=(j,), count=(nj,)))
    fails("TW_EFORMAT", f.close)
    f = create(folder / "s.json")  # files are joined along records, so they need some
    f.define("T", "f4", "y", io.decompose(y=NY, start=(j,), count=(nj,)))
    fails("TW_EDIFFERENT", f.close)
    on_root(lambda: gone(folder / "s.json"))


def test_a_restart_is_not_of_the_stream(comm, folder):
    with tw.Session(comm, zarr_stream=str(folder / "s.json")) as io:
        values = np.ones(3)
        with io.restart() as restart:
            restart.add("T", values, "x", io.split(x=3 * WORLD.size))
            restart.write(folder / "r.nc")
    on_root(lambda: gone(folder / "s.json"))


def test_what_readers_skip(io, folder):
    """Tests that readers ignore the key `stream`."""
    stream = Stream(io, folder)
    stream.write("h.0.nc", [0])
    stream.write("h.1.nc", [1])

    def same():
        references = load(stream.path)
        del references["stream"]
        other = folder / "plain.json"
        other.write_text(json.dumps(references))
        assert same_bits(open_group(other)["T"][...], open_group(stream.path)["T"][...])

    on_root(same)
