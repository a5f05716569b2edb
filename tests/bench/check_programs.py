# SPDX-License-Identifier: Apache-2.0
"""check_programs.py PROGRAMS.PY BIN -- MPIRUN...: short runs of a model, and of programs that call
netCDF or PnetCDF."""

import json
import subprocess
import sys
from pathlib import Path

script, programs, *launch = (word for word in sys.argv[1:] if word != "--")


def run(which: str, *arguments: str) -> str:
    command = [sys.executable, script, which, *arguments]
    command += ["--bin", programs, "--launch", " ".join(launch)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    print(done.stdout)
    return done.stdout


services = ["none", "serial", "inline", "background", "servers:1", "servers:2"]
small = "--ranks 2 --nx 32 --ny 24 --layers 5 --hours 12 --repetitions 2 --json model.json"
run("model", *services, *small.split())
results = json.loads(Path("model.json").read_text())["results"]
assert [row["name"] for row in results] == services
for row in results:
    assert "skipped" not in row, row
    assert len(row["repetitions"]) == 2, row
    assert 0 < row["output_seconds"] <= row["total_seconds"] or row["name"] == "none", row
    assert row["ratio_to_no_output"] > 0, row

for which, cases in (
    ("netcdf", ["ufs/netcdf4", "serial/levels", "fv-b/reading", "inquire", "start"]),
    ("pnetcdf", ["t85/nonblocking", "t85/reading", "pairs", "ask"]),
):
    lines = run(which, *cases, "--ranks", "2", "--repetitions", "1").splitlines()
    assert [line.split()[0] for line in lines[1:]] == cases, lines
print("programs: ok")
