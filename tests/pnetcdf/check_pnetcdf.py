# SPDX-License-Identifier: Apache-2.0
"""Runs programs that call PnetCDF, plain and with the shim preloaded, and compares what they say
and what is in their files.

Usage: check_pnetcdf.py CASE FOLDER TOOL SHIM RANKS -- LAUNCHER...
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CASE, FOLDER, TOOL, SHIM, RANKS = sys.argv[1:6]
FOLDER = str(Path(FOLDER).resolve())
LAUNCHER = sys.argv[7:]


def program(name):
    return str(Path(FOLDER) / f"pnetcdf_{name}")


def run(command, folder, preload=False, ranks=RANKS, **settings):
    environment = {**os.environ, **settings}
    if preload:
        environment["LD_PRELOAD"] = SHIM
    words = [*LAUNCHER, "-n", str(ranks), *command] if ranks else command
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr}"
    return done.stdout, done.stderr


def differences(plain, taken):
    lines = zip(plain.splitlines(), taken.splitlines(), strict=False)
    return [f"{a}   |   {b}" for a, b in lines if a != b][:20]


def same(plain, taken, what):
    assert plain == taken, f"{what}:\n" + "\n".join(differences(plain, taken))


def taken_files(err):
    """Tests that the engine had every file."""
    found = re.search(r"thalweg: (\d+) files? by Thalweg(.*)", err)
    assert found and int(found[1]) > 0 and not found[2], err
    return int(found[1])


def check_property(first, last):
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            plain, _ = run([program("property"), str(seed), "plain.nc"], folder)
            service = {"THALWEG_SERVICE": "background"} if seed % 3 == 0 else {}
            command = [program("property"), str(seed), "taken.nc"]
            taken, err = run(command, folder, preload=True, **service)
            same(plain, taken, f"seed {seed}")
            taken_files(err)
            dumps = [run([program("property"), "dump", f], folder)[0] for f in FILES]
            same(*dumps, f"seed {seed}: the files differ")


FILES = ("plain.nc", "taken.nc")

# Lines that differ on purpose: docs/pnetcdf.md. PnetCDF's own warning is on standard output, and
# its ranks race to remove an aborted file.
CHANGED = ("PnetCDF warning", "ncmpi_abort")


def check_rows():
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program("rows")], folder)
        taken, err = run([program("rows")], folder, preload=True)
        kept = [
            "\n".join(line for line in text.splitlines() if not any(c in line for c in CHANGED))
            for text in (plain, taken)
        ]
        same(*kept, "rows")
        assert "by Thalweg" in err, err


def check_fortran(name):
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program(name), "plain.nc"], folder)
        taken, err = run([program(name), "taken.nc"], folder, preload=True)
        same(plain, taken, name)
        taken_files(err)
        dumps = [run([program("property"), "dump", f], folder)[0] for f in FILES]
        same(*dumps, f"{name}: the files differ")


def check_places():
    """Tests that places told before there are data are those of PnetCDF for the closed file."""
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program("places"), "make"], folder)
        for settings in ({}, {"THALWEG_HEADER_PAD": "64KiB"}, {"THALWEG_SERVICE": "background"}):
            taken, err = run([program("places"), "make"], folder, preload=True, **settings)
            taken_files(err)
            hole = (Path(folder) / "h.nc").stat()
            assert hole.st_size > 64 << 20 > 64 * hole.st_blocks * 512, hole
            inside = [line for line in taken.splitlines() if line.startswith("inside")]
            there, _ = run([program("places"), "show"], folder)
            same("\n".join(inside), there.strip(), f"places with {settings}")
            same(*(as_asked(text) for text in (plain, taken)), f"asked places with {settings}")
        # A file of another format has no such places.
        out, _ = run([program("places"), "make"], folder, preload=True, THALWEG_FORMAT="netcdf4")
        assert "inside a.nc: -214" in out, out


def as_asked(text):
    """The lines that do not depend on room for late attributes."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("inside a.nc"))


def check_killed():
    """Tests that a file whose ranks are killed is there for the next open, with what was synced."""
    for calls in (1, 6, 9, 16, 17, 30, 47):
        for service in ("inline", "background"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "LD_PRELOAD": SHIM, "THALWEG_SERVICE": service}
                words = [program("killed"), "write", str(calls), str(calls)]
                done = subprocess.run(
                    [*LAUNCHER, "-n", RANKS, *words], cwd=folder, env=environment,
                    capture_output=True, text=True, timeout=60, check=False,
                )  # fmt: skip
                assert done.returncode != 0, "no rank was killed"
                synced = [int(n) for n in re.findall(r"synced (\d+)", done.stdout)]
                out, _ = run([program("killed"), "read"], folder, preload=True)
                found = re.search(r"open (-?\d+) records (\d+) wrong (\d+)", out)
                what = f"killed after {calls} calls, {service}: {out}"
                assert found and found[3] == "0", what
                if synced:
                    assert found[1] == "0" and int(found[2]) >= synced[-1], what
                    # PnetCDF itself finds the completed file.
                    plain, _ = run([program("killed"), "read"], folder)
                    assert plain == out, f"{what}{plain}"


def check_choices():
    with tempfile.TemporaryDirectory() as folder:
        command = [program("property"), "3", "a.nc"]
        plain, _ = run(command, folder)
        for setting, text in (
            ({"THALWEG_PNETCDF": "off"}, None),
            ({"THALWEG_PNETCDF": "forward"}, "by PnetCDF (THALWEG_PNETCDF is forward)"),
            ({"THALWEG_SKIP": "*.nc"}, None),
            ({"PNETCDF_SAFE_MODE": "1"}, None),
        ):
            out, err = run(command, folder, preload=True, **setting)
            if "PNETCDF_SAFE_MODE" not in setting:
                same(plain, out, str(setting))
            assert text in err if text else "thalweg:" not in err, err
        _, err = run(command, folder, preload=True, THALWEG_TELL="file")
        assert "thalweg: a.nc: by Thalweg" in err, err
        out = subprocess.run([TOOL, "doctor", program("property")], capture_output=True, text=True)
        assert out.returncode == 0 and "ncmpi_create and ncmpi_open" in out.stdout, out.stdout
        # The library's own use of PnetCDF does not come back to it.
        run([program("own")], folder, preload=True, THALWEG_STORAGE="pnetcdf")


if CASE == "property":
    check_property(1, 12)
elif CASE == "rows":
    check_rows()
elif CASE == "killed":
    check_killed()
elif CASE == "places":
    check_places()
elif CASE == "choices":
    check_choices()
else:
    check_fortran(CASE)
