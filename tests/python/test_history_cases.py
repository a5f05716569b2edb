# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/system/history/cases.json, which have their right values."""

import json
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD

CASES = Path(__file__).parent.parent / "system" / "history" / "cases.json"


@pytest.fixture(scope="module")
def io():
    session = tw.Session(WORLD)
    yield session
    session.finalize()


def table(items):
    """The rows of a table, in which progressions stand for many rows."""
    rows = []
    for item in items:
        if isinstance(item, dict):
            first, add = np.array(item["first"], "f8"), np.array(item["add"], "f8")
            rows += [(first + i * add).tolist() for i in range(item["count"])]
        else:
            rows.append([float("nan") if value == "nan" else value for value in item])
    return rows


def run(io, case, folder):
    """Makes the steps of a model with one element a rank, or of elements with centres."""
    stream = case["stream"]
    if "path =" not in stream:
        stream += '\npath = "{stream}.nc"'
    config = (
        '[history]\ntime_units = "days since START"\n'
        '[[stream]]\nname = "s"\nfields = ["T"]\ntype = "double"\n'
        + stream.replace('path = "', f'path = "{folder}/')
        + "\n"
    )
    calendar, start = case.get("calendar", "standard"), case.get("start", "2000-01-01")
    centres = case.get("centres", [])
    size = len(centres) or WORLD.size
    first, end = (size * rank // WORLD.size for rank in (WORLD.rank, WORLD.rank + 1))
    cells = io.decompose(x=size, start=(first,), count=(end - first,))
    fields = case.get("fields", [["T", "units=K"]])
    with io.history(config, calendar=calendar, start=start) as history:
        if centres:
            lon, lat = np.array(centres, "f8").T
            history.coordinate("lon", lon, "x", units="degrees_east")
            history.coordinate("lat", lat, "x", units="degrees_north")
        for name, attributes in fields:
            attrs = dict(item.strip().split("=") for item in attributes.split(";"))
            if "missing_value" in attrs:
                attrs["missing_value"] = float(attrs["missing_value"])
            history.field(name, "f8", "x", cells, **attrs)
        history.ready()
        for seconds, *values in table(case["steps"]):
            history.time = seconds
            for (name, _), value in zip(fields, values, strict=True):
                if value is not None:
                    history[name] = np.array(value[first:end] if centres else [value], "f8")
            history.end_step()


@pytest.mark.parametrize("case", json.loads(CASES.read_text())["cases"], ids=lambda c: c["name"])
def test_case(io, folder, case):
    if "error" in case:
        with pytest.raises(tw.Error) as caught:
            run(io, case, folder)
        assert caught.value.name == case["error"], str(caught.value)
        return
    run(io, case, folder)
    WORLD.barrier()
    with netCDF4.Dataset(folder / case.get("file", "s.nc")) as f:
        f.set_auto_maskandscale(False)
        parts = [f["time"][:][:, None], f["T"][:]]
        if "time_bnds" in f.variables:
            parts.insert(1, f["time_bnds"][:])
        found = np.hstack(parts)
    right = np.array(table(case["records"]), "f8")
    elements = found.shape[1] - right.shape[1] + 1
    same = np.hstack([right[:, :-1], np.repeat(right[:, -1:], elements, axis=1)])
    np.testing.assert_array_equal(found, same)
    if "files" in case:
        assert sorted(path.name for path in folder.iterdir()) == sorted(case["files"])
    WORLD.barrier()
