# SPDX-License-Identifier: Apache-2.0
"""Tests variables and attributes that netCDF-C does not list, or that cannot be read: the tools
always name them.

Usage: unlisted.py CASE THALWEG LAUNCHER...
CASE: compared, left_out, unreadable, unlimited
"""

from pathlib import Path

import h5py
import netCDF4
import numpy as np

from tools import Tool, main


def values_of(kind, other):
    """Returns three values of a type that netCDF lacks; with `other`, one of them differs."""
    last = 1 if other else 0
    if kind == "bool":
        return np.array([True, False, bool(last)])
    if kind == "complex":
        return np.array([1 + 2j, 0, last])
    if kind == "compound":
        return np.array([(1, 2.0), (3, 4.0), (5, last)], [("n", "<i2"), ("v", ">f8")])
    if kind == "enum":
        colour = h5py.enum_dtype({"red": 0, "green": 1}, basetype="i2")
        return np.array([0, 1, last], colour)
    if kind == "array":
        return np.array([([1, 2],), ([3, 4],), ([5, last],)], [("pair", "<i4", (2,))])
    if kind == "opaque":
        return np.array([b"abc", b"def", b"gh" + bytes([65 + last])], "V3")
    raise ValueError(kind)


def low_level(kind, group, name, other):
    """Returns types that h5py writes only by its low-level interface."""
    last = 1 if other else 0
    space = h5py.h5s.create_simple((3,))
    data = np.array([1, 2, last], "u1")
    if kind == "bit field":
        made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.STD_B8LE, space)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=h5py.h5t.STD_B8LE)
    elif kind == "reference":
        group.create_dataset(name, data=[group.ref] * 3, dtype=h5py.ref_dtype)
    else:
        lists = group.create_dataset(name, (3,), h5py.vlen_dtype("i4"))
        for i, v in enumerate(data):
            lists[i] = np.arange(v)


COMPARABLE = ("bool", "complex", "compound", "enum", "array", "opaque")
LOW = ("bit field", "reference", "vlen")


def base(path, **more):
    f = h5py.File(path, "w", track_order=True, **more)
    f.create_dataset("x", data=np.arange(3.0))
    f["x"].make_scale("x")
    f.create_dataset("T", data=np.arange(3, dtype="<i4"))
    f["T"].dims[0].attach_scale(f["x"])
    return f


def write(path, kind, where, other=False):
    """Makes a file with a value of the type in a variable, or in an attribute of `T` or of the
    file."""
    with base(path) as f:
        if kind in LOW:
            low_level(kind, f, "odd", other)
            f["odd"].dims[0].attach_scale(f["x"])
            return
        values = values_of(kind, other)
        if where == "variable":
            f["odd"] = values
            f["odd"].dims[0].attach_scale(f["x"])
        else:
            (f["T"] if where == "T" else f).attrs["odd"] = values


def name_of(where):
    return {"variable": "'odd'", "T": "'T:odd'", "file": "':odd'"}[where]


def compared(tool: Tool):
    """Tests that verify reports equality only for objects that it has compared."""
    cases = [(kind, where) for kind in COMPARABLE for where in ("variable", "T", "file")]
    base("without.nc").close()
    for kind, where in cases + [(kind, "variable") for kind in LOW]:
        write("a.nc", kind, where)
        write("b.nc", kind, where, other=True)
        same = tool.run(1, "verify", "a.nc", "a.nc")
        differs = tool.run(3, "verify", "a.nc", "b.nc")
        words = f"{kind} {where}: {same} {differs}"
        code, out, _ = same  # if netCDF-C lists the type, it is named as unreadable
        assert code == 0 or (code == 2 and name_of(where) in out), words
        assert code == 2 or kind not in ("reference", "vlen"), words
        code, out, _ = differs
        assert code in (1, 2) and name_of(where) in out, words
        for pair in (("a.nc", "without.nc"), ("without.nc", "a.nc")):
            code, out, _ = tool.run(1, "verify", *pair)
            assert code == 1 and f"{name_of(where)}: only in a.nc" in out, f"{words} {out}"
        if where == "variable":
            tool.good(1, "verify", "a.nc", "b.nc", "--variables", "T")
            assert tool.run(1, "verify", "a.nc", "b.nc", "--variables", "odd")[0] != 0, words
    with base("a.nc") as f, base("b.nc") as g:  # the other file has another type or shape
        f["odd"], g["odd"] = np.array([True, False]), np.array([True, False, True])
        f["other"], g["other"] = np.array([True]), np.array([1.5])
    code, found = tool.verify(1, "a.nc", "b.nc")
    assert code == 1 and {d["name"] for d in found["differences"]} >= {"odd", "other"}, found


def left_out(tool: Tool):
    """Tests that repack refuses such objects."""
    cases = [(kind, where) for kind in COMPARABLE for where in ("variable", "T", "file")]
    for kind, where in cases + [(kind, "variable") for kind in LOW]:
        write("in.nc", kind, where)
        tool.refused(1, [name_of(where)], "repack", "in.nc", "out.nc")
        assert not list(Path().glob("out.nc*"))


def unreadable(tool: Tool):
    """Tests that a variable that cannot be read does not end the comparison of the others."""
    with h5py.File("source.nc", "w") as f:
        f["T"] = np.arange(6, dtype="<f4")
    layout = h5py.VirtualLayout((6,), "<f4")
    layout[:] = h5py.VirtualSource("source.nc", "T", (6,))
    for name, last in (("a.nc", 2), ("b.nc", 3)):
        with base(name, libver=("v110", "v110")) as f:
            f.create_virtual_dataset("virtual", layout)
            f["null"] = h5py.Empty("f4")
            f["null with attribute"] = h5py.Empty("i4")
            f["null with attribute"].attrs["A1"] = np.full((7, 4), last, "i4")
            f["U"] = np.array([1, 1, last])
    for ranks in (1, 3):
        code, out, err = tool.run(ranks, "verify", "a.nc", "a.nc")
        assert code == 2, f"{code}: {out}{err}"
        for name in ("virtual", "null"):
            assert f"'{name}'" in out and "not compared" in out, f"no {name}: {out}{err}"
        code, out, err = tool.run(ranks, "verify", "a.nc", "b.nc")
        assert code == 1 and "variable 'U': 1 of 3" in out and "'virtual'" in out, f"{out}{err}"
        assert "'null with attribute:A1'" in out, out
    tool.good(3, "verify", "a.nc", "a.nc", "--variables", "T,U,x")
    tool.refused(3, ["a.nc", "cannot be read"], "repack", "a.nc", "out.nc")
    with netCDF4.Dataset("in.nc", "w") as data:  # a chunk is damaged
        data.createDimension("x", 1000)
        for name in ("bad", "good"):
            v = data.createVariable(name, "f4", ("x",), compression="zlib", fletcher32=True)
            v[:] = np.random.default_rng(1).normal(size=1000)
    content = bytearray(Path("in.nc").read_bytes())
    with h5py.File("in.nc") as f:
        chunk = f["bad"].id.get_chunk_info(0)
    content[chunk.byte_offset + chunk.size // 2] ^= 0xFF
    Path("damaged.nc").write_bytes(content)
    code, out, err = tool.run(3, "verify", "in.nc", "damaged.nc")
    assert code == 2 and "'bad'" in out and "1000 values" in out, f"{out}{err}"


def unlimited(tool: Tool):
    """Tests that a dimension does not become fixed silently, and that verify reports the
    difference."""
    with netCDF4.Dataset("two.nc", "w") as d:
        for name, n in (("t", None), ("s", None), ("x", 3)):
            d.createDimension(name, n)
        d.createVariable("t", "f8", ("t",))[:] = np.arange(5)
        d.createVariable("w", "f4", ("s", "x"))[:] = np.arange(6).reshape(2, 3)
        d.createVariable("v", "f4", ("t", "s"))[:] = np.arange(10).reshape(5, 2)
    with netCDF4.Dataset("empty_first.nc", "w") as d:
        for name, n in (("station", None), ("time", None), ("x", 2)):
            d.createDimension(name, n)
        d.createVariable("name", "i4", ("station",))
        d.createVariable("time", "f8", ("time",))[:] = np.arange(3)
        d.createVariable("T", "f4", ("time", "x"))[:] = np.arange(6).reshape(3, 2)
    with h5py.File("zero_fixed.nc", "w", track_order=True) as f:
        for name, values, most in (
            ("station", np.zeros(0), None),
            ("time", np.arange(3.0), (None,)),
        ):
            f.create_dataset(name, data=values, maxshape=most)
            f[name].make_scale(name)
    expected = {"two.nc": ["s"], "empty_first.nc": ["time"], "zero_fixed.nc": ["time"]}
    for name, changed in expected.items():
        for ranks in (1, 3):
            code, out, err = tool.run(ranks, "repack", name, "out.nc")
            assert code == 0, f"{name}: {out}{err}"
            assert all(f"'{dim}'" in err and "note" in err for dim in changed), f"{name}: {err}"
            code, found = tool.verify(ranks, name, "out.nc")
            seen = [d["name"] for d in found["differences"] if "unlimited" in d]
            assert code == 1 and sorted(seen) == changed, f"{name}: {found}"
        tool.good(1, "verify", name, name)
    tool.good(3, "repack", "two.nc", "out.nc", "--fixed")
    code, found = tool.verify(1, "two.nc", "out.nc")
    assert [d["name"] for d in found["differences"]] == ["t", "s"], found


if __name__ == "__main__":
    main(globals())
