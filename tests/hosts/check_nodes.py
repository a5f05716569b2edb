#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests hosts that differ from those of a good cluster: folders that they do not share, equal
host names, containers, different clocks and working folders, two jobs that write one file. Each
case must work, or fail with a message that gives the reason."""

import json
from pathlib import Path

from hosts import Hosts
from jobs import Job, check_file, require, run_case

RECORD = "method=record"
# One server on the last host, so that files whose paths rank 0 has chosen are created by another
# host.
SERVERS = "service=servers; servers=2:last"


def unshared_folder(args) -> None:
    """Tests hosts with separate folders /dev/shm."""
    tiles = "method=tiles; tiles=1x2; files=tiles"
    clean = "rm -rf /dev/shm/*.nc* /dev/shm/.*.lock"
    with Hosts(2) as hosts:

        def check(settings: str, stale: str = "") -> None:
            if stale:
                make = f"head -c 100000 /dev/zero > /dev/shm/{stale}"
                hosts.run(1, ["sh", "-c", make])
            job = Job(hosts, [2, 2], args.model, "/dev/shm/history.nc", settings)
            job.fail("host host1", "is not shared")
            for host in (0, 1):
                hosts.run(host, ["sh", "-c", clean])

        for settings in (RECORD, "storage=netcdf4", SERVERS, SERVERS + "; publish=live"):
            check(settings)
        # Files that a killed run has left in the other host's folder must not be mistaken for the
        # file.
        check(RECORD, "history.nc.part")
        check(SERVERS, "history.nc.part")
        check("method=direct; publish=live", "history.nc")
        # In a set of files, each file is named by one rank and written by another.
        for settings in (tiles, f"{tiles}; {SERVERS}"):
            job = Job(hosts, [2, 2], args.model, "/dev/shm/history.nc", settings)
            job.fail("host host0 does not see what another host has written", "is not shared")


def working_folders(args) -> None:
    """Tests that a relative path means the same file on all ranks."""
    homes = [Path("host0").absolute(), Path("host1").absolute()]
    for home in homes:
        home.mkdir(exist_ok=True)
    with Hosts(2) as hosts:
        go = ("sh", "-c", 'cd "$(hostname)"; TMPDIR="$PWD"; export TMPDIR; exec "$@"', "sh")
        for settings in (RECORD, SERVERS, "service=background"):
            Job(hosts, [2, 2], args.model, "history.nc", settings, before=go).succeed()
            where = [home for home in homes if (home / "history.nc").exists()]
            require(where == homes[:1], f"{settings}: the file is in {where}")
            check_file(where[0] / "history.nc", 3)
            (where[0] / "history.nc").unlink()


def same_names(args) -> None:
    """Tests that hosts with the same name count as different nodes."""
    with Hosts(2, names=["node", "node"]) as hosts:
        for settings in (RECORD, SERVERS, "service=background"):
            path = hosts.shared / "history.nc"
            job = Job(
                hosts, [2, 2], args.model, path, f"{settings}; summary={hosts.shared}/summary"
            )
            job.succeed()
            check_file(path, 3)
            require("cannot share memory" not in job.output(), job.output())


def containers(args) -> None:
    """Tests ranks of one host in separate containers, which MPI takes for one node."""
    with Hosts(2) as hosts:
        spaces = ("unshare", "--pid", "--fork", "--mount-proc", "--ipc", "--mount")
        apart = ("--mca", "btl", "tcp,self")
        for settings in (RECORD, SERVERS, "service=background"):
            path = hosts.shared / "history.nc"
            job = Job(hosts, [2, 2], args.model, path, settings, before=spaces, flags=apart)
            job.succeed()
            check_file(path, 3)
            require("treating each rank as a node" in job.output(), job.output())


def clocks(args) -> None:
    """Tests hosts with different clocks: times are compared only within a host, and the traces
    of all hosts begin at the same time."""
    with Hosts(2) as hosts:
        late = (
            '[ "$(hostname)" = host0 ] && exec "$@"; exec unshare --time --monotonic 1000000 "$@"'
        )
        trace = hosts.shared / "trace.json"
        for settings in (RECORD, SERVERS, "service=background; close=later"):
            path = hosts.shared / "history.nc"
            Job(
                hosts,
                [2, 2],
                args.model,
                path,
                f"{settings}; trace={trace}",
                before=("sh", "-c", late, "sh"),
            ).succeed()
            check_file(path, 3)
            events = json.loads(trace.read_text())["traceEvents"]
            spans = [event["ts"] for event in events if event.get("ph") == "X"]
            require(max(spans) - min(spans) < 60e6, f"{settings}: times from {min(spans)} on")


def two_jobs(args) -> None:
    """Tests that only one of two jobs on different hosts may write a file, and that the error of
    the other job names the first one."""
    with Hosts(2) as hosts:
        for settings in (RECORD, "publish=live"):
            path = hosts.shared / "history.nc"
            first = Job(hosts, [2, 0], args.model, path, settings, steps=60, pace=100)
            first.wait_for(2)
            second = Job(hosts, [0, 2], args.model, path, settings)
            second.fail("TW_EINUSE", "on host host0 is writing it")
            first.process.terminate()
            first.wait(30)
            # The lock has ended with its job, so the next job can write.
            Job(hosts, [0, 2], args.model, path, settings).succeed()
            check_file(path, 3)


if __name__ == "__main__":
    run_case(
        (unshared_folder, working_folders, same_names, containers, clocks, two_jobs), "--model"
    )
