# SPDX-License-Identifier: Apache-2.0
"""check_overlap.py THALWEG-BENCH -- MPIRUN...: short runs of "thalweg-bench overlap"; every row
of the JSON has its fields, and the figures are consistent."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "lab"))
from papers.ranks import ranks_of

FIELDS = (
    *("service", "servers", "ranks", "compute", "method", "storage", "steps", "bytes"),
    *("total_seconds", "open_seconds", "library_seconds", "close_seconds"),
    *("pack_seconds", "library_to_pack", "mb_per_s", "ratio_to_no_output"),
    *("io_seconds", "hidden_fraction", "speedup", "speedup_bound", "cpu_seconds"),
    *("peak_bytes", "peak_rss_bytes", "queue_waits", "queue_wait_seconds"),
    *("repetitions",),
)
RANKS = 2
BANDWIDTH = 20e6

program, *launch = (word for word in sys.argv[1:] if word != "--")


def run(*arguments: str) -> dict:
    command = [program, "overlap", "--ranks", str(RANKS), "--nx", "128", "--ny", "128"]
    command += ["--steps", "6", "--repetitions", "2", "--prewarm-gb", "0", "--no-table"]
    command += ["--bandwidth", f"{BANDWIDTH:.0f}", "--json", "overlap.json", *arguments]
    ranks = ranks_of(command[1:])
    subprocess.run([*launch, "-n", str(ranks), *command], check=True)
    return json.loads(Path("overlap.json").read_text())


def check_row(row: dict, report: dict) -> None:
    name = f"{row['name']}, {row['compute']}"
    if "error" in row:
        assert row["name"] not in ("none", "pack", "inline") and row["library"], name
        print(f"{name}: {row['error']}")
        return
    missing = [field for field in FIELDS if field not in row]
    assert not missing, f"{name}: no {missing}"
    assert len(row["repetitions"]) == 2, name
    steps, compute = row["steps"], report["measurement"]["compute_seconds"]
    if row["compute"] == "sleep":
        assert row["total_seconds"] >= steps * compute, name
    writes = row["service"] not in ("none", "pack")
    assert row["bytes"] == (128 * 128 * 8 * 4 * steps if writes else 0), name
    if writes:
        assert row["verified"], name
        # The last bytes may be ahead of the limit by the allowed burst.
        at_least = row["bytes"] / BANDWIDTH - 0.011 * RANKS
        assert row["total_seconds"] >= at_least, f"{name}: {row['total_seconds']} < {at_least}"
        assert row["peak_bytes"] > 0 or row["name"] == "raw", name
    if row["compute"] != "none":
        assert row["ratio_to_no_output"] > 0 and row["speedup_bound" if writes else "ranks"], name


def check(report: dict, computing: set[str], names: set[str]) -> None:
    rows = report["results"]
    assert {row["compute"] for row in rows} == computing
    assert {row["name"] for row in rows} == names
    assert len(rows) == len(computing) * len(names)
    for row in rows:
        check_row(row, report)


services = {"none", "pack", "inline", "background", "servers:1"}
check(
    run("--services", "background,servers:1", "--peers", "raw,peer-pnetcdf-nonblocking"),
    {"sleep", "arithmetic"},
    services | {"raw", "peer-pnetcdf-nonblocking"},
)
# There is no computing to hide behind: the throttled disk sets the pace.
check(
    run("--services", "background", "--peers", "peer-pnetcdf", "--compute-seconds", "0"),
    {"none"},
    services - {"servers:1"} | {"peer-pnetcdf"},
)
# With compression, every service writes the same data.
packed = run(
    *("--services", "background,servers:2", "--peers", "none", "--compute", "sleep"),
    *("--compute-seconds", "0.02"),
    *("--settings", "format=netcdf4; storage=netcdf4; deflate=1"),
)
written = [row for row in packed["results"] if row["service"] not in ("none", "pack")]
assert {row["name"] for row in written} == {"inline", "background", "servers:2"}, written
for row in written:
    assert row["verified"] and row["storage"] == "netcdf4", f"{row['name']}: {row}"
print("overlap: ok")
