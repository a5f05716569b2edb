# SPDX-License-Identifier: Apache-2.0
"""Compares random shapes, types, memory layouts, decompositions and services with
netCDF4-python."""

import os
import sys

import numpy as np
from helpers import WORLD, as_netcdf4
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thalweg._arrays import FILLS, TYPES

NUMBERS = [code for code in TYPES if code != 2]


@st.composite
def cases(draw):
    """Draws a case for any number of ranks, the same on all of them."""
    rank = draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, 7), min_size=rank, max_size=rank))
    return {
        "shape": shape,
        "order": draw(st.permutations(range(rank))),
        "in_file": draw(st.sampled_from(NUMBERS)),
        "in_memory": draw(st.sampled_from(NUMBERS)),
        "cuts": draw(st.lists(st.integers(0, shape[0]), min_size=16, max_size=16)),
        "halo": [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in shape],
        "with_halo": draw(st.booleans()),
        "stride": [draw(st.sampled_from([1, 2, -1, -3])) for _ in range(rank + 1)],
        "deferred": draw(st.booleans()),
        "records": draw(st.sampled_from([None, 1, 3])),
        "how": draw(st.sampled_from(["put", "record", "box"])),
        "apart": draw(st.sampled_from([1, 2, 3])),
        "listed": draw(st.booleans()),
        "service": draw(st.sampled_from(["inline", "background"])),
        "seed": draw(st.integers(0, 1000)),
    }


def in_memory(values, stride):
    """Returns a view with these strides that has the given values."""
    wide = np.full([abs(s) * n for s, n in zip(stride, values.shape, strict=True)], 99)
    view = wide.astype(values.dtype)[tuple(slice(None, None, s) for s in stride)]
    view[...] = values
    return view


def run(io, path, case):
    shape, order = case["shape"], case["order"]
    cuts = sorted([0, shape[0], *case["cuts"][: WORLD.size - 1]])
    low, high = cuts[WORLD.rank], cuts[WORLD.rank + 1]
    names = [f"d{d}" for d in range(len(shape))]
    start, count = [low] + [0] * (len(shape) - 1), [high - low, *shape[1:]]

    def by_order(values):
        return [values[d] for d in order]

    space = list(zip(by_order(names), by_order(shape), strict=True))
    if case["listed"]:
        rows = np.random.default_rng(0).permutation(np.arange(low, high))
        cells = io.decompose_list(space, listed="d0", indices=rows)
        halo = [(0, 0)] * len(shape)
    else:
        halo = case["halo"]
        cells = io.decompose(
            space, start=by_order(start), count=by_order(count), halo=by_order(halo)
        )
        rows = np.arange(low, high)
    records = case["records"]
    data = np.random.default_rng(case["seed"]).integers(0, 100, [records or 1, *shape])
    with io.create(path, service=case["service"]) as f:
        dims = " ".join((["time"] if records else []) + names)
        f.define("v", TYPES[case["in_file"]], dims, cells)
        for record, values in enumerate(data):
            part = values[rows].transpose(order).astype(TYPES[case["in_memory"]])
            if case["with_halo"] and not case["listed"]:
                part = np.pad(part, by_order(halo), constant_values=77)
            part = in_memory(part, case["stride"][: part.ndim])
            if case["how"] == "record":
                f.put_record("v", part, record)
            elif case["how"] == "box" and not case["listed"]:
                lead, apart = ([record], [1]) if records else ([], [])
                apart = [*apart, case["apart"], *[1] * (len(shape) - 1)]
                for first in range(low, max(high, low + 1))[: case["apart"]]:
                    box = values[first : high : case["apart"]]
                    box = in_memory(box, case["stride"][: values.ndim])
                    f.put_box("v", box, [*lead, first, *start[1:]], apart)
            else:
                f.put("v", part, deferred=case["deferred"])
            if records:
                f.end_step()
    expected = data if records else data[0]
    assert np.array_equal(as_netcdf4(path, "v"), expected)
    with io.open(path) as f:
        found = f.get("v", cells, dtype=TYPES[case["in_memory"]])
        inner = tuple(
            slice(a, n - b)
            for (a, b), n in zip(by_order(halo), found.shape[-len(shape) :], strict=True)
        )
        mine = expected[..., rows, *[slice(None)] * (len(shape) - 1)]
        lead = 1 if records else 0
        mine = mine.transpose([*range(lead), *(d + lead for d in order)])
        assert np.array_equal(found[(slice(None),) * lead + inner], mine)
        around = np.ones(found.shape, bool)
        around[(slice(None),) * lead + inner] = False
        fill = np.array(FILLS[case["in_memory"]]).astype(found.dtype)
        assert (found[around] == fill).all()


@settings(
    max_examples=int(os.environ.get("THALWEG_TEST_CASES", "4")),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_any_case(io, folder, case):
    # All ranks fail together, so that all of them search for a smaller case.
    try:
        run(io, folder / "p.nc", case)
        problem = None
    except Exception as found:
        print(f"rank {WORLD.rank}: {case}: {found!r}", file=sys.__stderr__)
        problem = found
    problems = WORLD.allgather(repr(problem) if problem else None)
    if problem:
        raise problem
    assert not any(problems), problems
