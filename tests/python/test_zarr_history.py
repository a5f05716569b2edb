# SPDX-License-Identifier: Apache-2.0
"""Tests histories with format=zarr: with every service, and over a restart on fewer ranks, the
stores have the variables, values and attributes of the netCDF-4 files of the same history."""

from functools import partial

import pytest
import thalweg as tw
import xarray as xr
from helpers import WORLD, fails
from history_runs import run_history
from test_history_reductions import NT, declare
from test_references import on_root

STREAMS = {
    "means": 'every = "4 hours"\nfields = ["*", "-H"]',
    "basins": 'every = "6 hours"\nfields = ["T", "M"]\nreduce = "mean"\nby = "basin"',
    "now": 'every = "3 hours"\nfields = ["T", "N"]\nop = "max"\nfiles = "variable"\nrecords = 2',
    "towers": 'every = "2 hours"\nfields = ["T"]\nregion = "towers"',
}
PACKED = 'zstd = 1, quantize = "bitround:9"'


def config(folder, file):
    text = """
[history]
max_open = 3
[region.towers]
points = [[100, 10], [250, -44]]
names = ["A", "B"]
"""
    for name, keys in STREAMS.items():
        path = "{variable}_{start:YYYYMMDDhh}" if "records" in keys else name
        text += (
            f'[[stream]]\nname = "{name}"\n{keys}\npath = "{folder}/{path}"\nfile = {{ {file} }}\n'
        )
    return text


def compare(folder):
    paths = sorted((folder / "zarr").glob("[!r]*"))
    assert len(paths) == 7, paths
    for path in paths:
        with (
            xr.open_zarr(path, consolidated=True, decode_cf=False) as a,
            xr.open_dataset(folder / "netcdf4" / path.name, engine="netcdf4", decode_cf=False) as b,
        ):
            xr.testing.assert_identical(a.load(), b.load())


@pytest.mark.parametrize("service", ["inline", "background", "servers"])
@pytest.mark.parametrize("packing", ["zstd = 0", PACKED])
def test_same(folder, service, packing):
    serving = service == "servers"
    if serving and WORLD.size < 3:
        pytest.skip("servers need another rank")
    for format in ("zarr", "netcdf4"):
        own = folder / format
        on_root(own.mkdir)
        text = config(own, f'format = "{format}", service = "{service}", {packing}')
        ranges = [range(5), range(5, NT)]
        run_history(WORLD, own, text, ranges, partial(declare, "rows"), servers=int(serving))
    on_root(partial(compare, folder))


@pytest.mark.parametrize("service", ["inline", "background", "servers"])
def test_refused(folder, service):
    """Tests that aggregations are an error on all ranks, before anything is written."""
    serving = service == "servers"
    if serving and WORLD.size < 2:
        pytest.skip("servers need another rank")
    io = tw.Session(WORLD, servers=int(serving))
    if io.is_server:
        return
    right = config(folder, f'format = "zarr", service = "{service}"')
    aggregate = f'records = 2\naggregate = "{folder}/{{variable}}_all"'
    wrong = right.replace("records = 2", aggregate)

    def begin():
        with io.history(wrong, calendar="noleap", start="2000-01-01") as h:
            send = declare("rows", io, h, io.rank, io.size)
            for step in range(4):
                h.time = 3600 * (step + 1)
                send(step)
                h.end_step()

    error = fails("TW_ESETTING", begin, everywhere=False)
    assert "aggregate" in str(error)
    io.finalize()
    assert not list(folder.iterdir())
