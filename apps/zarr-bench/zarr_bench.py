#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long xarray takes to open a stream of netCDF files, and to read from it: by one file
of references, and by open_mfdataset.

    zarr_bench.py --program PATH [options]

Writes the files with netCDF4, and needs xarray, zarr, kerchunk and dask. Each measurement runs in a
process of its own; times do not include its start and the import of xarray.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WAYS = ("references", "mfdataset", "mfdataset_minimal")


def write_files(folder: Path, options: argparse.Namespace) -> list[Path]:
    import netCDF4

    random = np.random.default_rng(1)
    paths = []
    for k in range(options.files):
        paths.append(folder / f"history.{k:05d}.nc")
        with netCDF4.Dataset(paths[-1], "w", format=options.format) as f:
            f.createDimension("time", None)
            f.createDimension("y", options.ny)
            f.createDimension("x", options.nx)
            f.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
            for name, n in [("y", options.ny), ("x", options.nx)]:
                f.createVariable(name, "f8", (name,))[:] = np.arange(n)
            for v in range(options.variables):
                f.createVariable(f"v{v}", "f4", ("time", "y", "x"))
            for r in range(options.records):
                f["time"][r] = k * options.records + r
                for v in range(options.variables):
                    f[f"v{v}"][r] = random.standard_normal((options.ny, options.nx), dtype="f4")
    return paths


def run_one(way: str, folder: Path) -> None:
    """In a process of its own: opens, then reads a series at one point, and prints both times."""
    import xarray as xr

    sys.path.append(str(Path(__file__).parent.parent.parent / "examples/python"))
    from references import open_references

    files = sorted(str(p) for p in folder.glob("history.*.nc"))
    options = {"combine": "nested", "concat_dim": "time"}
    minimal = {"data_vars": "minimal", "coords": "minimal", "compat": "override"}
    begin = time.perf_counter()
    if way == "references":
        data = open_references(folder / "history.json", chunks={})
    else:
        more = minimal if way == "mfdataset_minimal" else {}
        data = xr.open_mfdataset(files, engine="netcdf4", **options, **more)
    opened = time.perf_counter()
    series = data["v0"][:, 0, 0].values
    read = time.perf_counter()
    total = float(series.astype("f8").sum())
    print(json.dumps({"open": opened - begin, "series": read - opened, "sum": total}))


def measure(way: str, folder: Path, options: argparse.Namespace) -> list[dict]:
    rows = []
    for _ in range(options.repetitions):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--run", way, "--dir", folder],
            check=True,
            capture_output=True,
            text=True,
            timeout=options.timeout,
        )
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    return rows


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, help="the program thalweg")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--records", type=int, default=4, help="per file (4)")
    parser.add_argument("--variables", type=int, default=5)
    parser.add_argument("--nx", type=int, default=360)
    parser.add_argument("--ny", type=int, default=180)
    parser.add_argument("--format", default="NETCDF3_64BIT_DATA", help="netCDF4's name (CDF-5)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=600, help="limit per run in seconds (600)")
    parser.add_argument("--dir", type=Path, default=Path("."), help="directory for the files")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--run", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is None and options.program is None:
        parser.error("--program is missing")
    return options


def main() -> int:
    options = parse()
    if options.run:
        run_one(options.run, options.dir)
        return 0
    results = {}
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="zarr-bench-") as name:
        folder = Path(name).resolve()
        files = write_files(folder, options)
        begin = time.perf_counter()
        subprocess.run(
            [options.program, "zarr", *files, "-o", folder / "history.json"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        results["thalweg zarr"] = {"seconds": time.perf_counter() - begin}
        rows = {way: measure(way, folder, options) for way in WAYS}
    sums = {row["sum"] for way in WAYS for row in rows[way]}
    if len(sums) != 1:
        sys.exit(f"zarr_bench: the ways read different values: {sums}")
    print(f"thalweg zarr: {results['thalweg zarr']['seconds']:.2f} s")
    for way in WAYS:
        results[way] = {
            key: statistics.median(row[key] for row in rows[way]) for key in ("open", "series")
        }
        print(f"{way}: open {results[way]['open']:.2f} s, series {results[way]['series']:.2f} s")
    if options.json:
        given = {k: v for k, v in vars(options).items() if isinstance(v, int | str)}
        options.json.write_text(json.dumps({"options": given, "results": results}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
