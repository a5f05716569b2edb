# SPDX-License-Identifier: Apache-2.0
"""Tests thalweg verify and thalweg repack with random files of all formats; the results are
compared with netCDF-C's.

Usage: tools.py CASE THALWEG LAUNCHER...
       (LAUNCHER with its flags and the option for the number of ranks; none: always one process)
CASE: formats, stores, storage, flips, definitions, tolerance, refused, damaged, killed
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netCDF4
import numpy as np
import zarr
from random_file import FORMATS, make, raw, same, types_of

RANKS = (1, 3, 7)


class Tool:
    def __init__(self, program, launcher):
        self.program = program
        self.launcher = launcher

    def line(self, ranks, *arguments):
        launcher = [] if ranks == 1 or not self.launcher else [*self.launcher, str(ranks)]
        return [*launcher, self.program, *map(str, arguments)]

    def run(self, ranks, *arguments):
        """Returns (exit code, standard output, standard error)."""
        done = subprocess.run(
            self.line(ranks, *arguments), capture_output=True, text=True, timeout=100
        )
        assert "\r" not in done.stderr, "a progress bar in a log"
        return done.returncode, done.stdout, done.stderr

    def good(self, ranks, *arguments):
        code, out, err = self.run(ranks, *arguments)
        assert code == 0, f"{arguments}: exit code {code}: {out}{err}"
        return out

    def verify(self, ranks, *arguments):
        """Returns (exit code, the result)."""
        code, out, err = self.run(ranks, "verify", *arguments, "--json")
        assert code in (0, 1), f"{arguments}: exit code {code}: {out}{err}"
        return code, json.loads(out)

    def refused(self, ranks, words, *arguments):
        code, out, err = self.run(ranks, *arguments)
        expected = 2 if arguments[0] == "verify" else 1
        assert code == expected, f"{arguments}: exit code {code}: {out}{err}"
        for word in words:
            assert word in out + err, f"{arguments}: no '{word}' in: {out}{err}"


def dump(path):
    text = subprocess.run(
        ["ncdump", "-n", "same", "-p", "9,17", path], capture_output=True, text=True, check=True
    ).stdout
    # Only in classic formats, ncdump breaks texts after a newline; a single string becomes text.
    text = re.sub(r'\\n",\n\s*"', r"\\n", text)
    return re.sub(r"^(\s+)string (\S*:)", r"\1\2", text, flags=re.M)


def holds(form, types):
    return all(t in types_of(form) for t in types)


def formats(tool):
    """Tests copies from each format to each other and back."""
    seed = 0
    for form in FORMATS:
        seed += 1
        ranks = RANKS[seed % 3]
        make("in.nc", form, seed)
        for other in FORMATS:
            if not holds(other, types_of(form)):
                continue
            tool.good(ranks, "repack", "in.nc", "out.nc", "--format", other)
            with netCDF4.Dataset("out.nc") as data:
                assert data.data_model == FORMATS[other], data.data_model
            same("in.nc", "out.nc")
            assert dump("in.nc") == dump("out.nc"), f"{form} to {other}: ncdump differs"
            code, found = tool.verify(ranks, "in.nc", "out.nc")
            assert code == 0 and found["equal"], found
            tool.good(1, "repack", "out.nc", "back.nc", "--format", form)
            same("in.nc", "back.nc")
            assert not list(Path().glob("*.part*")), "a temporary name is left"
    make("in.nc", "cdf5", seed)
    outputs = []
    for ranks in RANKS:
        tool.good(ranks, "repack", "in.nc", "out.nc", "--memory", "1k")
        outputs.append(Path("out.nc").read_bytes())
    assert outputs[0] == outputs[1] == outputs[2], "the file depends on the number of ranks"


def stores(tool):
    """Tests copies from each format to Zarr, in Zarr, and back."""
    for seed, form in enumerate(FORMATS):
        make("in.nc", form, seed)
        ranks, memory = RANKS[seed % 3], ("1k", "64M")[seed % 2]
        tool.good(ranks, "repack", "in.nc", "store", "--format", "zarr", "--memory", memory)
        code, found = tool.verify(ranks, "in.nc", "store")
        assert code == 0 and found["equal"], found
        shown = json.loads(tool.good(1, "show", "store", "--json"))["variables"]
        group = zarr.open_group("store", mode="r")
        with netCDF4.Dataset("in.nc") as data:
            data.set_auto_maskandscale(False)
            data.set_auto_chartostring(False)
            for name, v in data.variables.items():
                native = v[...].astype(v.dtype.newbyteorder("="))
                assert np.asarray(group[name][...]).tobytes() == native.tobytes(), name
                sizes = [p.stat().st_size for p in Path("store", name).iterdir()]
                (facts,) = [one for one in shown if one["name"] == name]
                assert facts["stored_bytes"] == sum(sizes), facts
        tool.good(3, "repack", "store", "again", "--zstd", "1", "--memory", memory)
        tool.good(1, "repack", "again", "back.nc", "--format", form)
        same("in.nc", "back.nc")
        for store in ("store", "again"):
            shutil.rmtree(store)


def storage(tool):
    """Tests chunks and filters: they are as requested, or unchanged."""
    with netCDF4.Dataset("in.nc", "w") as data:
        for name, n in (("time", None), ("z", 6), ("y", 50), ("x", 40)):
            data.createDimension(name, n)
        rng = np.random.default_rng(1)
        kept = {"compression": "zlib", "complevel": 4, "shuffle": False}
        v = data.createVariable(
            "T", "f4", ("time", "z", "y", "x"), chunksizes=(2, 3, 20, 40), **kept
        )
        v[:] = rng.normal(size=(5, 6, 50, 40))
        data.createVariable("plain", "i4", ("y", "x"))[:] = rng.integers(0, 99, size=(50, 40))
        data.createVariable("time", "f8", ("time",))[:] = np.arange(5)
    cases = [
        ([], (1, 3, 20, 40), (4, False), None),
        (["--chunks", "auto", "--deflate", "0"], None, (0, False), None),
        (["--chunks", "y=7,x=9", "--deflate", "2"], (1, 6, 7, 9), (2, True), (7, 9)),
        (["--set", "T:chunks=z=1", "--shuffle", "yes"], (1, 1, 50, 40), (4, True), None),
        (["--zstd", "3", "--set", "T:deflate=1;shuffle=no"], (1, 3, 20, 40), (1, False), None),
    ]
    for i, (options, chunks, (level, shuffle), plain) in enumerate(cases):
        for ranks, memory in ((RANKS[i % 3], "64M"), (3, "10k")):
            tool.good(ranks, "repack", "in.nc", "out.nc", "--memory", memory, *options)
            code, found = tool.verify(ranks, "in.nc", "out.nc")
            assert code == 0, found
            with netCDF4.Dataset("out.nc") as data:
                filters = data["T"].filters()
                assert (filters["complevel"], filters["shuffle"]) == (level, shuffle), filters
                if chunks:
                    assert tuple(data["T"].chunking()) == chunks, data["T"].chunking()
                if plain:
                    assert tuple(data["plain"].chunking()) == plain, data["plain"].chunking()
            if "--zstd" not in options:
                same("in.nc", "out.nc")


def flips(tool):
    """Tests that one value that differs is found at its place, in each format."""
    rng = np.random.default_rng(5)
    for i, form in enumerate(FORMATS):
        names = make("a.nc", form, 100 + i)
        for k, ranks in enumerate(RANKS):
            shutil.copy("a.nc", "b.nc")
            name = names[int(rng.integers(len(names)))]
            with netCDF4.Dataset("b.nc", "r+") as data:
                array = raw(data[name])
                before = array.tobytes()
                at = tuple(int(rng.integers(n)) for n in array.shape)
                if array.dtype == "S1":
                    array[at] = b"!" if array[at] != b"!" else b"?"
                else:
                    array[at] = 42 if array[at] != 42 else 43
                data[name][...] = array
                size = array.itemsize
                flat = int(np.ravel_multi_index(at, array.shape)) if at else 0
                assert array.tobytes() != before
                # Compare the values as bytes: values that NumPy shows alike may differ in their
                # bits.
                places = [
                    j
                    for j in range(array.size)
                    if array.tobytes()[j * size : j * size + size] != before[j * size :][:size]
                ]
                assert places == [flat], places
            code, found = tool.verify(ranks, "a.nc", "b.nc")
            assert code == 1 and len(found["differences"]) == 1, found
            (difference,) = found["differences"]
            assert difference["kind"] == "values" and difference["name"] == name, difference
            assert difference["differing"] == 1 and difference["values"] == array.size, difference
            assert tuple(difference["first"]["index"]) == at, (difference, at)
            with netCDF4.Dataset("a.nc") as data:
                dims = data[name].dimensions
                assert tuple(difference["dimensions"]) == dims
                recorded = dims[:1] == ("time",)
            assert ("record" in difference["first"]) == recorded
            code, out, _ = tool.run(1, "verify", "a.nc", "b.nc")
            place = " ".join(f"{d}={n}" for d, n in zip(dims, at, strict=True))
            assert code == 1 and f"'{name}': 1 of" in out and place in out, out
            if k == 0:
                others = [n for n in names if n != name]
                tool.good(1, "verify", "a.nc", "b.nc", "--variables", others[0])


def definitions(tool):
    """Tests differences of names, lengths, types and attributes."""

    def write(path, form="NETCDF4", length=4, kind="i4", **attributes):
        with netCDF4.Dataset(path, "w", format=form) as data:
            data.createDimension("x", length)
            data.createVariable("v", kind, ("x",))[:] = np.arange(length)
            data.createVariable("s", "f4", ())[...] = 1
            for name, value in attributes.items():
                data["v"].setncattr(name, value)

    def differences(*options):
        code, found = tool.verify(1, "a.nc", "b.nc", *options)
        assert (code == 1) == bool(found["differences"])
        return [(d["kind"], d["name"]) for d in found["differences"]]

    write("a.nc", units="K")
    write("b.nc", "NETCDF3_CLASSIC", units="K")
    assert differences() == []
    write("b.nc", units="m")
    assert differences() == [("attribute", "v:units")]
    for ignored in ("units", "v:units", "other,units"):
        assert differences("--ignore-attribute", ignored) == []
    assert differences("--ignore-attribute", ":units") == [("attribute", "v:units")]
    assert differences("--variables", "s") == []
    write("b.nc", units="K", more=np.float64(1))
    assert differences() == [("attribute", "v:more")]
    write("b.nc", units=np.int32(7))
    assert differences() == [("attribute", "v:units")]
    write("b.nc", kind="i2", units="K")
    assert differences() == [("variable", "v")]
    write("b.nc", length=5, units="K")
    assert differences() == [("dimension", "x")]
    with netCDF4.Dataset("b.nc", "w") as data:
        data.createDimension("x", None)
        v = data.createVariable("v", "i4", ("x",))
        v[:] = np.arange(6)
        v.units = "K"
        data.history = "made"
    assert differences() == [
        ("dimension", "x"),
        ("dimension", "x"),
        ("attribute", ":history"),
        ("variable", "s"),
    ]
    with netCDF4.Dataset("a.nc", "w") as data:
        data.createDimension("x", 2)
        data.createVariable("words", str, ("x",))[:] = np.array(["a", "b"], dtype=object)
        data.createVariable("v", "i4", ("x",))[:] = 1
        data.createGroup("inner")
    tool.refused(1, ["'words'", "1 groups"], "verify", "a.nc", "a.nc")
    tool.good(1, "verify", "a.nc", "a.nc", "--variables", "v")


def tolerance(tool):
    a = np.array([1.0, 2.0, np.nan, np.inf, 0.0, 1e6])
    b = np.array([1.0, 2.001, np.nan, np.inf, -0.0, 1e6 + 1])
    for path, array in (("a.nc", a), ("b.nc", b)):
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as data:
            data.createDimension("x", 6)
            data.createVariable("v", "f8", ("x",))[:] = array
            data.createVariable("i", "i4", ("x",))[:] = 10
    code, found = tool.verify(3, "a.nc", "b.nc")
    assert code == 1
    (difference,) = found["differences"]
    assert difference["differing"] == 3 and difference["first"]["index"] == [1], difference
    assert difference["largest_difference"] == 1.0, difference
    for ranks, options, left in (
        (1, ["--tolerance", "0.01"], 1),
        (3, ["--relative", "1e-3"], 0),
        (1, ["--relative", "1e-5"], 1),
        (7, ["--tolerance", "0.01", "--relative", "1e-5"], 0),
    ):
        code, found = tool.verify(ranks, "a.nc", "b.nc", *options)
        assert sum(d["differing"] for d in found["differences"]) == left, (options, found)
    with netCDF4.Dataset("b.nc", "r+") as data:
        data["v"][2] = 5
        data["v"][3] = -np.inf
    code, found = tool.verify(1, "a.nc", "b.nc", "--tolerance", "1e9")
    (difference,) = found["differences"]
    assert difference["differing"] == 2 and difference["nan_in_one_file"] == 1, difference
    assert difference["first"] == {"index": [2], "a": "nan (0x7ff8000000000000)", "b": 5.0}
    assert difference["largest_difference"] == "inf"


def left(path):
    return sorted(p.name for p in Path().iterdir() if p.name.startswith(path))


def refused(tool):
    """Tests that everything that cannot be written is named before anything is written."""

    def refuse(words, *options, source="in.nc", ranks=1):
        tool.refused(ranks, words, "repack", source, "out.nc", *options)
        assert left("out.nc") == [], left("out.nc")

    def write(define, form="NETCDF4"):
        with netCDF4.Dataset("in.nc", "w", format=form) as data:
            data.createDimension("time", None)
            data.createDimension("x", 3)
            define(data)

    write(lambda d: d.createVariable("count", "i8", ("x",)))
    for form in ("cdf1", "cdf2", "netcdf4-classic"):
        refuse(["'count'", "int64", form], "--format", form, ranks=3)
    write(lambda d: d.setncattr("mask", np.uint16(3)))
    refuse(["'mask'", "ushort"], "--format", "cdf2")
    write(lambda d: d.createVariable("words", str, ("x",)))
    refuse(["'words'", "strings"], ranks=3)
    write(lambda d: d.setncattr_string("words", ["a", "b"]))
    refuse([":words", "strings"])
    write(lambda d: d.createGroup("inner"))
    refuse(["groups"])

    def enum(data):
        kind = data.createEnumType("i1", "sky", {"clear": 0, "cloudy": 1})
        data.createVariable("clouds", kind, ("x",), fill_value=0)

    write(enum)
    refuse(["'clouds'", "user-defined"])
    write(lambda d: d.createVariable("late", "i4", ("x", "time")))
    refuse(["'late'", "'time'", "--fixed"])

    def second(data):
        data.createDimension("more", None)
        data.createVariable("v", "i4", ("time", "more"))

    write(second)
    refuse(["'more'", "length 0"])
    write(lambda d: d.createVariable("v", "i4", ("time", "x")), "NETCDF3_CLASSIC")
    refuse(["cdf1", "--format netcdf4"], "--deflate", "1")
    refuse(["'w'"], "--format", "netcdf4", "--set", "w:deflate=1")
    refuse(["deflate", "77"], "--format", "netcdf4", "--deflate", "77")
    refuse(["No such file"], source="nothing.nc", ranks=3)

    Path("out.nc").symlink_to("in.nc")
    os.link("in.nc", "other.nc")
    os.link("in.nc", "new.nc.part")
    before = Path("in.nc").read_bytes()
    for output in ("in.nc", "./in.nc", "out.nc", "other.nc", "new.nc"):
        tool.refused(3, ["the same file"], "repack", "in.nc", output)
    assert Path("in.nc").read_bytes() == before


def damaged(tool):
    """Tests a file of which a part is missing or damaged: all ranks get an error, and there is
    no output."""
    for form in ("cdf2", "netcdf4"):
        with netCDF4.Dataset("in.nc", "w", format=FORMATS[form]) as data:
            data.createDimension("time", None)
            data.createDimension("x", 50000)
            v = data.createVariable(
                "T",
                "f4",
                ("time", "x"),
                **({"compression": "zlib", "fletcher32": True} if form == "netcdf4" else {}),
            )
            v[:] = np.random.default_rng(1).normal(size=(20, 50000))
        whole = Path("in.nc").read_bytes()
        spoiled = bytearray(whole)
        spoiled[len(whole) // 2] ^= 0xFF
        cases = [whole[: len(whole) * 3 // 4], whole[:30], b""]
        if form == "netcdf4":
            cases.append(bytes(spoiled))
        for content in cases:
            Path("bad.nc").write_bytes(content)
            for ranks in (1, 3):
                tool.refused(ranks, ["bad.nc"], "repack", "bad.nc", "out.nc")
                assert left("out.nc") == [], left("out.nc")
                tool.refused(ranks, ["bad.nc"], "verify", "in.nc", "bad.nc")
        if form == "cdf2":
            Path("bad.nc").write_bytes(bytes(spoiled))
            with netCDF4.Dataset("in.nc") as a, netCDF4.Dataset("bad.nc") as b:
                changed = np.argwhere(raw(a["T"]).view("u4") != raw(b["T"]).view("u4"))
            assert len(changed) == 1
            for ranks in RANKS:  # with this memory, a variable has several blocks
                code, found = tool.verify(ranks, "in.nc", "bad.nc")
                assert code == 1 and found["differences"][0]["differing"] == 1, found
                assert found["differences"][0]["first"]["index"] == changed[0].tolist(), found


def ranks_of(pid, program):
    """Returns the program's processes below a launcher; some MPIs start a process of their own
    in between."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{child}/exe").samefile(program):
            found.append(int(child))
        else:
            found += ranks_of(int(child), program)
    return found


def killed(tool):
    """Tests a program that is killed while it writes: there is no output, and an old file stays."""
    with netCDF4.Dataset("in.nc", "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.createDimension("time", None)
        data.createDimension("x", 100000)
        v = data.createVariable("T", "f4", ("time", "x"))
        v[:] = np.random.default_rng(1).normal(size=(200, 100000))
    for form, old in (("cdf5", False), ("netcdf4", True)):
        for name in left("out.nc"):
            os.unlink(name)
        if old:
            Path("out.nc").write_text("an old file")
        options = ["--format", form, "--memory", "1M"]
        if form == "netcdf4":
            options += ["--deflate", "6"]
        line = tool.line(3, "repack", "in.nc", "out.nc", *options)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        part = Path("out.nc.part")
        until = time.time() + 60
        while not (part.exists() and part.stat().st_size > 1 << 20):
            assert process.poll() is None and time.time() < until, "it did not get that far"
            time.sleep(0.001)
        for rank in ranks_of(process.pid, tool.program):
            os.kill(rank, signal.SIGKILL)
        assert process.wait() != 0
        assert Path("out.nc").exists() == old
        if old:
            assert Path("out.nc").read_text() == "an old file"
        tool.good(3, "repack", "in.nc", "out.nc", *options)
        same("in.nc", "out.nc")


def main(cases):
    """Runs one of the cases of a module in a folder of its own."""
    case, program, *launcher = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        # Processes without a launcher share a folder of Open MPI in TMPDIR, and fail if two make it
        # at once.
        os.environ["TMPDIR"] = folder
        os.chdir(folder)
        cases[case](Tool(program, launcher))


if __name__ == "__main__":
    main(globals())
