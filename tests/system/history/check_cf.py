#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files of histories against the conventions of CF: those of the example model, and
those of stations and sections. Arguments: shallow_water, system_history_points, launcher and its
flags up to -n. Exits with 77 without build/cf-venv, which `./run test --all` makes:
compliance-checker and cf_xarray."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "build/cf-venv/bin"

# Recommendations that do not concern the library: §3.1.2, units that are equivalent to others;
# §2.6, title and history, which belong to the run. For stations also §2.4: their levels come before
# the stations, as in the field.
EXCEPT, EXCEPT_STATIONS = ("§3.1.2", "§2.6"), ("§3.1.2", "§2.6", "§2.4")

MODEL = """&shallow_water_nml
  nx = 96, ny = 12, layers = 3, steps = 720, interval = 360, output = ''
  stream_file = '{}', progress = .false., summary = .false.
/
"""

# Program that the Python of build/cf-venv runs.
LOOK = """
import sys
import cf_xarray, xarray
path, station = sys.argv[1:]
file = xarray.open_dataset(path, decode_times=False)
assert file.cf["time"].name == "time"
assert "T" in file.cf.axes, file.cf.axes
if "time_bnds" in file:
    assert file.cf.bounds["time"] == ["time_bnds"], file.cf.bounds
if station == "yes":
    for name in ("longitude", "latitude"):
        assert file.cf[name].dims[0] in ("station", "section"), file.cf[name]
        assert set(file.cf.coordinates[name]) <= set(file["T"].coords), file["T"].coords
"""


def check(path: Path, station: bool) -> list[str]:
    """Lists the errors and warnings of compliance-checker, and the objects that cf_xarray does
    not find."""
    report = path.with_suffix(".json")
    command = [TOOLS / "compliance-checker", "-t", "cf:1.11", "-f", "json", "-o", report, path]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    found = json.loads(report.read_text())["cf:1.11"]
    wrong = []
    for priority in ("high_priorities", "medium_priorities"):
        for item in found[priority]:
            if not item["name"].startswith(EXCEPT_STATIONS if station else EXCEPT):
                wrong += [f"{path.name}: {item['name']}: {m}" for m in item["msgs"]]
    arguments = [TOOLS / "python3", "-c", LOOK, path, "yes" if station else "no"]
    looked = subprocess.run(arguments, capture_output=True, text=True)
    if looked.returncode != 0:
        wrong.append(f"{path.name}: cf_xarray: {looked.stderr[-500:]}")
    return wrong


def main() -> None:
    model, points, launcher = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not (TOOLS / "compliance-checker").exists():
        print("there is no build/cf-venv")
        sys.exit(77)
    wrong, files = [], 0
    with tempfile.TemporaryDirectory() as root:
        example = ROOT / "examples/shallow_water/history.toml"
        Path(root, "model.nml").write_text(MODEL.format("history.toml"))
        shutil.copy(example, root)
        environment = dict(os.environ, TMPDIR=root)
        for program in ([model, "model.nml"], [points]):
            subprocess.run([*launcher, "3", *program], check=True, cwd=root, env=environment)
        paths = [*Path(root).glob("*.nc"), *Path(root).glob("case*/*.nc")]
        for path in paths:
            station = path.parent.name.startswith("case")
            if path.name not in ("restart.nc", "list.nc", "whole.nc"):
                wrong += check(path, station)
                files += 1
    print("\n".join(sorted(set(wrong))))
    print(f"{files} files, {len(wrong)} faults")
    sys.exit(bool(wrong) or files == 0)


if __name__ == "__main__":
    main()
