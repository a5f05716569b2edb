# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine, by Linux's namespaces.

A host has a network address, a host name, processes, a /dev/shm and a /tmp of its own. It sees no
process and no shared memory of another host; there is only TCP over a bridge. All other folders are
those of the machine, and so are the same on every host.

    with Hosts(3) as hosts:
        hosts.mpirun([2, 2, 1], ["./program"])

The namespaces end with the process that made them. Making them needs root, or the right to make
user namespaces.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

INSIDE = "THALWEG_TEST_HOSTS"  # variable that is set within the namespaces around all hosts

SCRIPT_OF_AGENT = """#!/bin/sh
# mpirun calls this script instead of ssh: agent ADDRESS COMMAND...
host="$1"
shift
[ -e "{folder}/$host.pid" ] || {{ echo "no route to host $host" >&2; exit 255; }}
exec nsenter --target "$(cat "{folder}/$host.pid")" --net --uts --ipc --mount --pid \\
    --wdns="{home}" /bin/sh -c "$*"
"""


def skip(why: str) -> None:
    """Ends a test that cannot run here, so that ctest reports it as skipped."""
    print(f"skipped: {why}")
    sys.exit(77)


def enter(missing=skip) -> None:
    """Restarts this program in namespaces of its own, or calls `missing` with the reason."""
    if os.environ.get(INSIDE):
        return
    for tool in ("ip", "tc", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            missing(f"there is no program {tool} (Debian: iproute2, util-linux)")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *user, "--net", "--mount", "--fork", "--kill-child"]
    probe = (
        "ip link add x type bridge && ip link add y type veth peer name z && mount -t tmpfs x /mnt"
    )
    tried = subprocess.run([*command, "sh", "-c", probe], capture_output=True, text=True)
    if tried.returncode != 0:
        missing(f"this user cannot make hosts of namespaces: {tried.stderr.strip()}")
    os.environ[INSIDE] = "1"
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def address(host: int) -> str:
    return f"10.77.0.{host + 1}"


class Hosts:
    """Hosts 0 to n - 1, until the end of the `with` block.

    names: host names of the hosts."""

    def __init__(self, n: int, names: list[str] | None = None):
        self.n = n
        self.names = names or [f"host{h}" for h in range(n)]
        self.folder = Path(tempfile.mkdtemp(prefix="hosts_", dir=Path.cwd()))
        self.agent = self.folder / "agent"
        self.shared = self.folder / "shared"  # in memory, shared by all hosts
        self.first: list[subprocess.Popen | None] = []  # the first process of each host
        self.timers: list[threading.Timer] = []

    def __enter__(self) -> "Hosts":
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for timer in self.timers:
            timer.cancel()
        for host in range(len(self.first)):
            self.kill(host)
        for host in range(self.n):
            subprocess.run(["ip", "link", "del", f"host{host}"], capture_output=True)
        subprocess.run(["ip", "link", "del", "switch"], capture_output=True)
        for folder in (str(self.shared), "/tmp"):
            subprocess.run(["umount", "-l", folder], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self) -> None:
        self.agent.write_text(SCRIPT_OF_AGENT.format(folder=self.folder, home=Path.cwd()))
        self.agent.chmod(0o755)
        self.shared.mkdir()
        tool("mount", "-t", "tmpfs", "shared", str(self.shared))
        # Mount a separate /tmp for the launcher, unless the program's folder is below /tmp, which
        # must stay visible here and on the hosts.
        if not Path.cwd().is_relative_to("/tmp"):
            tool("mount", "-t", "tmpfs", "-o", "mode=1777", "tmp", "/tmp")
        ip("link", "set", "lo", "up")
        ip("link", "add", "switch", "type", "bridge")
        ip("addr", "add", f"{address(100)}/24", "dev", "switch")  # address of mpirun
        ip("link", "set", "switch", "up")
        for host in range(self.n):
            self.make_host(host)

    def make_host(self, host: int) -> None:
        begin = (
            f"hostname {self.names[host]} && mount -t tmpfs -o mode=1777 shm /dev/shm &&"
            " { [ ! -d /dev/mqueue ] || mount -t tmpfs mqueue /dev/mqueue; } &&"
            ' case "$PWD" in /tmp/*) ;; *) mount -t tmpfs -o mode=1777 tmp /tmp ;; esac &&'
            " echo ready && exec sleep infinity"
        )
        spaces = ["--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child"]
        process = subprocess.Popen(
            ["unshare", *spaces, "--mount-proc", "sh", "-c", begin],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first.append(process)
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"host {host} does not start")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        (self.folder / f"{address(host)}.pid").write_text(children[0])
        link = f"link add host{host} type veth peer name eth0 netns {children[0]}"
        ip(*link.split())
        ip("link", "set", f"host{host}", "master", "switch", "up")
        for words in (
            ["link", "set", "lo", "up"],
            ["addr", "add", f"{address(host)}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"],
        ):
            self.run(host, ["ip", *words])

    # ---- what runs on them -------------------------------------------------------------------

    def run(self, host: int, command: list[str], **more) -> subprocess.CompletedProcess:
        """Runs a command on one host, without MPI."""
        quoted = [f"'{word}'" for word in command]
        return subprocess.run([self.agent, address(host), *quoted], **{"check": True, **more})

    def mpirun(
        self, ranks: list[int], command: list, *flags: str, silence: int = 2, **more
    ) -> subprocess.Popen:
        """Starts a job with the given number of ranks on each host, in order.

        silence: seconds after which the launcher tests a silent connection; if nothing answers, it
        ends the job 3 s later."""
        hostfile = self.folder / f"hostfile{time.monotonic_ns()}"
        used = [(host, n) for host, n in enumerate(ranks) if n > 0]
        hostfile.write_text("".join(f"{address(host)} slots={n}\n" for host, n in used))
        launcher = ["mpirun", "--allow-run-as-root", "--bind-to", "none"]
        for name, value in {
            "plm_rsh_agent": self.agent,
            "plm_rsh_no_tree_spawn": 1,
            "btl_tcp_if_include": "eth0",
            "mpi_yield_when_idle": 1,
            "oob_tcp_keepalive_time": silence,
            "oob_tcp_keepalive_intvl": 1,
            "oob_tcp_keepalive_probes": 3,
        }.items():
            launcher += ["--mca", name, str(value)]
        launcher += ["--hostfile", str(hostfile), *flags, "-n", str(sum(ranks))]
        environment = dict(os.environ, THALWEG_TEST_DIR=str(self.shared))
        return subprocess.Popen(
            [*launcher, *map(str, command)], stdin=subprocess.DEVNULL, env=environment, **more
        )

    def processes(self, host: int, name: str) -> list[int]:
        """Returns the process numbers of a program on a host, as seen by the host."""
        find = f"grep -lx {name} /proc/[0-9]*/comm"
        found = self.run(host, ["sh", "-c", find], check=False, capture_output=True, text=True)
        return [int(path.split("/")[2]) for path in found.stdout.split()]

    def kill(self, host: int) -> None:
        """Cuts a host's power: all its processes are killed at once."""
        process, self.first[host] = self.first[host], None
        if process is None:
            return
        (self.folder / f"{address(host)}.pid").unlink(missing_ok=True)
        process.send_signal(signal.SIGKILL)  # this also kills its children
        process.wait()
        process.stdout.close()

    # ---- the network -------------------------------------------------------------------------

    def slow(self, host: int, rate: str) -> None:
        """Limits the bandwidth to and from a host, e.g. to 10mbit."""
        shape = ["root", "tbf", "rate", rate, "burst", "32k", "latency", "200ms"]
        tool("tc", "qdisc", "replace", "dev", f"host{host}", *shape)
        self.run(host, ["tc", "qdisc", "replace", "dev", "eth0", *shape])

    def cut(self, host: int, seconds: float | None = None) -> None:
        """Drops all packets to and from a host, forever or for some seconds."""
        ip("link", "set", f"host{host}", "nomaster")
        if seconds is not None:
            timer = threading.Timer(seconds, self.mend, [host])
            timer.start()
            self.timers.append(timer)

    def mend(self, host: int) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):  # the host may be gone
            ip("link", "set", f"host{host}", "master", "switch")


def tool(*command: str) -> None:
    subprocess.run(command, check=True)


def ip(*words: str) -> None:
    tool("ip", *words)
