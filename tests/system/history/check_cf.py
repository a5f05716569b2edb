#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files of histories against the conventions of CF: those of the example model, of
cf_model.py in each calendar, and of stations. Arguments: shallow_water, system_history_points, the
folder of the Python package, launcher and its flags up to -n. Exits with 77 without build/cf-venv,
which `./run test --all` makes: compliance-checker and cf_xarray."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import netCDF4

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "build/cf-venv/bin"

# Recommendations that do not concern the library: §3.1.2, units that are equivalent to others;
# §2.6, title and history, which belong to the run, and which programs of tests lack. At stations
# also §2.4: levels come before the stations, as in the field.
EXCEPT, EXCEPT_TESTS, EXCEPT_STATIONS = ("§3.1.2",), ("§2.6",), ("§2.4",)
STATIONS = {"station", "section", "strait"}  # dimensions
CALENDARS = ("standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day")

MODEL = """&shallow_water_nml
  nx = 96, ny = 12, layers = 3, dt = 600, steps = 720, interval = 360, output = ''
  stream_file = '{}', progress = .false., summary = .false.
/
"""

# Program that the Python of build/cf-venv runs.
LOOK = """
import sys
import cf_xarray, xarray
file = xarray.open_dataset(sys.argv[1], decode_times=False)
if "time" in file.variables:
    assert file.cf["time"].name == "time"
    assert "T" in file.cf.axes, file.cf.axes
for name, variable in file.variables.items():
    if "bounds" in variable.attrs:
        assert file.cf.bounds[name] == [variable.attrs["bounds"]], (name, file.cf.bounds)
    for listed in variable.encoding.get("coordinates", "").split():
        assert listed in file.coords, (name, listed)
if {*file.dims} & {*sys.argv[2:]}:
    for name in ("longitude", "latitude"):
        assert file.cf[name].dims[0] in sys.argv[2:], file.cf[name]
"""


def check(path: Path) -> list[str]:
    """Lists the errors and warnings of compliance-checker, and the objects that cf_xarray does
    not find."""
    report = path.with_suffix(".json")
    command = [TOOLS / "compliance-checker", "-t", "cf:1.11", "-f", "json", "-o", report, path]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    found = json.loads(report.read_text())["cf:1.11"]
    allowed = EXCEPT + (() if path.parent.name in CALENDARS else EXCEPT_TESTS)
    with netCDF4.Dataset(path) as file:
        if STATIONS & {*file.dimensions}:
            allowed += EXCEPT_STATIONS
    wrong = []
    for priority in ("high_priorities", "medium_priorities"):
        for item in found[priority]:
            if not item["name"].startswith(allowed):
                wrong += [f"{path.name}: {item['name']}: {m}" for m in item["msgs"]]
    arguments = [TOOLS / "python3", "-c", LOOK, path, *STATIONS]
    looked = subprocess.run(arguments, capture_output=True, text=True)
    if looked.returncode != 0:
        wrong.append(f"{path.name}: cf_xarray: {looked.stderr[-500:]}")
    return wrong


def main() -> None:
    model, points, package, *launcher = sys.argv[1:]
    if not (TOOLS / "compliance-checker").exists():
        print("there is no build/cf-venv")
        sys.exit(77)
    environment = dict(os.environ, PYTHONPATH=package)
    with tempfile.TemporaryDirectory() as root:
        environment["TMPDIR"] = root
        example = ROOT / "examples/shallow_water/history.toml"
        Path(root, "model.nml").write_text(MODEL.format("history.toml"))
        shutil.copy(example, root)
        runs = [([model, "model.nml"], root), ([points], root)]
        fields = str(Path(__file__).with_name("cf_model.py"))
        for calendar in CALENDARS:
            folder = Path(root, calendar)
            folder.mkdir()
            runs.append(([sys.executable, fields, calendar], folder))
        for program, folder in runs:
            subprocess.run([*launcher, "3", *program], check=True, cwd=folder, env=environment)
        inputs = ("restart.nc", "list.nc", "whole.nc", "sections.nc")
        paths = [path for path in Path(root).rglob("*.nc") if path.name not in inputs]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [each for some in pool.map(check, paths) for each in some]
    print("\n".join(sorted(set(wrong))))
    print(f"{len(paths)} files, {len(wrong)} faults")
    sys.exit(bool(wrong) or not paths)


if __name__ == "__main__":
    main()
