# SPDX-License-Identifier: Apache-2.0
"""check_irregular.py THALWEG-BENCH -- MPIRUN...: short runs of "thalweg-bench irregular" on maps of
each kind; every file is verified."""

import json
import subprocess
import sys
from pathlib import Path

FIELDS = (
    *("bytes", "median_seconds", "open_seconds", "setup_seconds", "ratio_to_raw"),
    *("ratio_to_box", "ratio_to_varn", "ratio_to_varn_nonblocking", "cpu_seconds"),
    *("peak_bytes",),
)
METHODS = {"raw", "box", "thalweg", "thalweg-direct", "pnetcdf-varn", "pnetcdf-varn-nonblocking"}

program, *launch = (word for word in sys.argv[1:] if word != "--")


def run(ranks: int, *arguments: str) -> dict:
    report = Path("irregular.json")
    report.unlink(missing_ok=True)
    command = [*launch, "-n", str(ranks), program, "irregular", *arguments, "--json", str(report)]
    command += ["--repetitions", "1", "--warmup", "0", "--prewarm-gb", "0", "--no-table"]
    command += ["--variables", "2", "--steps", "2"]
    done = subprocess.run(command)
    assert done.returncode == 0, (arguments, done.returncode)
    return json.loads(report.read_text())


def check(report: dict, factored: set[str]) -> dict:
    """Checks that all rows are there and right.
    @param factored: maps whose lists leave one dimension out"""
    maps = {m["name"]: m for m in report["maps"]}
    rows = {(row["map"], row["method"]): row for row in report["results"]}
    for name in maps:
        extra = {"thalweg-flattened"} if name in factored else set()
        assert {method for map, method in rows if map == name} == METHODS | extra, name
    for (name, method), row in rows.items():
        assert not [field for field in FIELDS if field not in row], (name, row)
        assert method == "raw" or row["verified"], (name, row)
        assert row["bytes"] == maps[name]["elements"] * 4 * 2 * 2, (name, row)
    return maps


maps = check(run(3, "--maps", "f,g,i", "--elements", "20000"), {"f", "g"})
assert maps["f"]["held"] == maps["f"]["elements"] == 277 * 72
assert maps["g"]["held"] == maps["g"]["elements"] == 20000
assert maps["f"]["held"] / maps["f"]["pieces"] < 5, maps["f"]
assert 0.1 < maps["i"]["held"] / maps["i"]["elements"] < 0.6, maps["i"]
print("irregular: ok")
