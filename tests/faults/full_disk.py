# SPDX-License-Identifier: Apache-2.0
"""Tests a disk that fills up while a model writes: every rank gets the error, and committed records
stay.

full_disk.py --victim PROGRAM --inject LIBRARY [options] -- mpirun FLAGS -n

The disk is a small tmpfs in several sizes, if the user may mount one; otherwise writes fail with
ENOSPC from some call on.
"""

import argparse
import subprocess
import sys

from harness import (
    SETUPS,
    Job,
    Reference,
    common_arguments,
    folder,
    judge_files,
    make_reference,
    read_log,
    services,
)

STEPS = 6
SIZES = (16, 36, 52, 76, 96)  # sizes of the disk in KiB; the files of a run need about 130, and
PACKED_SIZES = (16, 60, 90, 120)  # netCDF-4 files with their index about 170
CALLS = (3, 12, 30, 45)


def mount(where, kib: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "thalweg", str(where)]
    return subprocess.run(command, capture_output=True).returncode == 0


def fill(args, service, setup: str, reference: Reference, size: int | None, call: int) -> list[str]:
    """Makes one run, either on a disk of a given size, or with writes that fail from a given
    call on."""
    settings = f"{service.settings}; {SETUPS[setup][0]}"
    with folder(args.keep) as root:
        run = root / "runs/0"
        run.mkdir(parents=True)
        mounted = size is not None and mount(run, size)
        try:
            faults = None
            if not mounted:
                faults = {
                    "THALWEG_FAULT_PATH": str(run),
                    "THALWEG_FAULT_AT": f"{call}+",
                    "THALWEG_FAULT_KIND": "enospc",
                }
            job = Job(
                args,
                service,
                root,
                *("--steps", str(STEPS), "--settings", settings),
                *("--words", "No space left on device"),
                faults=faults,
            )
            code = job.wait(60)
            if code != 0:
                return [f"exit code {code}; the program's output:\n{job.output()[:20000]}"]
            logs = read_log(root / "logs/0", service)
            problems = [] if any(log.failed for log in logs.values()) else ["nothing failed"]
            return problems + judge_files(run, logs, reference, STEPS, settings, killed=False)
        finally:
            if mounted:
                subprocess.run(["umount", str(run)], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common_arguments(parser)
    args = parser.parse_args()
    with folder(False) as root:
        (root / "disk").mkdir()
        may_mount = mount(root / "disk", 4)
        if may_mount:
            subprocess.run(["umount", str(root / "disk")], check=True)
    references = {}
    bad = 0
    for setup in args.setups.split(","):
        form = SETUPS[setup][1]
        if form not in references:
            references[form] = make_reference(args, form, STEPS)
        for service in services(args.services):
            sizes = PACKED_SIZES if form == "netcdf4" else SIZES
            cases = [(kib, 0) for kib in sizes] if may_mount else [(None, n) for n in CALLS]
            for size, call in cases:
                case = f"{size} KiB" if size else f"no space from call {call}"
                problems = fill(args, service, setup, references[form], size, call)
                print(f"full_disk: {service.name}, {setup}, {case}: {len(problems)} problems")
                for problem in problems:
                    print(f"  {problem}")
                bad += len(problems)
    print("full_disk: " + (f"{bad} problems" if bad else "all is well"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
