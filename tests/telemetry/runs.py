# SPDX-License-Identifier: Apache-2.0
"""Runs of the small model, for tests of their traces and summaries."""

import json
import os
import subprocess
import sys
from pathlib import Path

import netCDF4

STEPS = 3
FILES = ["plain.nc", "<script>alert(1)<!-- & \"q\" 'a'.nc", "çà — 東.nc"]
# Kinds of runs by name: number of ranks, of servers, settings.
KINDS = {
    "inline": (3, 0, {}),
    "direct": (3, 0, {"method": "direct"}),
    "nodes": (4, 0, {"node_size": "2", "writers": "1/node"}),
    "background": (3, 0, {"service": "background"}),
    "background_nodes": (4, 0, {"service": "background", "node_size": "2", "writers": "1/node"}),
    "servers": (3, 1, {"service": "servers"}),
    "servers_nodes": (5, 2, {"service": "servers", "node_size": "3"}),
    "crowded": (3, 0, {"service": "background", "queue": "64KiB", "bandwidth": "8MiB"}),
}


class Runs:
    """Runs of a model. Arguments: the model, then after -- the launcher of MPI programs."""

    def __init__(self, arguments):
        at = arguments.index("--")
        self.programs, self.launch = arguments[:at], arguments[at + 1 :]
        self.folder = Path(f"{Path(sys.argv[0]).stem}_files").resolve()
        self.folder.mkdir(exist_ok=True)

    def run(self, name, ranks, settings, steps=STEPS, files=FILES, pause=2):
        """Starts a run with settings in the environment. Returns the process and the run's
        folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            if old.is_file():
                old.unlink()
        own = {f"THALWEG_{k.upper()}": v for k, v in settings.items()}
        command = [*self.launch, "-n", str(ranks), self.programs[0], str(steps), str(pause), *files]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done, folder

    def run_kind(self, kind, **more):
        """Makes a run that must succeed. Returns its summary."""
        ranks, servers, settings = KINDS[kind]
        settings = {**settings, "servers": str(servers), "summary": "summary.json", **more}
        done, folder = self.run(kind, ranks, settings)
        assert done.returncode == 0, done.stderr
        return folder, json.loads((folder / "summary.json").read_text()), ranks - servers


def check_data(folder, files=FILES, steps=STEPS):
    """Checks the model's data as netCDF4-python reads them."""
    for name in files:
        with netCDF4.Dataset(folder / name) as data:
            assert data["T"].shape[0] == steps, (name, data["T"].shape)
            assert data["T"][steps - 1, 0, 0] == steps - 1
