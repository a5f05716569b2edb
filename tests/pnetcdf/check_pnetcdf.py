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
            taken, err = run([program("property"), str(seed), "taken.nc"], folder, preload=True)
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
elif CASE == "choices":
    check_choices()
else:
    check_fortran(CASE)
