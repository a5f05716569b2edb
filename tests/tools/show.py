# SPDX-License-Identifier: Apache-2.0
"""Tests thalweg show, whose output is compared with netCDF-C, h5py, ncdump and NumPy.

Usage: show.py CASE THALWEG LAUNCHER...
CASE: shown, shown_unlisted, statistics, states, plotted, terminal, beside, refused_show,
      large
"""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

import h5py
import netCDF4
import numpy as np
from random_file import FORMATS, make

from tools import RANKS, Tool, main

KINDS = {
    "i1": "byte",
    "S1": "char",
    "i2": "short",
    "i4": "int",
    "f4": "float",
    "f8": "double",
    "u1": "ubyte",
    "u2": "ushort",
    "u4": "uint",
    "i8": "int64",
    "u8": "uint64",
}


def facts(tool, path, *options, ranks=1):
    return json.loads(tool.good(ranks, "show", path, "--json", *options))


def check_variable(found, v, sets):
    assert found["name"] == v.name
    assert found["type"] == KINDS[v.dtype.str[1:] if v.dtype != str else "string"], found
    assert tuple(found["dimensions"]) == v.dimensions
    assert tuple(found["shape"]) == v.shape
    assert found["bytes"] == v.size * v.dtype.itemsize, (found, v)
    if sets is None:
        assert found["stored_bytes"] == found["bytes"] and not found["chunks"]
        return
    set_id = sets[v.name if v.name in sets else "_nc4_non_coord_" + v.name].id
    assert found["stored_bytes"] == set_id.get_storage_size(), found
    chunks = [] if v.chunking() == "contiguous" else v.chunking()
    assert found["chunks"] == list(chunks), (found, v.chunking())
    filters = v.filters()
    expected = ["shuffle"] * filters["shuffle"] + ["deflate"] * filters["zlib"]
    expected += ["fletcher32"] * filters["fletcher32"]
    assert sorted(f.split("=")[0] for f in found["filters"]) == sorted(expected), found
    if filters["zlib"]:
        assert f"deflate={filters['complevel']}" in found["filters"]


def shown(tool: Tool):
    for seed, form in enumerate(FORMATS):
        make("in.nc", form, 40 + seed)
        found = facts(tool, "in.nc", ranks=RANKS[seed % 3])
        sets = h5py.File("in.nc") if form.startswith("netcdf4") else None
        with netCDF4.Dataset("in.nc") as data:
            assert found["format"] == form and FORMATS[found["format"]] == data.data_model
            assert found["bytes"] == os.path.getsize("in.nc")
            assert found["state"] == "complete" and found["complete"] and not found["writer"]
            assert found["records"] == len(data.dimensions["time"])
            assert found["attributes"] == len(data.ncattrs())
            assert [(d["name"], d["length"], d["unlimited"]) for d in found["dimensions"]] == [
                (d.name, len(d), d.isunlimited()) for d in data.dimensions.values()
            ]
            assert [v["name"] for v in found["variables"]] == list(data.variables)
            for one in found["variables"]:
                check_variable(one, data[one["name"]], sets)
        if sets is not None:
            sets.close()
        text = tool.good(1, "show", "in.nc")
        header = subprocess.run(["ncdump", "-h", "in.nc"], capture_output=True, text=True).stdout
        for name in re.findall(r"^\t\w+ (\w+)\(", header, re.M):
            assert re.search(rf"^{name} ", text, re.M), (name, text)
        assert "\x1b" not in text


def shown_unlisted(tool: Tool):
    """Tests several unlimited dimensions, groups, and objects that only HDF5 can read."""
    with netCDF4.Dataset("in.nc", "w") as data:
        for name in ("time", "event"):
            data.createDimension(name, None)
        data.createVariable("T", "f4", ("time",))[:] = np.arange(3)
        data.createVariable("n", "i4", ("event",))[:] = np.arange(5)
        data.createGroup("inner")
    with h5py.File("in.nc", "r+") as file:
        file["flag"] = np.array([True, False])
        file["T"].attrs["z"] = 1 + 2j
    found = facts(tool, "in.nc")
    assert all(d["unlimited"] for d in found["dimensions"]) and found["groups"] == 1
    assert {(o["variable"], o["attribute"]) for o in found["unlisted"]} == {
        ("flag", ""),
        ("T", "z"),
    }
    text = tool.good(1, "show", "in.nc")
    assert "'flag': not readable" in text and "'T:z': not readable" in text


def statistics(tool: Tool):
    rng = np.random.default_rng(3)
    for form in ("cdf2", "cdf5", "netcdf4"):
        with netCDF4.Dataset("in.nc", "w", format=FORMATS[form]) as data:
            data.createDimension("time", None)
            data.createDimension("y", 130)
            data.createDimension("x", 900)
            storage = (
                {"compression": "zlib", "chunksizes": (2, 50, 900)} if form == "netcdf4" else {}
            )
            t = data.createVariable("T", "f4", ("time", "y", "x"), fill_value=-9, **storage)
            values = rng.normal(273, 10, size=(7, 130, 900)).astype("f4")
            values[rng.random(values.shape) < 0.1] = -9
            values[1, 2, 3] = np.nan
            t[:] = values
            data.createVariable("n", "i2", ("y",))[:] = rng.integers(-300, 300, size=130)
            data.createVariable("b", "i1", ("x",))[:] = rng.integers(-100, 100, size=900)
            data.createVariable("never", "f8", ("y", "x"))
            data.createVariable("one", "f8", ())[...] = 2.5
            data.createVariable("word", "S1", ("y",))
            m = data.createVariable("m", "f8", ("x",))
            m.missing_value = 7.0
            m[:] = np.where(np.arange(900) < 10, 7.0, np.arange(900))
        outputs = [tool.good(r, "show", "in.nc", "--stats", "--json") for r in RANKS]
        assert outputs[0] == outputs[1] == outputs[2], "it depends on the number of ranks"
        found = {v["name"]: v["statistics"] for v in json.loads(outputs[0])["variables"]}
        with netCDF4.Dataset("in.nc") as data:
            data.set_auto_scale(False)
            for name, s in found.items():
                if name == "word":
                    assert s == {"unreadable": "not numbers"}
                    continue
                array = np.ma.masked_array(data[name][...])
                assert s["missing"] == np.ma.count_masked(array), (name, s)
                left = array.compressed().astype("f8")
                assert s["nan"] == np.isnan(left).sum()
                left = left[~np.isnan(left)]
                assert s["values"] == left.size
                if left.size == 0:
                    assert s["minimum"] is None and s["mean"] is None
                    continue
                assert (s["minimum"], s["maximum"]) == (left.min(), left.max()), (name, s)
                assert abs(s["mean"] - left.mean()) <= 1e-12 * abs(left).max(), (name, s)
        text = tool.good(3, "show", "in.nc", "--stats")
        assert re.search(r"^one +2\.5 +2\.5 +2\.5 +0 +0$", text, re.M), text
    # Damaged values are reported, and all others are shown.
    whole = bytearray(Path("in.nc").read_bytes())
    with h5py.File("in.nc") as file:
        at = file["T"].id.get_chunk_info(1).byte_offset
    whole[at : at + 200] = b"\xff" * 200
    Path("bad.nc").write_bytes(bytes(whole))
    found = {
        v["name"]: v["statistics"] for v in facts(tool, "bad.nc", "--stats", ranks=3)["variables"]
    }
    assert "'T'" in found["T"]["unreadable"] and found["one"]["mean"] == 2.5


def states(tool: Tool):
    """Tests files that are being written, were left unfinished, are truncated, or are being
    replaced."""
    with netCDF4.Dataset("full.nc", "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.createDimension("time", None)
        data.createDimension("x", 1000)
        data.createVariable("T", "f4", ("time", "x"))[:] = np.ones((6, 1000))
    content = Path("full.nc").read_bytes()
    Path("a.nc.part").write_bytes(content)
    for name in ("a.nc", "a.nc.part"):
        found = facts(tool, name)
        assert (found["state"], found["records"], found["complete"]) == ("abandoned", 6, False)
        assert found["path"].endswith("a.nc.part")
        assert "thalweg recover a.nc\n" in tool.good(1, "show", name)
    lock = os.open(".a.nc.lock", os.O_RDWR | os.O_CREAT)
    os.write(lock, f"thalweg {os.uname().nodename} {os.getpid()}\n".encode())
    fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    for name in ("a.nc", "a.nc.part"):
        found = facts(tool, name)
        assert (found["state"], found["records"]) == ("writing", 6), found
        assert found["writer"] == {"host": os.uname().nodename, "process": os.getpid()}
        text = tool.good(1, "show", name)
        assert f"process {os.getpid()} on host {os.uname().nodename} writes it" in text, text
    Path("a.nc").write_bytes(content)
    found = facts(tool, "a.nc")
    assert found["state"] == "complete" and found["writer"], found
    assert "being replaced" in tool.good(1, "show", "a.nc")
    os.unlink("a.nc.part")
    assert facts(tool, "a.nc")["state"] == "writing"  # the file is written in place
    os.close(lock)
    assert facts(tool, "a.nc")["state"] == "complete"
    Path("a.nc.part.2").write_bytes(content)
    assert "an earlier run left" in tool.good(1, "show", "a.nc")
    Path("a.nc").write_bytes(content[: len(content) // 2])
    found = facts(tool, "a.nc")
    assert found["state"] == "truncated" and "'T'" in found["damage"], found


def plotted(tool: Tool):
    with netCDF4.Dataset("in.nc", "w") as data:
        for name, n in (("time", None), ("lat", 40), ("lon", 80)):
            data.createDimension(name, n)
        lat = data.createVariable("lat", "f4", ("lat",))
        lat[:] = np.linspace(-80, 80, 40)
        t = data.createVariable("T", "f4", ("time", "lat", "lon"), fill_value=-1)
        t[0] = 5
        t[1] = np.broadcast_to(np.arange(40.0)[:, None], (40, 80))
        t[1, :, :40] = -1
        data.createVariable("flat", "f4", ("lat",))[:] = 1
        data.createVariable("word", "S1", ("lat", "lon"))
    outputs = [tool.good(r, "show", "in.nc", "--plot", "T") for r in RANKS]
    assert outputs[0] == outputs[1] == outputs[2]
    lines = outputs[0].split("\n\n")[-1].splitlines()
    assert lines[0].startswith("T at time=1: from 0") or "time=1" in lines[0], lines[0]
    assert lines[1] == "top: lat 80" and lines[-1].startswith("bottom: lat -80; left: lon=0"), lines
    rows = lines[2:-1]
    assert len({len(r) for r in rows}) == 1 and len(rows[0]) == 72
    assert all(set(r[:35]) == {"?"} for r in rows), "missing values"
    shades = " .:-=+*#%@"
    levels = [shades.index(r[-1]) for r in rows]
    assert levels == sorted(levels, reverse=True) and levels[0] == 9 and levels[-1] == 0, levels
    for name, word in (("flat", "two"), ("word", "numbers"), ("nosuch", "nosuch")):
        tool.refused(3, [word], "show", "in.nc", "--plot", name)
    assert tool.run(1, "show", "in.nc", "--plot", "T", "--json")[0] == 2


def terminal(tool: Tool):
    """Tests output to a terminal, also through a launcher: progress, and a map in colours."""
    with netCDF4.Dataset("in.nc", "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.createDimension("y", 1000)
        data.createDimension("x", 2000)
        data.createVariable("T", "f4", ("y", "x"))[:] = np.arange(2000)
    for ranks in (1, 3):
        for stream, options, expected in (
            ("stderr", ["show", "in.nc", "--stats"], b"\r\x1b[K["),
            ("stderr", ["show", "in.nc", "--plot", "T"], b"\r\x1b[K["),
            ("stderr", ["recover", "left.nc"], b"\r\x1b[Krecovering left.nc: 0 s\r\x1b[K"),
            ("stdout", ["show", "in.nc", "--plot", "T"], b"\x1b[48;5;"),
        ):
            if options[0] == "recover" and ranks > 1:
                continue
            shutil.copy("in.nc", "left.nc.part")
            ours, its = pty.openpty()
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: its}
            process = subprocess.Popen(tool.line(ranks, *options), **streams)
            os.close(its)
            seen = b""
            try:
                while part := os.read(ours, 65536):
                    seen += part
            except OSError:  # the other end is closed
                pass
            os.close(ours)
            assert process.wait(timeout=60) == 0 and expected in seen, (ranks, stream, seen)


def beside(tool: Tool):
    """Tests Zarr references beside a file, a set of tiles, and a link."""
    from sets import tiles

    with netCDF4.Dataset("in.nc", "w") as data:
        data.createDimension("x", 4)
        data.createVariable("T", "f4", ("x",))[:] = 1
    Path("in.nc.json").write_text("{}")
    assert facts(tool, "in.nc")["zarr_references"] == ""
    os.unlink("in.nc.json")
    Path("in.nc.json").write_text('{"version":1,"refs":{\n}}')
    assert facts(tool, "in.nc")["zarr_references"].endswith("in.nc.json")
    os.symlink("in.nc", "link.nc")
    assert facts(tool, "link.nc")["path"] == "in.nc"
    for k, tile in enumerate(tiles()):
        tile.write(f"set.nc.{k:04}")
    found = facts(tool, "set.nc", "--stats", ranks=3)
    assert found["files"] == 4 and found["tiles"] == {"rows": 2, "columns": 2}, found
    (t,) = [v for v in found["variables"] if v["name"] == "T"]
    assert t["shape"] == [2, 5, 6] and t["statistics"]["maximum"] == 1000 + 50 + 6


def refused_show(tool: Tool):
    Path("text.nc").write_text("no netCDF")
    Path("empty.nc").write_text("")
    Path("folder").mkdir()
    os.mkfifo("pipe.nc")
    for name in ("text.nc", "empty.nc", "folder", "pipe.nc", "nothing.nc"):
        for options in ([], ["--json"], ["--stats"]):
            for ranks in (1, 3):
                tool.refused(ranks, [name], "show", name, *options)
    for line in (["show"], ["show", "--plot"], ["show", "a", "b"]):
        assert tool.run(1, *line)[0] == 2


def large(tool: Tool):
    """Tests that showing a file takes at most a second, whatever its size: a classic file of 4
    TB without data, and one with 200,000 chunks."""
    with netCDF4.Dataset("in.nc", "w", format="NETCDF3_64BIT_DATA") as data:
        data.set_fill_off()
        data.createDimension("time", None)
        data.createDimension("x", 1 << 28)
        data.createVariable("T", "f4", ("time", "x"))
    header = bytearray(Path("in.nc").read_bytes())
    header[4:12] = (4000).to_bytes(8, "big")
    with open("in.nc", "wb") as file:
        file.write(header)
        file.truncate(len(header) + (4000 << 30))
    with netCDF4.Dataset("chunks.nc", "w") as data:
        data.createDimension("x", 200000)
        data.createVariable("T", "f4", ("x",), chunksizes=(1,), contiguous=False)[:] = 1
    for name, records in (("in.nc", 4000), ("chunks.nc", 0)):
        start = time.time()
        found = facts(tool, name)
        took = time.time() - start
        assert found["records"] == records and found["state"] == "complete", found
        assert took < 5, f"{name}: {took} s"


if __name__ == "__main__":
    main(globals())
