# SPDX-License-Identifier: Apache-2.0
"""Runs of histories on all ranks and on one, with a restart within a window."""

import numpy as np
import thalweg as tw
from helpers import WORLD
from mpi4py import MPI


def run_history(comm, folder, text, ranges, declare, **settings):
    """Runs a history. Between the ranges of steps it is saved, and goes on with one rank fewer.

    Args:
        declare: declares fields, declare(io, h, rank, ranks), and returns a function that sends
            those of a step
        settings: of the session
    """
    for part in ranges:
        if part.start > 0 and comm.size > 1:
            comm = comm.Split(MPI.UNDEFINED if comm.rank == comm.size - 1 else 0)
        if comm == MPI.COMM_NULL:
            return
        io = tw.Session(comm, **settings)
        if io.is_server:
            continue
        with io.history(text, calendar="noleap", start="2000-01-01") as h:
            send = declare(io, h, io.rank, io.size)
            if part.start > 0:
                with io.restart() as saved, saved.open(f"{folder}/restart.nc") as file:
                    h.load(file)
            for step in part:
                h.time = 3600 * (step + 1)
                send(step)
                h.end_step()
            if part.stop < ranges[-1].stop:
                with io.restart() as saved:
                    h.save(saved)
                    saved.write(f"{folder}/restart.nc")
        io.finalize()


def run_on_all_and_one(folder, config, ranges, declare):
    """Runs a history in the folder "all", and in one go on a single rank in the folder "one". The
    files must be the same.

    Args:
        config: returns the configuration for a folder
    """
    whole = [range(ranges[0].start, ranges[-1].stop)]
    for name, comm, parts in (("all", WORLD, ranges), ("one", MPI.COMM_SELF, whole)):
        own = folder / name
        if WORLD.rank == 0:
            own.mkdir()
        WORLD.barrier()
        if name == "all" or WORLD.rank == 0:
            run_history(comm, own, config(own), parts, declare)
    WORLD.barrier()
    for path in (folder / "one").glob("*.nc") if WORLD.rank == 0 else ():
        assert path.read_bytes() == (folder / "all" / path.name).read_bytes(), path.name


def declare_fields(h, cells, mine, fields):
    """Declares fields of a decomposition, and returns a function that sends those of a step.

    Args:
        mine: returns this rank's elements of a field
        fields: for each name the values of all steps, and what is missing
    """
    for name, (values, missing) in fields.items():
        about = {"units": "m" if name == "H" else "K", "missing": missing, "missing_value": -999.0}
        h.field(name, values.dtype.str[1:], "lev lat lon", cells, **about)

    def send(step):
        for name, (values, _) in fields.items():
            h[name] = np.ascontiguousarray(mine(values[step]))

    return send
