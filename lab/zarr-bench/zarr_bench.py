#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long xarray takes to open a stream of netCDF files, and to read from it: by one file
of references, and by open_mfdataset.

    zarr_bench.py --program PATH [options]

Writes the files with netCDF4, and needs xarray, zarr, fsspec and dask. Each measurement runs in a
process of its own, the ways in turn; times do not include its start and the imports. All ways must
find the same values.
"""

import argparse
import hashlib
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
    """Opens the files, then reads a series at one point, and prints both times. Runs in a
    separate process."""
    import netCDF4  # noqa: F401
    import xarray as xr

    sys.path.append(str(Path(__file__).parent.parent.parent / "examples/python"))
    from references import open_references, open_store

    files = sorted(str(p) for p in folder.glob("history.*.nc"))
    options = {"combine": "nested", "concat_dim": "time"}
    minimal = {"data_vars": "minimal", "coords": "minimal", "compat": "override"}
    begin = time.perf_counter()
    parts = {}
    if way == "references":
        assert len(open_store(folder / "history.json").fs.references)  # parses the references
        parts["of it: reading the references"] = time.perf_counter() - begin
        begin = time.perf_counter()
        data = open_references(folder / "history.json", chunks={})
    else:
        more = minimal if way == "mfdataset_minimal" else {}
        data = xr.open_mfdataset(files, engine="netcdf4", **options, **more)
    opened = time.perf_counter()
    series = data["v0"][:, 0, 0].values
    read = time.perf_counter()
    found = hashlib.sha256(series.tobytes())
    for name in ("time", "v0", list(data.data_vars)[-1]):
        found.update(np.ascontiguousarray(data[name].values).tobytes())
    shapes = sorted((name, v.dims, v.shape) for name, v in data.variables.items())
    found.update(repr(shapes).encode())
    times = {"open": opened - begin, "series": read - opened, **parts}
    print(json.dumps({"times": times, "values": found.hexdigest()}))


def measure(way: str, folder: Path, options: argparse.Namespace) -> dict:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--run", way, "--dir", folder],
        check=True,
        capture_output=True,
        text=True,
        timeout=options.timeout,
    )
    return json.loads(done.stdout.splitlines()[-1])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, help="the program thalweg")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--records", type=int, default=1, help="per file (1)")
    parser.add_argument("--variables", type=int, default=40)
    parser.add_argument("--nx", type=int, default=16)
    parser.add_argument("--ny", type=int, default=8)
    parser.add_argument("--format", default="NETCDF3_64BIT_DATA", help="netCDF4's name (CDF-5)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=1800, help="limit per run in seconds (1800)")
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
        rows = {way: [] for way in WAYS}
        for _ in range(options.repetitions):
            for way in WAYS:
                rows[way].append(measure(way, folder, options))
    if len({row["values"] for way in WAYS for row in rows[way]}) != 1:
        sys.exit("zarr_bench: the ways read different values")
    print(f"thalweg zarr: {results['thalweg zarr']['seconds']:.2f} s")
    for way in WAYS:
        keys = rows[way][0]["times"]
        results[way] = {k: statistics.median(row["times"][k] for row in rows[way]) for k in keys}
        print(f"{way}: " + ", ".join(f"{k} {t:.2f} s" for k, t in results[way].items()))
    for way in WAYS[1:]:
        ratio = statistics.median(
            other["times"]["open"] / own["times"]["open"]
            for own, other in zip(rows["references"], rows[way], strict=True)
        )
        results[way]["times slower to open"] = ratio
        print(f"opening by references is {ratio:.0f} times faster than by {way}")
    if options.json:
        given = {k: v for k, v in vars(options).items() if isinstance(v, int | str)}
        options.json.write_text(json.dumps({"options": given, "results": results}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
