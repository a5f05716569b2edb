# SPDX-License-Identifier: Apache-2.0
"""Runs a model with a history: computed.py CONFIGURATION FORM FIRST LAST [RESTART [NEXT]]

The form of the decompositions is boxes, empty (boxes, one of them empty) or list. The history
continues the one of RESTART (unless that is "none"), and is saved in NEXT.
"""

import sys

import computed_fields as fields
import numpy as np
import thalweg as tw
from mpi4py import MPI

configuration, form, first, last, restart, following = (*sys.argv[1:], "none", "none")[:6]
NY, NX = fields.NY, fields.NX

with tw.Session(MPI.COMM_WORLD) as io:
    rng = np.random.default_rng(1)
    if form == "list":
        cells = rng.permutation(NY * NX)[io.rank :: io.size]
    else:
        begin, end = NY * io.rank // io.size, NY * (io.rank + 1) // io.size

    def held(dims):
        """Declares the elements of a field that this rank holds."""
        sizes = {dim: fields.SIZES[dim] for dim in dims.split()}
        if form == "list":
            return io.decompose_list(sizes, listed="y x", indices=cells)
        start = [begin if dim == "y" else 0 for dim in sizes]
        count = [end - begin if dim == "y" else n for dim, n in sizes.items()]
        if form == "empty":
            none = [0 if dim == "x" else n for dim, n in zip(sizes, count, strict=True)]
            return io.decompose(sizes, boxes=[(start, none), (start, count)])
        return io.decompose(sizes, start=start, count=count)

    def part(dims, values):
        """Returns the elements that this rank holds."""
        if form == "list":
            flat = values.reshape([n for n in values.shape[: values.ndim - 2]] + [-1])
            return np.ascontiguousarray(flat[..., cells])
        index = tuple(slice(begin, end) if dim == "y" else slice(None) for dim in dims.split())
        return np.ascontiguousarray(values[index])

    with (
        io.history(configuration, calendar="noleap", start="2000-01-01") as h,
        io.restart() as state,
    ):
        for name, (dtype, dims, attributes) in fields.FIELDS.items():
            # The order of one field in memory is another than in the file.
            order = "y x lev" if form == "boxes" and name == "p" else dims
            h.field(name, dtype, dims, held(order) if "y" in dims else None, **attributes)
        h.ready()
        if restart != "none":
            with state.open(restart) as file:
                h.load(file)
        for step in range(int(first), int(last) + 1):
            h.time = 3600 * step
            # The order of the fields changes, so each of them is the last one in some step.
            names = list(fields.FIELDS)
            for name in names[step % len(names) :] + names[: step % len(names)]:
                dims = fields.FIELDS[name][1]
                values = fields.value(name, step)
                if "y" in dims:
                    values = part(dims, values)
                if form == "boxes" and name == "p":
                    values = np.ascontiguousarray(np.moveaxis(values, 0, 2))
                if h[name].wanted and form == "empty" and "y" in dims:
                    h[name].send_block(1, values)
                    h[name].send_block(0, values[..., :0])
                elif h[name].wanted:
                    h[name].send(values)
            h.end_step()
        if following != "none":
            h.save(state)
            state.write(following)
