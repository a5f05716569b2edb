# SPDX-License-Identifier: Apache-2.0
"""check_irregular.py THALWEG-BENCH -- MPIRUN...: short runs of "thalweg-bench irregular" on maps of
each kind, made and read; every file is verified."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

FIELDS = (
    *("bytes", "median_seconds", "open_seconds", "setup_seconds", "ratio_to_raw"),
    *("ratio_to_box", "ratio_to_varn", "ratio_to_varn_nonblocking", "cpu_seconds"),
    *("peak_bytes",),
)
METHODS = {"raw", "box", "thalweg", "thalweg-direct", "pnetcdf-varn", "pnetcdf-varn-nonblocking"}

program, *launch = (word for word in sys.argv[1:] if word != "--")


def run(ranks: int, *arguments: str, status: int = 0) -> dict:
    report = Path("irregular.json")
    report.unlink(missing_ok=True)
    command = [*launch, "-n", str(ranks), program, "irregular", *arguments, "--json", str(report)]
    command += ["--repetitions", "1", "--warmup", "0", "--prewarm-gb", "0", "--no-table"]
    command += ["--variables", "2", "--steps", "2"]
    done = subprocess.run(command)
    assert done.returncode == status, (arguments, done.returncode)
    return json.loads(report.read_text()) if status == 0 else {}


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


def write_map(path: str, dims: list[int], lists: list[list[int]], raw: bool) -> None:
    """Writes one decomposition to a map file. The indices in `lists` are counted from 1, and 0
    is a hole. The last run is for fill values only."""
    runs = []  # by list
    for one in lists:
        held = sorted(i - 1 for i in one if i > 0)
        starts = [i for i in held if i - 1 not in held]
        ends = [i + 1 for i in held if i + 1 not in held]
        runs.append([(a, b - a) for a, b in zip(starts, ends, strict=True)])
    total = len(runs[-1])
    missing = sorted(set(range(int(np.prod(dims)))) - {i - 1 for one in lists for i in one})
    runs[-1] += [(i, 1) for i in missing]
    with Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("num_decomp", 1)
        file.createDimension("decomp_nprocs", len(lists))
        flat = [run for one in runs for run in one]
        file.createDimension("D1.total_nreqs", len(flat))
        file.setncattr("D1.ndims", np.int32(len(dims)))
        file.setncattr("D1.dims", np.array(dims, np.int32))
        counts = [len(one) for one in runs]
        per_rank = {"D1.nreqs": counts, "D1.fill_starts": [*counts[:-1], total]}
        for name, values in per_rank.items():
            file.createVariable(name, "i4", ["decomp_nprocs"])[:] = values
        file.createVariable("D1.offsets", "i4", ["D1.total_nreqs"])[:] = [a for a, _ in flat]
        file.createVariable("D1.lengths", "i4", ["D1.total_nreqs"])[:] = [n for _, n in flat]
        if raw:
            values = [i for one in lists for i in one]
            file.createDimension("D1.total_raw_nreqs", len(values))
            counts = [len(one) for one in lists]
            file.createVariable("D1.raw_nreqs", "i4", ["decomp_nprocs"])[:] = counts
            file.createVariable("D1.raw_offsets", "i4", ["D1.total_raw_nreqs"])[:] = values


maps = check(run(3, "--maps", "f,g,c,i", "--elements", "20000"), {"f", "g"})
assert maps["f"]["held"] == maps["f"]["elements"] == 277 * 72
assert maps["g"]["held"] == maps["g"]["elements"] == 20000
assert maps["c"]["held"] == maps["c"]["elements"] == 20000
assert maps["c"]["held"] / maps["c"]["pieces"] >= 16, maps["c"]
assert maps["f"]["held"] / maps["f"]["pieces"] < 5, maps["f"]
assert 0.1 < maps["i"]["held"] / maps["i"]["elements"] < 0.6, maps["i"]

# Five levels of 40 columns: the columns are in any order, one list is empty, and there are more
# lists than ranks.
shuffled = np.random.default_rng(1).permutation(40) + 1
columns = [shuffled[:13], shuffled[13:14], [], shuffled[14:]]
lists = [[int(c) + 40 * level for c in one for level in range(5)] for one in columns]
write_map("columns.nc", [5, 40], lists, raw=True)
maps = check(run(3, "--map", "columns.nc"), {"columns-D1"})
assert maps["columns-D1"]["held"] == 200 and "distributed over" in maps["columns-D1"]["text"]

# Holes in memory, elements that no rank holds, and a file without the order in memory.
lists = [[7, 0, 3, 0, 2], [0, 0], [12, 11, 10, 9], [1]]
for raw in (True, False):
    write_map("holes.nc", [2, 2, 3], lists, raw)
    maps = check(run(4, "--map", "holes.nc", "--decompositions", "1"), set())
    assert maps["holes-D1"]["held"] == 8 and maps["holes-D1"]["elements"] == 12
    assert ("order of the runs" in maps["holes-D1"]["text"]) != raw

# Files that are not maps, or are damaged: an error of the user, reported once.
Path("no_map.nc").write_bytes(b"CDF")
run(3, "--map", "no_map.nc", status=2)
run(3, "--map", "columns.nc", "--decompositions", "2", status=2)
with Dataset("holes.nc", "a") as file:
    file["D1.nreqs"][0] = 2**30
run(3, "--map", "holes.nc", status=2)
print("irregular: ok")
