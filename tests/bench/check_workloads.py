# SPDX-License-Identifier: Apache-2.0
"""check_workloads.py THALWEG-BENCH -- MPIRUN...: writes and verifies every workload at a small
size; compares the bytes of some with their papers; tests variants of methods, and the output of
an ocean model."""

import json
import re
import subprocess
import sys
from pathlib import Path

program, *launch = (word for word in sys.argv[1:] if word != "--")

NAMES = {
    *("demo", "t85", "fv-b", "fv-c", "fv-d", "cmaq-ca", "cmaq-eus", "cmaq-conus", "cmaq-4km"),
    *("cfio-1", "cfio-2", "pop", "pop-restart", "cice", "licom", "mom5-025", "mom5-01"),
    *("atmosphere-3km", "e3sm-f", "e3sm-g"),
}
# MB of a whole step at the paper's size: grid points times bytes.
PAPER_MB = {"cmaq-ca": 243.767, "cmaq-4km": 1998.035, "cfio-2": 3221.225, "cice": 2004.480}
SMALL = ["--repetitions", "1", "--warmup", "0", "--prewarm-gb", "0", "--no-table"]


def run(ranks: int, *arguments: str, status: int = 0) -> dict:
    Path("bench.json").unlink(missing_ok=True)
    command = [*launch, "-n", str(ranks), program, *arguments, *SMALL, "--json", "bench.json"]
    done = subprocess.run(command)
    assert done.returncode == status, (arguments, done.returncode)
    return json.loads(Path("bench.json").read_text())


def paper_megabytes(workload: dict) -> float:
    """Returns the bytes of the paper's step, from the report's list of reduced sizes and the
    other dimensions."""
    megabytes = workload["step_bytes"] / 1e6
    if match := re.search(r"(\d+) variables \w+ instead of (\d+)", workload["cut"]):
        megabytes *= int(match[2]) / int(match[1])
    return megabytes


listing = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
names = re.findall(r"^  (\S+)", listing.split("Methods:")[0], re.M)
assert set(names) == NAMES, names

for name in names:
    scale = "0.0001" if name.startswith("atmosphere") else "0.03"
    small = ["--scale", scale, "--variables", "3", "--steps", "2"]
    report = run(3, name, "--methods", "raw,direct-nonblocking,record", *small)
    for row in report["results"]:
        assert row["method"] == "raw" or row["verified"], (name, row)
    assert "grid" in report["workload"]["cut"], report["workload"]

# Full size, one variable: only the bytes matter.
for name, megabytes in PAPER_MB.items():
    one = ["--variables", "1", "--scale", "1", "--steps", "1", "--methods", "raw"]
    workload = run(1, name, *one)["workload"]
    assert abs(paper_megabytes(workload) / megabytes - 1) < 1e-3, (name, workload)

# Variants: settings of one method. A variant with a setting that the library does not know is
# reported, and not measured.
variants = ["record:writers=2", "record:piece=64KiB:writers=1", "record:no_such=1"]
report = run(2, "demo", "--steps", "1", "--methods", ",".join(variants), status=1)
rows = {row["method"]: row for row in report["results"]}
assert set(rows) == {"raw", *variants}
assert "no_such" in rows["record:no_such=1"]["error"]
assert rows["record:writers=2"]["verified"] and rows["record:piece=64KiB:writers=1"]["verified"]
assert rows["record:writers=2"]["hash"] == rows["record:piece=64KiB:writers=1"]["hash"]

# An ocean model with one slow writer: its computing is defined relative to this writer's time.
serial_rate, rate = 20e6, 200e6
arguments = ["overlap", "pop", "--ranks", "2", "--scale", "0.02", "--steps", "3", "--peers", "none"]
arguments += ["--services", "serial,servers:1", "--compute", "sleep", "--bandwidth", f"{rate:.0f}"]
report = run(3, *arguments, "--serial-bandwidth", f"{serial_rate:.0f}")
rows = {row["name"]: row for row in report["results"]}
assert set(rows) == {"none", "pack", "inline", "serial", "servers:1"}
for name in ("inline", "serial", "servers:1"):
    assert rows[name]["verified"], rows[name]
step_seconds = report["workload"]["step_bytes"] / serial_rate
assert rows["serial"]["method"] == "serial"
assert rows["serial"]["total_seconds"] > 3 * step_seconds
assert report["measurement"]["compute_seconds"] > 0.8 * step_seconds / 8.8
assert rows["inline"]["total_seconds"] < rows["serial"]["total_seconds"]
print("workloads: ok")
