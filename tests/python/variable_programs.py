# SPDX-License-Identifier: Apache-2.0
"""Tests programs that are killed while they write a Zarr store of netCDF files (files=zarr)."""

import os
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import zarr

INJECT = os.environ.get("THALWEG_TEST_INJECT", "")
STEP = int(os.environ.get("THALWEG_TEST_STEP", "4"))  # test every n-th call; 1: every call
WRITE = """
import sys, numpy as np, thalweg as tw
io = tw.Session()
x = io.decompose(x=3000)
with io.create("history", files="zarr", publish=sys.argv[1]) as f:
    f.define_dim("time", None)
    f.define("time", "f8", "time")
    f.define("T", "f4", "time x", x)
    for t in range(3):
        f["T"] = np.full(3000, t, "f4")
        f["time"] = float(t)
        f.end_step()
        f.sync()
        print(t + 1, flush=True)
io.finalize()
"""


def write(folder, publish, **environment):
    return subprocess.run(
        [sys.executable, "-c", WRITE, publish],
        cwd=folder,
        env={**os.environ, **environment},
        timeout=60,
        capture_output=True,
        text=True,
    )


def is_right(folder):
    group = zarr.open_group(folder, mode="r")
    expected = np.repeat(np.arange(3.0)[:, None], 3000, 1)
    assert np.array_equal(group["T"][...], expected)
    assert group["time"][...].tolist() == [0, 1, 2]
    with netCDF4.Dataset(folder / "T.nc") as f:
        assert np.array_equal(f["T"][...], expected)


def check_committed(folder, records):
    """Checks that all committed records are in the files of the variables."""
    for name in ("time", "T"):
        with netCDF4.Dataset(folder / f"{name}.nc") as f:
            found = f[name][...].reshape(-1, 3000 if name == "T" else 1)
            assert len(found) >= records
            assert np.array_equal(found[:records, 0], np.arange(records))
            assert (found[:records] == found[:records, :1]).all()


@pytest.mark.skipif(not INJECT, reason="no library that injects faults")
@pytest.mark.parametrize("publish", ["close", "live"])
def test_killed_at_any_call(tmp_path, publish):
    """Tests that a killed program leaves no store, or a valid one, that no committed record is
    lost, and that the next run can write it."""
    survived = False
    for call in range(1, 200, STEP):
        run = tmp_path / str(call)
        run.mkdir()
        environment = {
            "LD_PRELOAD": INJECT,
            "THALWEG_FAULT_PATH": "history",
            "THALWEG_FAULT_AT": str(call),
            "THALWEG_FAULT_KIND": "kill",
        }
        done = write(run, publish, **environment)
        survived = done.returncode == 0
        if done.stdout:
            part = run / "history.part"
            check_committed(
                part if part.exists() else run / "history", int(done.stdout.split()[-1])
            )
        if (run / "history/zarr.json").exists():
            is_right(run / "history")
        elif publish == "close":
            assert not (run / "history").exists()
        if survived:
            break
        if publish == "close" and not (run / "history").exists():
            assert write(run, publish).returncode == 0
            is_right(run / "history")
    assert survived and call > 10, call
