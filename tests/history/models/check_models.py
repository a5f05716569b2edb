#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a model with a history and compares its files with numpy.

Arguments: the program, which is named after the model; the number of its ranks; inline, background
or servers (one rank more); the launcher and its flags up to -n.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import expected
import netCDF4
import numpy as np

HERE = Path(__file__).parent
# The last bits of these depend on the order of the operations.
ROUNDED = ("tasstd",)
RESTART = "restart.nc"
# The arguments of each run: a restart in the middle of windows and of a file continues the ice.
RUNS = {"ice": [("1", "137"), ("138", "328")]}
# The number of ranks that continue a run.
NEXT_RANKS = {1: 3, 3: 7, 7: 3}


def run(command: list[str], folder: Path) -> None:
    print(*command, flush=True)
    job = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert job.returncode == 0, f"status {job.returncode}\n{job.stdout}{job.stderr}"


def problem(variable: netCDF4.Variable, right: np.ndarray) -> str:
    """Returns how a variable of a file differs, or nothing."""
    found = variable[...]
    right = np.ma.filled(right, getattr(variable, "_FillValue", None))
    if (found.dtype, found.shape) != (right.dtype, right.shape):
        return f"is {found.dtype} {found.shape}, not {right.dtype} {right.shape}"
    good = np.isclose(found, right, rtol=1e-12) if variable.name in ROUNDED else found == right
    if good.all():
        return ""
    at = tuple(np.argwhere(~good)[0].tolist())
    return f"differs in {(~good).sum()} of {good.size} values; {at}: {found[at]}, not {right[at]}"


def check(folder: Path, model: str) -> list[str]:
    files = getattr(expected, model)()
    found = {path.name for path in folder.glob("*.nc*")} - {RESTART, f"{RESTART}.sums"}
    if found != files.keys():
        return [f"the files are {sorted(found)}, not {sorted(files)}"]
    problems = []
    for path, variables in files.items():
        with netCDF4.Dataset(folder / path) as file:
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
            for name, right in variables.items():
                if text := problem(file[name], right):
                    problems.append(f"{path}: {name} {text}")
            if path == "moorings.nc" and getattr(file, "featureType", "") != "timeSeries":
                problems.append(f"{path} has no featureType")
    return problems


def main() -> None:
    program, ranks, service, launcher = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    name = Path(program).stem
    words = [sys.executable, program] if program.endswith(".py") else [program]
    model = name.removeprefix("history_")
    settings = "THALWEG_SERVERS=1" if service == "servers" else f"THALWEG_SERVICE={service}"
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        configuration = HERE / f"{model}.toml"
        if configuration.exists():
            shutil.copy(configuration, folder)
        for arguments in RUNS.get(model, [()]):
            started = ranks + (service == "servers")
            run([*launcher, str(started), "env", settings, *words, *arguments], folder)
            ranks = NEXT_RANKS[ranks]
        problems = check(folder, model)
    print(*problems, f"{model}: {len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
