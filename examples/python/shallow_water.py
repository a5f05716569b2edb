# SPDX-License-Identifier: Apache-2.0
"""Shallow water in a channel, in NumPy and mpi4py: periodic in x, walls in the south and north.

mpirun -n 4 python shallow_water.py --steps 300
mpirun -n 3 python shallow_water.py --steps 600 --restart restart.nc --output second.nc

Each rank has some rows of the channel, with one row of halo. The model computes while Thalweg
writes the history in the background.
"""

import argparse

import numpy as np
import thalweg as tw
from mpi4py import MPI

GRAVITY, DEPTH, CORIOLIS = 9.81, 100.0, 1e-4


class Model:
    """Height and velocities on this rank's rows: arrays of (nj + 2, nx)."""

    def __init__(self, comm, nx=64, ny=32, dx=10e3):
        self.comm, self.nx, self.ny, self.dx = comm, nx, ny, dx
        self.dt = 0.4 * dx / np.sqrt(GRAVITY * DEPTH)
        self.js = comm.rank * ny // comm.size
        self.nj = (comm.rank + 1) * ny // comm.size - self.js
        self.step = 0
        self.h, self.u, self.v = (np.zeros((self.nj + 2, nx)) for _ in range(3))
        x = (np.arange(nx) - nx / 2) * dx
        y = (self.js + np.arange(self.nj) - ny / 2) * dx
        self.h[1:-1] = np.exp(-(x**2 + y[:, None] ** 2) / (8 * dx) ** 2)

    def exchange(self, field, wall):
        """Fills the halo rows, from the neighbours or at the walls."""
        south, north = self.comm.rank - 1, self.comm.rank + 1
        south = south if south >= 0 else MPI.PROC_NULL
        north = north if north < self.comm.size else MPI.PROC_NULL
        self.comm.Sendrecv(field[-2], north, recvbuf=field[0], source=south)
        self.comm.Sendrecv(field[1], south, recvbuf=field[-1], source=north)
        if south == MPI.PROC_NULL:
            field[0] = wall * field[1]
        if north == MPI.PROC_NULL:
            field[-1] = wall * field[-2]

    def advance(self):
        """Takes one forward-backward step: first the velocities, then the height."""

        def d_dx(a):
            return (np.roll(a, -1, 1) - np.roll(a, 1, 1))[1:-1] / (2 * self.dx)

        def d_dy(a):
            return (a[2:] - a[:-2]) / (2 * self.dx)

        self.exchange(self.h, 1)
        u, v = self.u[1:-1].copy(), self.v[1:-1].copy()
        self.u[1:-1] += self.dt * (CORIOLIS * v - GRAVITY * d_dx(self.h))
        self.v[1:-1] += self.dt * (-CORIOLIS * u - GRAVITY * d_dy(self.h))
        self.exchange(self.v, -1)
        self.h[1:-1] -= self.dt * DEPTH * (d_dx(self.u) + d_dy(self.v))
        # The two velocities at neighbouring points are hardly coupled, as differences span two
        # cells. A little diffusion couples them.
        for field in (self.u, self.v):
            self.exchange(field, -1)
            field[1:-1] += 0.01 * (field[2:] + field[:-2] - 2 * field[1:-1])
            field += 0.01 * (np.roll(field, 1, 1) + np.roll(field, -1, 1) - 2 * field)
        self.step += 1


def define_history(io, model, path):
    """Creates the history file and its decomposition."""
    rows = io.decompose(
        y=model.ny, x=model.nx, start=(model.js, 0), count=(model.nj, model.nx), halo={"y": 1}
    )
    f = io.create(path, title="shallow water in a channel", Conventions="CF-1.11")
    f.define("h", "f4", "time y x", rows, units="m", long_name="height above rest")
    f.define("u", "f4", "time y x", rows, units="m s-1")
    f.define("v", "f4", "time y x", rows, units="m s-1")
    f.define("time", "f8", "time", units="seconds since 2000-01-01", calendar="standard")
    f.define("x", "f8", "x", units="m", axis="X")
    f.define("y", "f8", "y", units="m", axis="Y")
    f["x"] = np.arange(model.nx) * model.dx
    f["y"] = np.arange(model.ny) * model.dx
    return f, rows


def make_restart(io, model, rows):
    restart = io.restart()
    for name in ("h", "u", "v"):
        restart.add(name, getattr(model, name), "y x", rows)
    return restart


def run(comm, steps, every, output="history.nc", restart_from=None, service="background"):
    model = Model(comm)
    with tw.Session(comm, service=service) as io:
        f, rows = define_history(io, model, output)
        restart = make_restart(io, model, rows)
        if restart_from:
            with restart.open(restart_from) as old:
                model.step = int(old.attrs["step"])
        with f:
            while model.step < steps:
                model.advance()
                if model.step % every == 0:
                    f["h"], f["u"], f["v"] = model.h, model.u, model.v
                    f["time"] = model.step * model.dt
                    f.end_step()
        restart.set_attr("step", model.step)
        restart.write("restart.nc")
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--output", default="history.nc")
    parser.add_argument("--restart")
    arguments = parser.parse_args()
    comm = MPI.COMM_WORLD
    model = run(comm, arguments.steps, arguments.every, arguments.output, arguments.restart)
    highest = comm.allreduce(np.abs(model.h[1:-1]).max(initial=0), MPI.MAX)
    if comm.rank == 0:
        print(f"step {model.step}: the highest wave has {highest:.4f} m")


if __name__ == "__main__":
    main()
