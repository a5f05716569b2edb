# SPDX-License-Identifier: Apache-2.0
"""Tests programs that write the references of one stream (zarr_stream): several at once, and
programs that are killed at each call that changes the references."""

import os
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent.parent / "zarr"))

from opened import open_group

INJECT = os.environ.get("THALWEG_TEST_INJECT", "")
WRITE = """
import sys, numpy as np, thalweg as tw
io = tw.Session()
x = io.decompose(x=3000)
for name, *times in (word.split(",") for word in sys.argv[2:]):
    with io.create(name, zarr_stream="s.json", publish=sys.argv[1]) as f:
        f.define("area", "f8", "x", x)
        f.define("T", "f4", "time x", x)
        f.define("time", "f8", "time")
        f["area"] = np.full(3000, 7.0)
        for t in times:
            f["T"] = np.full(3000, float(t), "f4")
            f["time"] = float(t)
            f.end_step()
            f.sync()
io.finalize()
"""


def start(folder, *arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, *arguments], cwd=folder, env={**os.environ, **environment}
    )


def write(folder, *arguments, **environment):
    return start(folder, *arguments, **environment).wait(60)


def times_in(folder):
    """Compares all values, and returns the times in the references."""
    group = open_group(folder / "s.json")
    times = group["time"][...].tolist()
    assert np.array_equal(group["T"][...], np.repeat(np.array(times, "f4")[:, None], 3000, 1))
    assert np.all(group["area"][...] == 7)
    return times


def test_two_programs_at_once(tmp_path):
    """Tests two programs, each of which writes every second file."""
    files = [f"h.{k:02}.nc,{2 * k},{2 * k + 1}" for k in range(16)]
    programs = [start(tmp_path, "close", *files[part::2]) for part in range(2)]
    assert [p.wait(100) for p in programs] == [0, 0]
    assert times_in(tmp_path) == [float(t) for t in range(32)]
    assert not list(tmp_path.glob("*.part*")) and not list(tmp_path.glob(".*.lock"))


@pytest.mark.skipif(not INJECT, reason="no library that injects faults")
@pytest.mark.parametrize("publish", ["close", "live"])
def test_killed_at_any_call(tmp_path, publish):
    """Tests that the references are right at any moment: they refer to no file, or to files in
    their current state. Afterwards the program can continue."""
    before = ["h.0.nc,0,1", "h.1.nc,10,11", "h.2.nc,20"]
    after = ["h.1.nc,10,11,12", "h.0.nc,0,1,2", "h.3.nc,30"]
    assert write(tmp_path, publish, *before) == 0
    survived = False
    for call in range(1, 100, 3):
        for path in ("h.0.nc", "h.1.nc", "h.3.nc"):
            (tmp_path / path).unlink(missing_ok=True)
        (tmp_path / "s.json").unlink(missing_ok=True)
        assert write(tmp_path, publish, *before) == 0
        environment = {
            "LD_PRELOAD": INJECT,
            "THALWEG_FAULT_PATH": "s.json",
            "THALWEG_FAULT_AT": str(call),
            "THALWEG_FAULT_KIND": "kill",
        }
        survived = write(tmp_path, publish, *after, **environment) == 0
        if (tmp_path / "s.json").exists():
            times = times_in(tmp_path)
            assert times == sorted(times) and 20.0 in times
        if survived:
            break
        assert write(tmp_path, publish, *after) == 0
        assert times_in(tmp_path) == [0, 1, 2, 10, 11, 12, 20, 30]
    assert survived and call > 6, call
    with netCDF4.Dataset(tmp_path / "h.1.nc") as f:
        assert f["time"][:].tolist() == [10, 11, 12]
