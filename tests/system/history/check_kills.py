#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a running model at random moments and continues it from its newest restart, until it ends:
its files are those of a run that was not killed.

Arguments: program, number of kills, launcher and its flags up to -n. Prints the seed, which
THALWEG_TEST_SEED sets.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "faults"))
from harness import kill_all, processes_below

SERVICES = ("service=inline", "service=background")
PAUSE = 10  # milliseconds that a step takes


def start(launcher: list[str], ranks: int, program: str, folder: Path, service: str, lists: int):
    scratch = folder.parent / "mpi"
    scratch.mkdir(exist_ok=True)
    # Open MPI leaves files of killed processes in this folder, too.
    environment = dict(os.environ, TMPDIR=str(scratch))
    for name in ("btl_vader_backing_directory", "osc_sm_backing_directory", "orte_tmpdir_base"):
        environment[f"OMPI_MCA_{name}"] = str(scratch)
    command = [*launcher, str(ranks), program, str(folder), service, str(PAUSE), str(lists)]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def contents(path: Path) -> bytes:
    """Returns the bytes of a classic file; for other formats, the output of ncdump without the
    file's name."""
    data = path.read_bytes()
    if data.startswith(b"CDF"):
        return data
    return subprocess.run(["ncdump", path], check=True, capture_output=True).stdout.split(b"\n", 1)[
        1
    ]


def files(folder: Path) -> dict[str, bytes]:
    """Returns the complete files. The next run may have renamed the unfinished file of a killed
    run."""
    found = (p for p in folder.glob("*.nc") if not p.name.startswith("restart"))
    return {p.name: contents(p) for p in found}


def main() -> None:
    program, kills, launcher = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seed = int(os.environ.get("THALWEG_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    choose = random.Random(seed)
    killed = runs = 0
    with tempfile.TemporaryDirectory() as root:
        whole = Path(root, "whole")
        whole.mkdir()
        job = start(launcher, 2, program, whole, SERVICES[0], 0)
        said = job.communicate(timeout=120)[0]
        assert job.returncode == 0, said
        right = files(whole)
        while killed < kills:
            folder = Path(root, f"run{runs}")
            folder.mkdir()
            service = choose.choice(SERVICES)
            while True:
                lists = choose.randint(0, 1)
                job = start(launcher, choose.randint(1, 4), program, folder, service, lists)
                try:
                    said = job.communicate(timeout=choose.uniform(0.1, 2.5))[0]
                    assert job.returncode == 0, f"{service}: the run failed:\n{said}"
                    break
                except subprocess.TimeoutExpired:
                    kill_all([*processes_below(job.pid), job.pid])
                    job.communicate()
                    killed += 1
            found = files(folder)
            assert found.keys() == right.keys(), f"{folder.name}: {sorted(found)}"
            wrong = [name for name in right if found[name] != right[name]]
            assert not wrong, f"{folder.name}: {service}: {wrong} differ"
            runs += 1
    print(f"killed {killed} times in {runs} runs of {len(right)} files")


if __name__ == "__main__":
    main()
