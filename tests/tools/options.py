# SPDX-License-Identifier: Apache-2.0
"""Tests options that name objects which do not exist, names with characters of the options' syntax,
and impossible numbers.

Usage: options.py CASE THALWEG LAUNCHER...
CASE: names, numbers, header, compared_methods
"""

import struct
import subprocess
from pathlib import Path

import netCDF4
import numpy as np

from tools import Tool, main


def write(path, dims, variables, form="NETCDF4"):
    with netCDF4.Dataset(path, "w", format=form) as data:
        for name, n in dims.items():
            data.createDimension(name, n)
        for name, of in variables.items():
            v = data.createVariable(name, "f4", of)
            v[:] = np.arange(v.size).reshape(v.shape)


def chunks_of(path, name):
    with netCDF4.Dataset(path) as data:
        return data[name].chunking(), data[name].filters()["complevel"]


def names(tool: Tool):
    write("in.nc", {"lat": 6, "lon": 10}, {"T": ("lat", "lon"), "flat": ("lon",)})

    def refuse(*words_and_options):
        words, options = words_and_options[0], words_and_options[1:]
        tool.refused(1, words, "repack", "in.nc", "out.nc", *options)
        _, _, err = tool.run(1, "repack", "in.nc", "out.nc", *options)
        assert err.count("in.nc") <= 1, f"the path twice: {err}"
        assert not list(Path().glob("out.nc*"))

    refuse(["'nosuch'"], "--chunks", "nosuch=3")
    refuse(["'lan'", "'lat'"], "--chunks", "lan=3")
    refuse(["'lat' twice"], "--chunks", "lat=3,lat=4")
    refuse(["'T'", "'nosuch'"], "--set", "T:chunks=nosuch=3")
    refuse(["'nosuch'"], "--set", "nosuch:deflate=1")
    refuse(["deflat"], "--set", "T:deflat=1")
    refuse(["NAME=VALUE"], "--set", "T")
    for value in ("lat", "lat=", "lat=0", "lat=-1", "lat=1.5", "lat=99999999999999999999", "=3"):
        refuse(["chunks"], "--chunks", value)

    dims = {"a=b": 4, "x,y": 4, "x": 2, "k\\": 2}
    variables = {"v:w": ("a=b", "x,y"), "v": ("a=b", "x"), "u,t": ("x", "k\\")}
    write("in.nc", dims, variables)
    options = ["--set", "v:w:deflate=1;quantize=bitround:5", "--set", "v:deflate=3"]
    tool.good(3, "repack", "in.nc", "out.nc", *options)
    assert [chunks_of("out.nc", v)[1] for v in ("v:w", "v")] == [1, 3]
    for chunks in ("a=b=2,x,y=3,x=1", "a\\=b=2,x\\,y=3,x=1"):
        tool.good(1, "repack", "in.nc", "out.nc", "--chunks", chunks)
        assert chunks_of("out.nc", "v:w")[0] == [2, 3], chunks
        assert chunks_of("out.nc", "v")[0] == [2, 1], chunks
    tool.good(1, "repack", "in.nc", "out.nc", "--chunks", "k\\\\=1")
    assert chunks_of("out.nc", "u,t")[0] == [2, 1]
    tool.good(1, "verify", "in.nc", "out.nc", "--variables", "u\\,t")
    tool.refused(1, ["'u'"], "verify", "in.nc", "out.nc", "--variables", "u,t")
    tool.good(1, "verify", "--variables", "v:w,v", "in.nc", "out.nc")

    Path("out.nc").unlink()
    write("in.nc", {"x": 3}, {"flat": ("x",)})  # there is no variable to which the options apply
    for option, value in (
        ("--deflate", "77"),
        ("--deflate", "-1"),
        ("--zstd", "99"),
        ("--shuffle", "maybe"),
        ("--quantize", "bitround:99"),
        ("--quantize", "nosuch:1"),
        ("--chunks", "x=0"),
        ("--chunks", "nosuch=1"),
    ):
        refuse([option[2:]], option, value)


def numbers(tool: Tool):
    write("in.nc", {"x": 3}, {"v": ("x",)})

    def usage(*arguments):
        done = subprocess.run(
            [tool.program, *arguments], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2, f"{arguments}: {done}"
        assert arguments[-2] in done.stderr, f"{arguments}: {done.stderr}"

    for option in ("--tolerance", "--relative"):
        for value in ("nan", "-nan", "inf", "-1", "1e999", "", "x"):
            usage("verify", "in.nc", "in.nc", option, value)
        tool.good(1, "verify", "in.nc", "in.nc", option, "0")
    for value in ("0", "-1", "nan", "1e30", "99999999999999999999", ""):
        usage("repack", "in.nc", "out.nc", "--memory", value)
    code, _, err = tool.run(1, "compare", "--shape", "4000000,4000000,4000000")
    assert code == 1 and "2^63" in err, err
    for option in ("--fields", "--steps", "--repetitions"):
        for value in ("0", "-1", "nan", "99999999999999999999"):
            usage("compare", option, value)


def header(tool: Tool):
    """Tests a classic file whose records begin at an odd byte; netCDF-C does not open it either."""
    with netCDF4.Dataset("in.nc", "w", format="NETCDF3_CLASSIC") as data:
        for name, n in (("t", None), ("n", 15), ("m", 3)):
            data.createDimension(name, n)
        data.createVariable("a", "S1", ("n",))[:] = list("abcdefghijklmno")
        data.createVariable("r", "i4", ("t", "m"))[:2] = np.arange(6).reshape(2, 3)
        data.createVariable("s", "i4", ("t",))[:2] = [7, 8]
    content = Path("in.nc").read_bytes()
    begin = content.index(b"abcdefghijklmno")
    for at in (begin + 16, begin + 28):
        content = content.replace(struct.pack(">i", at), struct.pack(">i", at - 1), 1)
    Path("odd.nc").write_bytes(content[: begin + 15] + content[begin + 16 :])
    tool.refused(1, ["the padding"], "repack", "odd.nc", "out.nc")
    tool.refused(3, ["the padding"], "verify", "odd.nc", "in.nc")


def compared_methods(tool: Tool):
    """Tests thalweg compare: the columns are consistent, and no file remains."""
    for ranks in (1, 3):
        options = ["--shape", "40,30,5", "--steps", "3", "--repetitions", "3"]
        out = tool.good(ranks, "compare", *options, "--methods", "serial,record")
        lines = out.splitlines()
        assert (
            f"{40 * 30 * 5 * 12 * 4 / 1e6:.0f} MB a step, 3 steps a file, {ranks} rank" in lines[0]
        )
        columns = ["step", "s", "least", "most", "MB/s", "ratio", "CPU", "s", "first", "file"]
        assert lines[1].split() == columns, lines[1]
        rows = {line.split()[0]: [float(n) for n in line.split()[1:]] for line in lines[2:5]}
        assert list(rows) == ["raw", "serial", "record"], out
        for step, least, most, _, ratio, cpu, _ in rows.values():
            assert 0 <= least <= step <= most and cpu >= 0, out
            plain = rows["raw"][0]
            low, high = (step - 6e-5) / (plain + 6e-5), (step + 6e-5) / max(plain - 6e-5, 1e-9)
            assert low - 0.01 <= ratio <= high + 0.01, out
        best = min(("serial", "record"), key=lambda m: rows[m][0])
        assert lines[-1].startswith("In a run that goes on,") and lines[-1].count(".") <= 3, lines[
            -1
        ]
        if rows["serial"][0] != rows["record"][0]:
            assert f"'{best}'" in lines[-1], out
        assert not list(Path().iterdir()), "a file is left"


if __name__ == "__main__":
    main(globals())
