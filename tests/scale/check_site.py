# SPDX-License-Identifier: Apache-2.0
"""Runs lab/scale/site.py on two and on four ranks of this machine, by Slurm's script and a
stand-in of srun.

    check_site.py BIN -- mpirun [flags] -n

Exits with 77 if programs are missing.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[2]
METHODS = ("record", "slabs", "serial")
# Largest ratio of predicted and measured times, as the machine may be busy during one run.
FAR = 50


def run(*command, **where):
    command = [str(part) for part in command]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, **where)


def check(good, text):
    if not good:
        sys.exit(text)


def rows_of(path):
    lines = path.read_text().splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:2] == "| "]


def check_rows(path):
    heads, *rows = rows_of(path)
    ways = [(row[0], row[2]) for row in rows]
    check(ways == [(n, m) for n in ("2", "4") for m in METHODS], f"{ways}")
    for row in rows:
        measured, predicted, ratio = (float(row[heads.index(h)]) for h in heads[-3:])
        check(measured > 0 and predicted > 0, f"{row}")
        check(1 / FAR < ratio < FAR, f"{row}: prediction and measurement have little in common")
    return path.read_text()


def check_job(folder, program_folder, launch):
    """Runs the job's script with a stand-in for srun that starts the ranks on this machine."""
    srun = folder / "srun"
    srun.write_text(f'#!/bin/sh\nshift 3\nexec {shlex.join(launch)} "$@"\n')
    srun.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "SLURM_NNODES": "2",
        "SLURM_NTASKS_PER_NODE": "2(x2)",
        "SLURM_JOB_ID": "1",
    }
    done = run(
        *("bash", SOURCE / "examples/site/job.sh", folder, "--bin", program_folder),
        *("--workload", "fv-b", "--scale", "0.5", "--steps", "3", "--seconds", "1"),
        *("--output", folder / "out"),
        cwd=SOURCE,
        env=environment,
    )
    check(done.returncode == 0, done.stdout + done.stderr)
    text = check_rows(folder / "out/site.md")
    check("Messages between the first rank and the last" in text, text)
    check((folder / "out/calibration-4.toml").exists(), "no calibration of four ranks")
    left = [p.name for p in folder.iterdir() if p.name not in ("srun", "out")]
    check(not left, f"left behind: {left}")


def check_failure(folder, program_folder):
    """Checks that a program that fails is reported with its message."""
    done = run(
        *(sys.executable, SOURCE / "lab/scale/site.py", "--bin", program_folder),
        *("--launch", "false", "--ranks", "2", "--per-node", "2", "--folder", folder),
        *("--output", folder / "failed"),
    )
    check(done.returncode == 1 and "ended with 1" in done.stderr, done.stderr)
    check("Traceback" not in done.stderr, done.stderr)


def main():
    programs = Path(sys.argv[1])
    launch = sys.argv[sys.argv.index("--") + 1 :]
    for name in ("thalweg-plan", "thalweg-scale", "scale-messages"):
        if not (programs / name).exists():
            print("not there:", name)
            return 77
    with tempfile.TemporaryDirectory(prefix="check-site.") as made:
        check_job(Path(made), programs, launch)
        check_failure(Path(made), programs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
