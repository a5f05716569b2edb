# SPDX-License-Identifier: Apache-2.0
"""Measures a machine, predicts runs from that, makes these runs, and compares.

To be started in a job, on its first node; it starts each program by the command --launch.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import scale
import simulation

PLAN = Path(__file__).resolve().parent.parent / "plan"
HEADS = ("ranks", "nodes", "method", "writers", "GB a step", "measured s", "predicted s", "ratio")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--bin", default="build/release/bin", metavar="FOLDER", help="of the programs")
    add("--launch", default="mpirun -n {ranks}", metavar="COMMAND",
        help="with {ranks} and {nodes}: 'srun -n {ranks} -N {nodes}'")  # fmt: skip
    add("--ranks", type=scale.numbers, required=True, metavar="N,N", help="of the runs")
    add("--per-node", type=int, required=True, metavar="N", help="ranks of a node")
    add("--folder", default=".", help="where the files go: of the file system to be measured")
    add("--workload", default="fv-d", help="of thalweg-bench --list")
    add("--scale", type=float, default=1, help="part of its grid's extents")
    add("--methods", default="record,slabs,serial", metavar="M,M")
    add("--settings", default="", help="of the library: 'name=value;...'")
    add("--steps", type=int, default=5)
    add("--seconds", type=float, default=20, help="for measuring the machine")
    add("--limit", type=float, default=600, metavar="S", help="for each program, at most")
    add("--output", default="site", metavar="FOLDER", help="for calibration.toml and site.md")
    return parser.parse_args(arguments)


def description(report, file_system, folder):
    """Returns the description of a run that was made, for ./run plan."""
    plan = report["plan"]
    settings = {s["name"]: s["value"] for s in report["summary"]["settings"]}
    lines = [
        f"ranks = {report['ranks'] - report['servers']}",
        f"nodes = {report['nodes']}",
        f"cores = {report['cores']}",
        f"file_system = {json.dumps(file_system)}",
        f"folder = {json.dumps(folder)}",
        f"step_seconds = {report['compute']}",
        "output_interval = 1",
        # A long run, in which files are hardly ever created.
        "outputs = 1000",
        f'decomposition = "{plan["decomposition"]}"',
        *([f"list_run = {plan['list_run']}"] if "list_run" in plan else []),
        # Methods with a fixed number of writers do not have the setting.
        *([f'writers = "{settings["writers"]}"'] if settings.get("writers") else []),
        "[dimensions]",
        *(f"{name} = {length}" for name, length in plan["dimensions"].items()),
    ]
    for v in plan["variables"]:
        lines += [
            "[[variables]]",
            *(f"{k} = {json.dumps(v[k])}" for k in ("count", "type", "dims")),
        ]
    return "\n".join(lines) + "\n"


class Site:
    def __init__(self, options):
        self.options = options
        self.bin = Path(options.bin).resolve()
        self.folder = Path(options.folder).resolve()
        self.output = Path(options.output).resolve()
        self.output.mkdir(parents=True, exist_ok=True)

    def start(self, ranks, *command):
        """Runs a program on some ranks. Returns its output."""
        nodes = -(-ranks // self.options.per_node)
        launch = shlex.split(self.options.launch.format(ranks=ranks, nodes=nodes))
        command = [*launch, *map(str, command)]
        limit = self.options.limit
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise simulation.RunError(
                f"{shlex.join(command)}: not done after {limit:g} s"
            ) from None
        if done.returncode != 0:
            raise simulation.RunError(
                f"{shlex.join(command)}: ended with {done.returncode}:\n{done.stderr}"
            )
        return done.stdout

    def messages(self):
        """Measures messages between the first node and the last one."""
        text = self.start(max(self.options.ranks), self.bin / "scale-messages")
        return json.loads(text.strip().splitlines()[-1])

    def calibrate(self, ranks):
        """Measures the machine with as many ranks as the run has. Returns the file of the
        figures."""
        path = self.output / f"calibration-{ranks}.toml"
        self.start(
            *(ranks, self.bin / "thalweg-plan", "calibrate", "--folder", self.folder),
            *("--seconds", self.options.seconds, "-o", path),
        )
        return path

    def run(self, ranks, method):
        """Makes a run. Returns its report."""
        options = self.options
        settings = f"service=inline;method={method}"
        if options.settings:
            settings += f";{options.settings}"
        with tempfile.TemporaryDirectory(prefix="thalweg-site.", dir=self.folder) as made:
            report = Path(made) / "report.json"
            self.start(
                *(ranks, self.bin / "thalweg-scale", f"workload={options.workload}"),
                *(f"scale={options.scale:g}", f"steps={options.steps}", "fields=yes"),
                *(f"settings={settings}", f"file={Path(made) / 'out.nc'}", f"json={report}"),
            )
            found = json.loads(report.read_text())
        found["nodes"] = -(-ranks // options.per_node)
        found["cores"] = min(ranks, options.per_node)
        return found

    def predict(self, report, calibration):
        """Returns the planner's seconds in the calls of a step; 0 if it does not know the way."""
        system = tomllib.loads(calibration.read_text())["folder"][0]["file_system"]
        with tempfile.TemporaryDirectory(prefix="thalweg-site.") as made:
            run = Path(made) / "run.toml"
            run.write_text(description(report, system, str(self.folder)))
            command = [sys.executable, PLAN, "--program", self.bin / "thalweg-plan", run]
            command += ["--json", "--calibration", calibration]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise simulation.RunError(done.stderr)
        for o in json.loads(done.stdout)["options"]:
            way = (o["service"], o["method"], o["own_files"])
            if way == (report["summary"]["service"], report["summary"]["method"], False):
                return o["seconds_in_calls"]
        return 0

    def row(self, method, report, calibration):
        """Returns measured and predicted seconds of a step."""
        # The first step is slow, as memory and file are used for the first time.
        steps = sorted(report["seconds"]["steps"][1:] or report["seconds"]["steps"])
        measured = steps[len(steps) // 2]
        predicted = self.predict(report, calibration)
        return [
            report["ranks"],
            report["nodes"],
            method,
            report["summary"]["writers"],
            f"{report['step_bytes'] / 1e9:.3g}",
            f"{measured:.3g}",
            f"{predicted:.3g}",
            f"{predicted / measured:.2f}",
        ]


def in_words(messages):
    """Returns a text that describes the measured messages and compares them with the simulated."""
    own = messages["arrived"] < 0.5 * messages["computing"]
    progress = (
        "messages make progress by themselves, as in the simulation."
        if own
        else "only when the sender calls MPI again, so that what servers hide in the simulation is "
        "not hidden here."
    )
    return (
        f"Messages between the first rank and the last: {1e6 * messages['latency']:.2f} us, "
        f"{messages['message'] / 1e9:.2f} GB/s. 100 MB whose sender computes for "
        f"{messages['computing']:g} s arrive after {messages['arrived']:.2f} s: {progress}"
    )


def main(arguments):
    options = parse(arguments)
    site = Site(options)
    try:
        lines = [in_words(site.messages()), ""]
        lines.append("| " + " | ".join(HEADS) + " |")
        lines.append("|" + "---|" * len(HEADS))
        print("\n".join(lines), flush=True)
        for ranks in options.ranks:
            calibration = site.calibrate(ranks)
            for method in options.methods.split(","):
                row = site.row(method, site.run(ranks, method), calibration)
                lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
                print(lines[-1], flush=True)
    except (simulation.RunError, OSError) as e:
        print(f"site: {e}", file=sys.stderr)
        return 1
    (site.output / "site.md").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
