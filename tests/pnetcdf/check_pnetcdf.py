# SPDX-License-Identifier: Apache-2.0
"""Runs programs that call PnetCDF, plain and through Thalweg, and compares their output and their
files.

Usage: check_pnetcdf.py CASE FOLDER TOOL SHIM RANKS -- LAUNCHER...
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CASE, FOLDER, TOOL, SHIM, RANKS = sys.argv[1:6]
FOLDER = str(Path(FOLDER).resolve())
LAUNCHER = sys.argv[7:]


def program(name, way="plain"):
    return str(Path(FOLDER) / f"pnetcdf_{name}_{way}")


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
    """Tests that the engine has written every file."""
    found = re.search(r"thalweg: (\d+) files? by Thalweg(.*)", err)
    assert found and int(found[1]) > 0 and not found[2], err
    return int(found[1])


def compare(name, arguments=(), way="plain", **how):
    """Compares what a program says plain and through Thalweg, and the files."""
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program(name), *arguments, "plain.nc"], folder)
        taken, err = run([program(name, way), *arguments, "taken.nc"], folder, **how)
        same(plain, taken, f"{name} {arguments}")
        taken_files(err)
        dumps = [run([program("property"), "dump", f], folder)[0] for f in FILES]
        same(*dumps, f"{name} {arguments}: the files differ")
        if VALIDATOR:
            run([VALIDATOR, "-q", "taken.nc"], folder, ranks=0)


def compare_all(way, seeds, **how):
    """Compares all programs that were built in one way."""
    for seed in seeds:
        compare("property", [str(seed)], way, **how)
    check_without_file(way, **how)
    for name in ("fortran77", "fortran90", "cpp"):
        if Path(program(name, way)).exists():
            compare(name, (), way, **how)


def check_without_file(way="plain", **how):
    with tempfile.TemporaryDirectory() as folder:
        command = [program("without_file", way), "a.nc"]
        plain, _ = run([program("without_file"), "a.nc"], folder)
        same(plain, run(command, folder, **how)[0], "without_file")


VALIDATOR = shutil.which("ncvalidator")
FILES = ("plain.nc", "taken.nc")

# Lines that differ on purpose (docs/pnetcdf.md): PnetCDF prints its own warning to standard output,
# and its ranks race to remove an aborted file.
CHANGED = ("PnetCDF warning", "ncmpi_abort")


def check_rows(way="plain", **how):
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program("rows")], folder)
        taken, err = run([program("rows", way)], folder, **how)
        kept = [
            "\n".join(line for line in text.splitlines() if not any(c in line for c in CHANGED))
            for text in (plain, taken)
        ]
        same(*kept, "rows")
        assert "by Thalweg" in err, err


def check_places():
    """Tests that the places of data that a program gets before it writes are those that PnetCDF
    finds in the closed file."""
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
    """Returns the lines that do not depend on the space for late attributes."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("inside a.nc"))


def check_killed():
    """Tests that a file whose ranks were killed can be opened, and has all data that were
    synced."""
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
        for name in ("ufs:b.nc", "wrfout_d01_2000-01-24_12:00:00"):
            taken_files(run([program("property"), "3", name], folder, preload=True)[1])
            assert (Path(folder) / name.removeprefix("ufs:")).exists()
        _, err = run(command, folder, preload=True, THALWEG_TELL="file")
        assert "thalweg: a.nc: by Thalweg" in err, err
        out = subprocess.run([TOOL, "doctor", program("property")], capture_output=True, text=True)
        assert out.returncode == 0 and "ncmpi_create and ncmpi_open" in out.stdout, out.stdout
        # When the library itself uses PnetCDF, its calls must not come back to the library.
        run([OWN], folder, preload=True, THALWEG_STORAGE="pnetcdf")


def check_static():
    """Tests that programs with a static PnetCDF keep it, are told so, and can be linked first."""
    static = program("property", "static")
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run([program("property"), "25", "plain.nc"], folder)
        left, err = run([TOOL, "run", static, "25", "taken.nc"], folder)
        same(plain, left, "static")
        assert "linked statically" in err and "by Thalweg" not in err, err
        told = subprocess.run([TOOL, "doctor", static], capture_output=True, text=True, check=False)
        assert "calls of it are not taken" in told.stdout, told.stdout
    compare_all("first_static", range(15, 18))
    check_rows("first_static")


OWN = str(Path(FOLDER) / "pnetcdf_own")

if CASE.startswith("seeds_"):
    first, last = map(int, CASE.split("_")[1:])
    for seed in range(first, last + 1):
        compare("property", [str(seed)], preload=True)
elif CASE == "property":
    for seed in range(1, 12):
        service = {"THALWEG_SERVICE": "background"} if seed % 3 == 0 else {}
        compare("property", [str(seed)], preload=True, **service)
elif CASE == "rows":
    check_rows(preload=True)
elif CASE == "killed":
    check_killed()
elif CASE == "places":
    check_places()
elif CASE == "static":
    check_static()
elif CASE == "choices":
    check_choices()
elif CASE == "first":
    compare_all("first", range(12, 15))
    compare("property", ["12"], "first", preload=True)
else:
    compare(CASE, preload=True)
    if CASE == "waits":
        compare(CASE, preload=True, THALWEG_SERVICE="background", THALWEG_STAGING="4KiB")
