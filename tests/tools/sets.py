# SPDX-License-Identifier: Apache-2.0
"""Tests sets of files that look like tiles: they are joined with the right values, or refused.

Usage: sets.py CASE THALWEG LAUNCHER...
CASE: joined, inconsistent, divided_otherwise
"""

import os
from pathlib import Path

import netCDF4
import numpy as np

from tools import Tool, main

NX, NY = 6, 5
COLUMNS, ROWS = ((1, 3), (4, 6)), ((1, 2), (3, 5))


class Tile:
    """The definitions and values of one file of a set; tests change some of them."""

    def __init__(self, row, column, files=4):
        self.files = files
        self.form = "NETCDF3_64BIT_OFFSET"
        self.x, self.y = COLUMNS[column], ROWS[row]
        self.whole = {"x": (1, NX), "y": (1, NY)}
        self.divided = ["x", "y"]
        self.kind = "i4"
        self.place_type = "i4"
        self.dims = ("time", "y", "x")
        self.records = 2
        self.left_out = ()
        self.attributes = {}
        self.axes = {}
        self.time = np.arange(10.0)
        self.lengths = {}
        self.places = {}

    def range(self, axis):
        return getattr(self, axis)

    def write(self, path):
        with netCDF4.Dataset(path, "w", format=self.form) as data:
            if self.files is not None:
                data.NumFilesInSet = self.files
            data.setncatts(self.attributes)
            data.createDimension("time", None)
            for axis in ("y", "x"):
                begin, end = self.range(axis)
                length = self.lengths.get(axis, end - begin + 1)
                data.createDimension(axis, length)
                v = data.createVariable(axis, "f8", (axis,))
                v[:] = self.axes.get(axis, np.arange(begin, begin + length))
                if axis in self.divided:
                    place = self.places.get(axis, (*self.whole[axis], begin, end))
                    v.domain_decomposition = np.array(place, self.place_type)
            n = self.records
            data.createVariable("time", "f8", ("time",))[:n] = self.time[:n]
            values = 1000 * np.arange(n)[:, None, None]
            values = values + 10 * data["y"][:][:, None] + data["x"][:]
            if self.dims == ("time", "x", "y"):
                values = values.transpose(0, 2, 1)
            if "T" not in self.left_out:
                data.createVariable("T", self.kind, self.dims)[:n] = values
            data.createVariable("depth", "f4", ("y",))[:] = 7 * data["y"][:]


def tiles():
    return [Tile(row, column) for row in (0, 1) for column in (0, 1)]


def write(name, parts):
    for old in Path().glob(f"{name}.*"):
        old.unlink()
    for k, part in enumerate(parts):
        if part is not None:
            part.write(f"{name}.{k:04d}")


def check_joined(path):
    with netCDF4.Dataset(path) as data:
        expected = 1000 * np.arange(2)[:, None, None] + 10 * np.arange(1, NY + 1)[:, None]
        expected = expected + np.arange(1, NX + 1)
        assert np.array_equal(data["T"][:], expected), data["T"][:]
        assert np.array_equal(data["x"][:], np.arange(1, NX + 1))
        assert np.array_equal(data["depth"][:], 7 * np.arange(1, NY + 1))
        assert "domain_decomposition" not in data["x"].ncattrs()


def refuse(tool, parts, *words):
    """Checks that combine, and all commands that open the set as one file, refuse it, on one
    rank and on three."""
    write("set.nc", parts)
    for k, command in enumerate(("combine", "repack", "verify")):
        more = {"combine": ["-o", "out.nc"], "repack": ["out.nc"], "verify": ["set.nc"]}[command]
        tool.refused((1, 3)[k % 2], words, command, "set.nc", *more)
        assert not list(Path().glob("out.nc*")), "an output is left"


def joined(tool: Tool):
    """Tests sets of a grid, as various other programs write them."""

    def check(parts, ranks):
        write("set.nc", parts)
        tool.good(ranks, "combine", "set.nc", "-o", "out.nc")
        check_joined("out.nc")
        tool.good(ranks, "repack", "set.nc", "copy.nc")
        check_joined("copy.nc")
        tool.good(1, "verify", "out.nc", "copy.nc")
        tool.good(ranks, "verify", "out.nc", "set.nc")

    check(tiles(), 1)
    named = tiles()
    for k, part in enumerate(named):  # as FMS writes them
        part.attributes = {"filename": f"set.nc.{k:04d}"}
    check(named, 3)
    with netCDF4.Dataset("out.nc") as data:
        assert data.filename == "set.nc", data.filename
    for kind in ("i2", "i8"):
        typed = tiles()
        for part in typed:
            part.place_type = kind
            part.form = "NETCDF3_64BIT_DATA"
        check(typed, 3)
    based = tiles()
    for part in based:  # indices may begin anywhere
        part.whole = {"x": (0, NX - 1), "y": (1, NY)}
        part.axes = {"x": np.arange(part.x[0], part.x[1] + 1)}
        part.x = (part.x[0] - 1, part.x[1] - 1)
    check(based, 1)
    packed = tiles()
    for part in packed:
        part.form = "NETCDF4"
    write("set.nc", packed)
    tool.good(3, "repack", "set.nc", "copy.nc")
    check_joined("copy.nc")
    tool.refused(
        1, ["set.nc.0000", "netCDF-4", "thalweg repack"], "combine", "set.nc", "-o", "o.nc"
    )

    write("set.nc", tiles())
    os.link("set.nc.0003", "link.nc")
    for output in ("set.nc.0001", "./set.nc.0002", "link.nc"):
        before = [path.read_bytes() for path in sorted(Path().glob("set.nc.*"))]
        tool.refused(1, ["the same file"], "combine", "set.nc", "-o", output)
        assert before == [path.read_bytes() for path in sorted(Path().glob("set.nc.*"))]
    killed = tiles()
    killed[2].records = 3
    write("set.nc", killed)
    tool.refused(1, ["set.nc.0002", "'time'", "3 records"], "combine", "set.nc", "-o", "out2.nc")
    tool.good(3, "combine", "set.nc", "-o", "out2.nc", "--common-records")
    check_joined("out2.nc")


def inconsistent(tool: Tool):
    """Tests sets of which one file contradicts the others."""

    def with_last(**changes):
        parts = tiles()
        for name, value in changes.items():
            setattr(parts[-1], name, value)
        return parts

    last = "set.nc.0003"
    refuse(tool, [*tiles()[:3], None], last, "4 files")
    refuse(tool, [tiles()[0], None, *tiles()[2:]], "set.nc.0001")
    refuse(tool, [*tiles()[:3], tiles()[0]], last, "set.nc.0000", "same part")
    refuse(tool, with_last(records=3), last, "'time'")
    refuse(tool, with_last(records=0), last, "'time'")
    refuse(tool, with_last(time=np.arange(10.0) + 1), last, "'time'", "other values")
    refuse(tool, with_last(divided=["x"]), last, "dimension 'y'", "domain_decomposition")
    refuse(tool, with_last(divided=[]), last, "dimension", "domain_decomposition")
    refuse(tool, with_last(x=(3, 6)), last, "'x'", "overlaps")
    refuse(tool, with_last(x=(5, 6)), last, "'x'")
    refuse(tool, with_last(y=(2, 4)), last, "'y'")
    refuse(tool, with_last(whole={"x": (1, 7), "y": (1, NY)}), last, "'x'", "1 to 7")
    refuse(tool, with_last(whole={"x": (0, 6), "y": (1, NY)}), last, "'x'", "0 to 6")
    refuse(tool, with_last(lengths={"x": 2}), last, "'x'", "domain_decomposition")
    for place in ((1, NX, 0, 2), (1, NX, 5, 7), (1, NX, 6, 4), (1, NX, 4), (1, NX, 4, 6, 1)):
        refuse(tool, with_last(places={"x": place}), last, "'x'", "domain_decomposition")
    refuse(tool, with_last(place_type="f8"), last, "'y'", "domain_decomposition")
    refuse(tool, with_last(kind="f4"), last, "'T'")
    refuse(tool, with_last(dims=("time", "x", "y")), last, "'T'")
    refuse(tool, with_last(left_out=("T",)), last, "'T'")
    refuse(tool, with_last(attributes={"grid": "other"}), last, "'grid'")
    refuse(tool, with_last(files=5), last)
    refuse(tool, with_last(files=None), last)
    refuse(tool, with_last(form="NETCDF3_CLASSIC"), last, "format")
    refuse(tool, with_last(form="NETCDF4"), last, "format")
    refuse(tool, with_last(axes={"x": np.array([4.0, 5.0, 9.0])}), last, "'x'", "other values")


def divided_otherwise(tool: Tool):
    """Tests sets whose attributes do not say how they are divided."""

    def with_all(**changes):
        parts = tiles()
        for part in parts:
            for name, value in changes.items():
                setattr(part, name, value)
        return parts

    refuse(tool, with_all(divided=[]), "set.nc.0002", "'y'", "domain_decomposition")
    # The columns can be distinguished, the rows cannot.
    even = with_all(divided=["x"], lengths={"y": 2})
    refuse(tool, even, "set.nc.0002", "'y'", "domain_decomposition")
    refuse(tool, with_all(divided=["x"]), "set.nc.0002", "'y'", "domain_decomposition")
    refuse(tool, with_all(place_type="f8"), "set.nc.0000", "'y'", "domain_decomposition")
    refuse(tool, with_all(whole={"x": (1, 9), "y": (1, NY)}), "'x'", "7 to 9")
    refuse(tool, with_all(whole={"x": (-2, 6), "y": (1, NY)}), "'x'", "-2 to 0")
    huge = {"x": (1, 2**31 - 1), "y": (1, 2**31 - 1)}
    refuse(tool, with_all(whole=huge), "set.nc.0000")
    refuse(tool, with_all(files=3)[:3], "'T'", "'y', 'x'")  # a tile was never written

    def bergs(counts, names=("lon", "lat")):
        for old in Path().glob("set.nc.*"):
            old.unlink()
        for k, n in enumerate(counts):
            with netCDF4.Dataset(f"set.nc.{k:04d}", "w", format="NETCDF3_64BIT_OFFSET") as data:
                data.NumFilesInSet = len(counts)
                data.createDimension("i", None)
                for name in names:
                    data.createVariable(name, "f8", ("i",))[:n] = 100 * k + np.arange(n)

    for counts in ([2, 0, 3], [2, 2], [0, 0]):
        bergs(counts)
        tool.refused(1, ["set.nc.0001", "'i'"], "combine", "set.nc", "-o", "out.nc")
        tool.refused(3, ["set.nc.0001", "'i'"], "repack", "set.nc", "out.nc")
    bergs([3])  # a set of one file is treated like that file
    tool.good(1, "combine", "set.nc", "-o", "out.nc")
    with netCDF4.Dataset("out.nc") as data:
        assert data["lon"][:].tolist() == [0, 1, 2]


if __name__ == "__main__":
    main(globals())
