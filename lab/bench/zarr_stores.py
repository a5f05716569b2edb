# SPDX-License-Identifier: Apache-2.0
"""Writes records of some variables as netCDF-4 and as Zarr by this library, and as Zarr by
zarr-python, in turn; run by programs.py. Each rank has a range of latitudes, which is one shard of
zarr-python. Prints the seconds of each repetition, from the first put to the end of the close.

zarr_stores.py FOLDER REPETITIONS LEVELS
"""

import json
import math
import os
import sys
from pathlib import Path
from time import perf_counter

import netCDF4
import numpy as np
import thalweg as tw
import zarr
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RECORDS, LEV, LAT, LON = 4, int(sys.argv[3]), 384, 576
NAMES = [f"v{i}" for i in range(96 // LEV)]
ROWS = slice(WORLD.rank * LAT // WORLD.size, (WORLD.rank + 1) * LAT // WORLD.size)
SHAPE = (LEV, ROWS.stop - ROWS.start, LON)


def values(seed):
    """Returns a smooth field with noise, of which the last bits are cut off, as quantized."""
    lev, lat, lon = np.ogrid[0:LEV, 0:LAT, 0:LON]
    noise = np.random.default_rng([seed, WORLD.rank]).normal(0, 0.01, SHAPE)
    field = 250 + 40 * np.sin(lat[:, ROWS] / 60) * np.cos(lon / 90) - lev + noise
    bits = np.ascontiguousarray(field, dtype="f4").view("u4")
    return (bits & np.uint32(0xFFFFF000)).view("f4")


def write_own(session, path, fields, **settings):
    cells = session.decompose(
        [("lev", LEV), ("lat", LAT), ("lon", LON)], start=[0, ROWS.start, 0], count=SHAPE
    )
    with session.create(path, **settings) as f:
        f.define_dim("time", None)
        for name in NAMES:
            f.define(name, "f4", "time lev lat lon", cells)
        f.enddef()
        WORLD.Barrier()
        begin = perf_counter()
        for _ in range(RECORDS):
            for name, field in zip(NAMES, fields, strict=True):
                f.put(name, field, deferred=True)
            f.end_step()
    return begin


def write_zarr_python(path, fields, compressors):
    def create():
        group = zarr.create_group(path)
        for name in NAMES:
            group.create_array(
                name, shape=(RECORDS, LEV, LAT, LON), shards=(1, *SHAPE), dtype="f4",
                chunks=(1, math.gcd(LEV, 2 * WORLD.size), *SHAPE[1:]), compressors=compressors,
                dimension_names=("time", "lev", "lat", "lon"),
            )  # fmt: skip

    if WORLD.rank == 0:
        create()
    WORLD.Barrier()
    arrays = [zarr.open_group(path, mode="r+")[name] for name in NAMES]
    WORLD.Barrier()
    begin = perf_counter()
    for record in range(RECORDS):
        for array, field in zip(arrays, fields, strict=True):
            array[record, :, ROWS] = field
    WORLD.Barrier()
    if WORLD.rank == 0:
        zarr.consolidate_metadata(path)
    return begin


def empty(path):
    """Frees the data, but keeps the files: ext4 searches long for an inode where many were removed
    in the last minutes."""
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            os.truncate(file, 0)


def main():
    folder, repetitions = Path(sys.argv[1]), int(sys.argv[2])
    session, fields = tw.Session(WORLD), [values(seed) for seed in range(len(NAMES))]
    ways = {
        "netcdf4": lambda p: write_own(session, p, fields, format="netcdf4"),
        "zarr": lambda p: write_own(session, p, fields, format="zarr"),
        "python": lambda p: write_zarr_python(p, fields, None),
        "netcdf4-zstd": lambda p: write_own(
            session, p, fields, format="netcdf4", zstd=1, shuffle="no"
        ),
        "zarr-zstd": lambda p: write_own(session, p, fields, format="zarr", zstd=1),
        "python-zstd": lambda p: write_zarr_python(p, fields, zarr.codecs.ZstdCodec(level=1)),
    }
    seconds = {name: [] for name in ways}
    for repetition in range(-1, repetitions):  # the first one warms up, and is checked
        for name, write in [*ways.items()][:: 1 if repetition % 2 else -1]:
            path = str(folder / f"zarr_bench.{name}.{repetition}")
            begin = write(path)
            taken = WORLD.allreduce(perf_counter() - begin, MPI.MAX)
            if repetition < 0:
                f = netCDF4.Dataset(path) if "netcdf4" in name else zarr.open_group(path)
                assert np.array_equal(f[NAMES[-1]][RECORDS - 1, :, ROWS], fields[-1]), name
            else:
                seconds[name].append(taken)
            WORLD.Barrier()
            if WORLD.rank == 0:
                empty(Path(path))
            WORLD.Barrier()
    session.finalize()
    if WORLD.rank == 0:
        print(json.dumps({"megabytes": RECORDS * len(NAMES) * LEV * LAT * LON * 4e-6, **seconds}))


main()
