#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a network folder that every host caches by itself: sshfs without ssh, with clients on
the hosts and the server outside."""

import contextlib
import shutil
import socket
import subprocess
import threading
from pathlib import Path

from hosts import Hosts, address, skip
from jobs import Job, check_file, require, run_case

SERVER = "/usr/lib/openssh/sftp-server"
PORT = 7722
OUTSIDE = 100  # number of the machine outside the hosts, where mpirun runs


@contextlib.contextmanager
def network_disk(hosts: Hosts, folder: Path, mount: Path):
    """Mounts `folder` at `mount` on every host for the duration of the `with`."""
    folder.mkdir(exist_ok=True)
    mount.mkdir(exist_ok=True)
    listener = socket.create_server((address(OUTSIDE), PORT))
    servers = []

    def serve() -> None:
        with contextlib.suppress(OSError):  # the connection is closed
            while True:
                connection, _ = listener.accept()
                servers.append(subprocess.Popen([SERVER], stdin=connection, stdout=connection))
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    options = f"directport={PORT},auto_cache"
    for host in range(hosts.n):
        hosts.run(host, ["sshfs", f"{address(OUTSIDE)}:{folder}", str(mount), "-o", options])
    try:
        yield
    finally:
        listener.close()
        for server in servers:
            server.kill()
            server.wait()


def writing(args) -> None:
    with Hosts(3) as hosts, network_disk(hosts, Path("disk").absolute(), Path("net").absolute()):
        for settings in (
            "service=inline",
            "service=background",
            "service=servers; servers=2",
            "service=servers; servers=2:last",
            "storage=netcdf4",
            "storage=netcdf4; deflate=1",
        ):
            job = Job(hosts, [2, 2, 1], args.model, Path("net/history.nc").absolute(), settings)
            job.succeed()
            check_file(Path("disk/history.nc"), 3)
            require("using writers=1" in job.output(), job.output())
        # Combinations of settings that are unsafe here, but that the user has requested.
        for settings in ("writers=1/node", "method=direct", "writers=1/node; service=background"):
            job = Job(hosts, [2, 2, 1], args.model, Path("net/history.nc").absolute(), settings)
            job.succeed()
            require("writers=1 is safe" in job.output(), job.output())
            require("using writers=1" not in job.output(), job.output())
            check_file(Path("disk/history.nc"), 3)


def two_jobs(args) -> None:
    """Lets two jobs on different hosts write one file, while the file system hides the lock of
    one from the other: the later one is warned, and the first one gets an error at its end."""
    with Hosts(2) as hosts, network_disk(hosts, Path("disk").absolute(), Path("net").absolute()):
        path = Path("net/history.nc").absolute()
        first = Job(hosts, [2, 0], args.model, path, "", steps=50, pace=100)
        first.wait_for(2)
        second = Job(hosts, [0, 2], args.model, path, "", steps=100, pace=100)
        first.fail("TW_EINUSE", "on host host1")
        second.succeed()
        require("on host host0" in second.output(), second.output())
        check_file(Path("disk/history.nc"), 100)


if __name__ == "__main__":
    if shutil.which("sshfs") is None or not Path(SERVER).exists():
        skip("there is no sshfs, or no sftp-server (Debian: sshfs, openssh-sftp-server)")
    if not Path("/dev/fuse").exists():
        skip("there is no /dev/fuse")
    run_case((writing, two_jobs), "--model")
