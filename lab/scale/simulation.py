# SPDX-License-Identifier: Apache-2.0
"""Runs thalweg-scale on machines that SimGrid simulates, and makes tables of the results.

Each run is a separate process: smpirun loads the platform and the program, whose ranks are contexts
of one thread. All times are simulated, and the same in every run.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

METHODS = ("record", "slabs", "rows", "columns", "tiles", "direct", "serial")
MACHINES = ("tree", "parallel", "slow")

# Each option is explained in lab/scale/README.md.
CONFIG = {
    "smpi/simulate-computation": "no",
    "smpi/host-speed": "1e9f",
    "smpi/send-is-detached-thresh": "0",
    "smpi/coll-selector": "default",
    # SimGrid's own factors are those of an old Ethernet. Large messages need a handshake.
    "smpi/lat-factor": "0:1;8192:3",
    "smpi/bw-factor": "0:0.95",
    "smpi/privatization": "no",
    "smpi/test": "0",
    "smpi/iprobe": "0",
    "maxmin/precision": "1e-3",
}
# Options for messages that take no time, which serve to count on thousands of ranks: the simulator
# then does not compute how messages share links, and a root does not wait for all ranks at once.
TIMELESS = {
    "network/model": "Constant",
    "network/latency-factor": "0",
    "smpi/reduce": "binomial",
    "smpi/allreduce": "redbcast",
    "smpi/barrier": "ompi_tree",
    "smpi/gather": "ompi_binomial",
    "smpi/scatter": "ompi_binomial",
}


class RunError(Exception):
    """A failed run, with its output."""


@dataclass
class Run:
    """One simulated run."""

    ranks: int
    machine: str = "parallel"
    per_node: int = 32
    settings: str = ""
    arguments: dict = field(default_factory=dict)  # arguments of thalweg-scale
    numbers: dict = field(default_factory=dict)  # numbers of the machine
    keep_data: bool = False
    seconds: float | None = None  # limit in real time

    @property
    def nodes(self):
        return -(-self.ranks // self.per_node)

    @property
    def plans_only(self):
        """A run without steps is made for its counts."""
        return int(self.arguments.get("steps", 2)) == 0

    def all_numbers(self):
        """Returns the machine's numbers: those that the run gives, and its other ones."""
        link = {"link": 0} if self.plans_only else {}
        return {"nodes": self.nodes, "cores": self.per_node} | link | self.numbers

    @property
    def config(self):
        """The options of the simulator."""
        return CONFIG | (TIMELESS if float(self.all_numbers().get("link", 1)) == 0 else {})


def host_file(run):
    """Returns the host file: nodes are filled with ranks one after another."""
    left, lines = run.ranks, []
    for node in range(run.nodes):
        here = min(left, run.per_node)
        lines.append(f"node-{node}:{here}\n")
        left -= here
    return "".join(lines)


def environment(run):
    """Returns the environment of the process, without thalweg's settings of the caller, which
    would apply, too."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("THALWEG_", "SCALE_"))}
    env["SMPI_PRIVATIZATION"] = "no"
    env["SCALE_MACHINE"] = run.machine
    env["SCALE_NUMBERS"] = "numbers.json"
    env["SCALE_SET"] = ",".join(f"{name}={value}" for name, value in run.all_numbers().items())
    if run.keep_data:
        env["SCALE_DATA"] = "keep"
    return env


def simulate(build, run, folder=None):
    """Simulates the run in a folder (by default a temporary one) and returns its report."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="thalweg-scale.") as made:
            return simulate(build, run, made)
    build, folder = Path(build).resolve(), Path(folder).resolve()
    (folder / "hosts").write_text(host_file(run))
    given = {"settings": settings_of(run), "json": "report.json"} | run.arguments
    # smpirun cuts its arguments at blanks.
    arguments = {name: str(value).replace("; ", ";") for name, value in given.items()}
    for name, value in arguments.items():
        if any(c.isspace() for c in value):
            raise RunError(f"{name}={value}: no blanks, please")
    command = [
        *(smpirun(build), "-np", str(run.ranks), "-hostfile", "hosts"),
        *("-platform", str(build / "lib/libscale_platform.so")),
        *("-wrapper", f"env LD_PRELOAD={build / 'lib/libscale_counters.so'}"),
        *(f"--cfg={name}:{value}" for name, value in run.config.items()),
        "--log=root.thres:error",
        str(build / "bin/thalweg-scale"),
        *(f"{name}={value}" for name, value in arguments.items() if value != ""),
    ]
    env = environment(run)
    code, text = execute(command, folder, env, run.seconds)
    report = folder / "report.json"
    if code != 0 or not report.exists():
        raise RunError(f"smpirun ended with {code}:\n{told(text)}")
    result = json.loads(report.read_text())
    result["machine"] = run.machine
    result["nodes"] = run.nodes
    result["numbers"] = json.loads((folder / "numbers.json").read_text())
    result["simulator"] = {"name": "SimGrid SMPI", "version": version(build), "config": run.config}
    return result


def settings_of(run):
    """Returns the settings of a run. They name a service, because `auto` would choose one by the
    processors and memory of this machine."""
    if "service=" in run.settings:
        return run.settings
    return f"{run.settings}; service=inline" if run.settings else "service=inline"


def execute(command, folder, env, seconds):
    """Runs smpirun, and ends its simulation with it. Returns the exit code and the output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, **pipes) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
        except BaseException as e:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(e, subprocess.TimeoutExpired):
                raise RunError(f"not done after {seconds:g} s") from e
            raise
    return process.returncode, text


def told(text):
    """Returns the message of a failed run, without the simulator's backtrace and command line."""
    cause = re.search(r"Uncaught exception \S+ (.*)", text)
    if cause:
        return cause.group(1)
    lines = [line for line in text.splitlines() if "thalweg" in line or "CRITICAL" in line]
    lines = [line for line in lines if "--cfg" not in line]
    return "\n".join(lines[:8]) or text


def smpirun(build):
    """Returns the smpirun of the SimGrid with which the program was built."""
    cache = (Path(build) / "CMakeCache.txt").read_text()
    found = re.search(r"^SMPIRUN:FILEPATH=(.+)$", cache, re.MULTILINE)
    return found.group(1) if found else "smpirun"


def version(build):
    """SimGrid's version, as it reports it."""
    said = subprocess.run([smpirun(build), "-version"], capture_output=True, text=True).stdout
    return next((line for line in said.splitlines() if line.strip()), "unknown").strip()


# ---- tables ---------------------------------------------------------------------------------

COLUMNS = (
    ("ranks", lambda r: f"{r['ranks']}"),
    ("nodes", lambda r: f"{r['nodes']}"),
    ("method", lambda r: r["summary"]["method"]),
    ("service", lambda r: r["summary"]["service"]),
    ("writers", lambda r: f"{r['summary']['writers']}"),
    ("open ms", lambda r: milliseconds(r, r["seconds"]["open"])),
    ("step ms", lambda r: milliseconds(r, blocked(r))),
    ("GB/s", lambda r: f"{rate(r):.2f}" if r["summary"]["service"] == "inline" else "-"),
    ("close ms", lambda r: milliseconds(r, r["seconds"]["close"])),
    ("messages", lambda r: f"{most(r, 'messages'):.0f}"),
    ("MB", lambda r: f"{most(r, 'message_bytes') / 1e6:.2f}"),
    ("at open", lambda r: f"{r['counts']['open']['messages']['most']}"),
    ("metadata", lambda r: f"{r['metadata_operations']}"),
    ("heap MB", lambda r: f"{r['heap_bytes']['most'] / 1e6:.2f}"),
)


# Columns that are shown if something was read.
READ_COLUMNS = (
    ("restart ms", lambda r: f"{1e3 * r['seconds']['restart']:.2f}"),
    ("read ms", lambda r: f"{1e3 * r['seconds']['restart_read']:.2f}"),
    ("open ms", lambda r: f"{1e3 * r['seconds']['read_open']:.2f}"),
    ("back ms", lambda r: f"{1e3 * r['seconds']['read']:.2f}"),
)


def milliseconds(report, seconds):
    """Returns milliseconds; none if messages take no time."""
    return "-" if report["numbers"]["link"] == 0 else f"{1e3 * seconds:.2f}"


def steps_of(report):
    return max(1, report["steps"])


def blocked(report):
    """Returns the seconds by which a step exceeds the model's computing; the last step counts,
    as queues are empty in the first."""
    steps = report["seconds"]["steps"]
    return steps[-1] - report["compute"] if steps else 0.0


def rate(report):
    seconds = blocked(report)
    return report["step_bytes"] / seconds / 1e9 if seconds > 0 else 0.0


def most(report, count):
    """Returns a count per step of the rank that has most."""
    counts = report["counts"]
    return (counts["put"][count]["most"] + counts["end_step"][count]["most"]) / steps_of(report)


def table(reports):
    reads = any(r["seconds"]["restart"] + r["seconds"]["read"] > 0 for r in reports)
    columns = COLUMNS + READ_COLUMNS if reads else COLUMNS
    rows = [[name for name, _ in columns]]
    rows += [[show(r) for _, show in columns] for r in reports]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def run_of(options, ranks, method):
    servers = -(-ranks * options.servers // 100)
    settings = [f"method={method}"]
    if servers > 0:
        settings.append(f"servers={servers}; service=servers")
    if options.settings:
        settings.append(options.settings)
    given = {
        "workload": options.workload,
        "steps": options.steps,
        "compute": options.compute,
    } | dict(options.argument)
    return Run(
        ranks=ranks + servers,
        machine=options.machine,
        per_node=options.per_node,
        settings="; ".join(settings),
        arguments=given,
        numbers=dict(options.set),
        seconds=options.seconds,
    )
