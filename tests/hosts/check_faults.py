#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests networks and hosts that fail during a job: a slow link, or one that is down for seconds,
does no harm; if a host is lost for good, the job ends, and committed records are in the file."""

import subprocess
from pathlib import Path

from hosts import Hosts
from jobs import Job, check_file, require, run_case

SERVERS = "service=servers; servers=2"
APART = "service=servers; servers=2:last"  # both servers on the last host
SERVICES = ("service=inline", "service=background", SERVERS, APART)

# Limit in seconds for the end of a job after a host has died: the launcher tests silent connections
# after 2 seconds, and gives up 3 seconds later; it then waits 5 seconds for processes that it asks
# to end.
DEAD = 40


def slow_link(args) -> None:
    """Limits the link of a host that holds half of the data to 30 Mbit/s."""
    with Hosts(2) as hosts:
        hosts.slow(1, "30mbit")
        for settings in SERVICES:
            path = hosts.shared / "history.nc"
            Job(hosts, [2, 2], args.model, path, settings, rows=128).succeed()
            check_file(path, 3, rows=128)


def dropped_link(args) -> None:
    """Drops all packets to and from a host for 3 seconds."""
    with Hosts(3) as hosts:
        for settings in SERVICES:
            path = hosts.shared / "history.nc"
            job = Job(hosts, [1, 2, 2], args.model, path, settings, steps=12, pace=100, silence=60)
            job.wait_for(3)
            hosts.cut(1, 3)
            job.succeed(100)
            check_file(path, 12)


def recover(args, path, committed: int) -> None:
    part = path.with_name(path.name + ".part")
    require(part.exists(), f"{part} is not there; {path} is: {path.exists()}")
    found = check_file(part, committed, at_least=True)
    subprocess.run([args.recover, "recover", path], check=True)
    check_file(path, found)
    path.unlink()


def dead_host(args) -> None:
    """Kills all processes of a host at once, with rank 0 or another rank."""
    for settings in SERVICES:
        for dead in (0, 1, 2):
            with Hosts(3) as hosts:
                path = hosts.shared / "history.nc"
                job = Job(hosts, [2, 2, 2], args.model, path, settings, steps=1000, pace=50)
                job.wait_for(3)
                hosts.kill(dead)
                require(job.wait(DEAD) != 0, f"{job.what}: ended well\n{job.output()}")
                print(f"{job.what}: host {dead} is dead, {job.seconds:.1f} s", flush=True)
                recover(args, path, job.committed())


def dead_link(args) -> None:
    """Cuts a host off for good. The launcher, as configured here, detects this by testing silent
    connections."""
    for settings in ("service=inline", SERVERS):
        with Hosts(3) as hosts:
            path = hosts.shared / "history.nc"
            job = Job(hosts, [2, 2, 2], args.model, path, settings, steps=1000, pace=50)
            job.wait_for(3)
            hosts.cut(1)
            require(job.wait(DEAD) != 0, f"{job.what}: ended well\n{job.output()}")
            print(f"{job.what}: a link is dead, {job.seconds:.1f} s", flush=True)
            recover(args, path, job.committed())


def watchdog(args) -> None:
    """Stops a process of another host, for which MPI waits: the library reports which rank waits
    for what, and ends the job if the settings say so."""
    for settings in ("service=inline", "service=background", SERVERS):
        with Hosts(2) as hosts:
            path = hosts.shared / "history.nc"
            settings += "; watchdog=2:5"
            job = Job(hosts, [2, 2], args.model, path, settings, steps=1000, pace=50)
            job.wait_for(3)
            model = hosts.processes(1, Path(args.model).name)[0]
            hosts.run(1, ["kill", "-STOP", str(model)])
            require(job.wait(DEAD) != 0, f"{job.what}: ended well\n{job.output()}")
            print(f"{job.what}: a process is stopped, {job.seconds:.1f} s", flush=True)
            for text in ("for 2 s: waiting for", "ends the job (setting watchdog)"):
                require(text in job.output(), f"{job.what}: not said: {text}\n{job.output()}")
            recover(args, path, job.committed())


if __name__ == "__main__":
    run_case((slow_link, dropped_link, dead_host, dead_link, watchdog), "--model", "--recover")
