# SPDX-License-Identifier: Apache-2.0
"""The report of `./run scale --report`: a page with pictures of a fixed matrix of runs.

The page depends only on the program and the matrix.
"""

from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

import compare
import matplotlib as mpl
import simulation

mpl.use("svg")
import matplotlib.pyplot as plt

COUNTS = (
    ("ms a step", lambda r: 1e3 * simulation.blocked(r)),
    ("messages of a rank in a step", lambda r: simulation.most(r, "messages")),
    ("MB that a rank sends in a step", lambda r: simulation.most(r, "message_bytes") / 1e6),
    ("heap of a rank, MB", lambda r: r["heap_bytes"]["most"] / 1e6),
    ("metadata operations", lambda r: r["metadata_operations"]),
    ("ms to open", lambda r: 1e3 * r["seconds"]["open"]),
    ("ms to close", lambda r: 1e3 * r["seconds"]["close"]),
)


@dataclass
class Matrix:
    """The runs of a report."""

    methods: dict  # ranks: methods
    workload: str  # for the methods and the services
    services: tuple  # numbers of ranks
    planned: tuple  # (machine, workload, ranks, services), to compare with the planner


QUICK = Matrix(
    methods={n: simulation.METHODS for n in (4, 16, 64)},
    workload="fv-b",
    services=(16, 64),
    planned=(("parallel", "fv-b", 16, ("inline", "background")),),
)
SMALL, LARGE = ("fv-b", "t85", "cmaq-ca"), ("fv-d", "pop")
FULL = Matrix(
    methods={n: simulation.METHODS for n in (16, 64, 256)} | {1024: ("record", "slabs", "rows")},
    workload="fv-d",
    services=(16, 64, 256),
    planned=(
        *(
            (m, w, 16, ("inline", "background", "servers"))
            for m in simulation.MACHINES
            for w in SMALL
        ),
        *((m, w, 16, ("inline",)) for m in simulation.MACHINES for w in LARGE),
        *((m, w, 64, ("inline",)) for m in simulation.MACHINES for w in SMALL + LARGE),
        ("parallel", "fv-b", 256, ("inline",)),
    ),
)


@dataclass
class Page:
    """The text of the page and its pictures."""

    lines: list = field(default_factory=list)
    pictures: dict = field(default_factory=dict)  # figures by file name
    missing: list = field(default_factory=list)

    def add(self, *paragraphs):
        for text in paragraphs:
            self.lines += [text, ""]

    def table(self, heads, rows):
        self.lines.append("| " + " | ".join(heads) + " |")
        self.lines.append("|" + "---|" * len(heads))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")

    def show(self, name, title, panels, x="ranks", columns=3):
        """Draws panels, given as title: {label: points}."""
        panels = {k: lines for k, lines in panels.items() if lines}
        if not panels:  # all runs failed
            return
        self.pictures[f"scale-{name}.svg"] = draw(panels, x, min(columns, len(panels)))
        self.add(f"![{title}](assets/scale-{name}.svg)")


def draw(panels, x, columns):
    """Returns a figure: a panel for each title, with logarithmic axes and a line for each label."""
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4 * columns, 3 * rows), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(panels) :]:
        axis.axis("off")
    for axis, (title, lines) in zip(axes.flat, panels.items(), strict=False):
        for label, points in lines.items():
            style = "k--" if label == "equal" else "o" if x == "simulated s" else "o-"
            axis.plot(*zip(*points, strict=True), style, ms=3, label=label)
        axis.set(title=title, xlabel=x, xscale="log", yscale="log")
        axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    handles = {}
    for axis in axes.flat:
        handles |= {label: h for h, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=8)
    return figure


class Reporter:
    def __init__(self, options, store, matrix):
        self.options, self.store, self.matrix = options, store, matrix
        self.page = Page()

    def report(self, ranks, workload, settings, servers=0, **arguments):
        """Returns the report of a run; None if it failed, which the page mentions."""
        on_node = min(self.options.per_node, ranks)
        nodes = -(-ranks // self.options.per_node)
        run = simulation.Run(
            ranks=ranks + servers,
            machine=self.options.machine,
            per_node=on_node + -(-servers // nodes),
            settings=settings + (f"; servers={servers}" if servers else ""),
            arguments={"workload": workload, "steps": 1} | arguments,
            numbers=dict(self.options.set),
            seconds=self.options.seconds,
        )
        try:
            report = self.store.report(run)
        except simulation.RunError as e:
            self.page.missing.append(f"{workload} on {ranks} ranks, {settings}: {e}")
            print(f"report: {self.page.missing[-1]}", flush=True)
            return None
        print(f"{workload:<22}{ranks:>6}  {settings}", flush=True)
        return report

    def make(self):
        self.begin()
        self.methods()
        self.services()
        self.planner()
        if self.page.missing:
            self.page.add("## Runs that failed", *self.page.missing)
        return self.page

    def begin(self):
        self.page.lines = [
            "# Simulated runs",
            "",
            f"Made by `./run scale --report {self.options.report}`; change the script, not the "
            f"page. Machine `{self.options.machine}`, {self.options.per_node} ranks a node, "
            f"SimGrid {simulation.version(self.options.build).split()[-1]}. What is simulated, and "
            "what that is good for: docs/simulation.md. Compare shapes, not seconds. "
            "Messages, bytes and heap are those of the rank that has most.",
            "",
        ]

    def methods(self):
        """Adds curves over the number of ranks to the page."""
        matrix, rows = self.matrix, []
        panels = {title: {} for title, _ in COUNTS}
        for ranks, methods in matrix.methods.items():
            for method in methods:
                report = self.report(ranks, matrix.workload, f"method={method}", steps=2)
                if report is None:
                    continue
                values = [show(report) for _, show in COUNTS]
                for lines, value in zip(panels.values(), values, strict=True):
                    lines.setdefault(method, []).append((ranks, value))
                rows.append(
                    [ranks, f"`{method}`", report["summary"]["writers"], *map(short, values)]
                )
        self.page.add(f"## Methods, by ranks: {matrix.workload.upper()}")
        title = (
            f"Time, messages, bytes, memory and metadata of each method by ranks, {matrix.workload}"
        )
        self.page.show("methods", title, panels)
        self.page.table(["ranks", "method", "writers", *(title for title, _ in COUNTS)], rows)

    def services(self):
        """Adds the time for which a step blocks the model to the page."""
        matrix, rows = self.matrix, []
        panels = {"ms that a step blocks the model": {}, "ms to close": {}}
        for ranks in matrix.services:
            nodes = -(-ranks // self.options.per_node)
            for service, servers in (("inline", 0), ("background", 0), ("servers", nodes)):
                settings = f"method=record; service={service}"
                report = self.report(ranks, matrix.workload, settings, servers, steps=3, compute=1)
                if report is None:
                    continue
                values = (1e3 * simulation.blocked(report), 1e3 * report["seconds"]["close"])
                for lines, value in zip(panels.values(), values, strict=True):
                    lines.setdefault(service, []).append((ranks, value))
                rows.append([ranks, f"`{service}`", servers or "", *map(short, values)])
        self.page.add(
            "## Services",
            f"{matrix.workload.upper()}, method `record`, 1 s of computing a step, one server "
            "a node on a core of its own. What is hidden is an upper bound: messages make progress "
            "by themselves.",
        )
        self.page.show("services", "What a step blocks the model for, by service", panels)
        self.page.table(
            ["ranks", "service", "servers", "ms in calls of a step", "ms to close"], rows
        )

    def planner(self):
        """Adds predictions and choices for every case of the matrix to the page."""
        found = compare.Found()
        for machine, workload, ranks, services in self.matrix.planned:
            options = Namespace(**vars(self.options))
            options.services, options.methods = services, list(simulation.METHODS)
            compare.collect(options, self.store, machine, workload, ranks, found)
        cases = found.cases
        if found.failed:
            self.page.missing.append(f"{found.failed} runs for predictions")
        self.page.add(
            "## Predictions",
            f"`./run plan` with the machine's figures as a calibration, against {len(cases)} "
            "simulated runs: each method, writers and servers of a sweep, on the machines, "
            'workloads and ranks of the last table. "Calls" is what a step takes of the model, '
            '"rest" what is written after the last step.',
        )
        self.page.table(
            ["service", "seconds", "runs", "within 30 %", "least ratio", "median", "greatest"],
            [
                [f"`{e.service}`", e.part, e.runs, f"{100 * e.near / e.runs:.0f} %",
                 f"{e.least:.2f}", f"{e.median:.2f}", f"{e.most:.2f}"]
                for e in compare.errors(cases)
            ],
        )  # fmt: skip
        self.page.show(
            "predictions", "Predicted and simulated times", scatter(cases), "simulated s"
        )
        self.page.add(
            "How many of the predictions of a step's calls with service `inline` are within 30 %, "
            "by method:"
        )
        self.page.table(
            ["method", "runs", "within 30 %", "least ratio", "greatest"], by_method(cases)
        )
        self.page.add(
            "## Choices",
            "What `./run plan` advises with `service=inline`, and the best setting of the sweep, "
            "ms a step:",
        )
        rows = []
        for machine, workload, ranks, case, best in found.chosen:
            took, least = (compare.simulated(c)["calls"] for c in (case, best))
            summary = case.report["summary"]
            rows.append(
                [
                    f"`{machine}`",
                    f"`{workload}`",
                    ranks,
                    f"`{summary['method']}`, {summary['writers']} writers",
                    short(1e3 * took),
                    best.label.replace("; writers=", ", "),
                    short(1e3 * least),
                    f"{took / least:.2f}",
                ]
            )
        self.page.table(
            ["machine", "workload", "ranks", "advised", "ms", "best", "ms", "ratio"], rows
        )
        good = sum(float(row[-1]) <= 1.1 for row in rows)
        self.page.add(f"{good} of {len(rows)} choices are within 10 % of the best.")


def short(value):
    """Formats a number with three digits and no exponent."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):g}"


def scatter(cases):
    """Returns a panel for each service: predicted and simulated seconds."""
    panels = {}
    for service in ("inline", "background", "servers"):
        lines = panels.setdefault(f"{service}: predicted s, by simulated", {})
        for part in ("calls", "rest"):
            points = [
                (compare.simulated(c)[part], compare.predicted(c)[part])
                for c in cases
                if c.service == service and part in compare.ratios(c)
            ]
            if points:
                lines[part] = sorted(points)
        if lines:
            seen = [x for points in lines.values() for x, _ in points]
            lines["equal"] = [(x, x) for x in (min(seen), max(seen))]
    return panels


def by_method(cases):
    rows = []
    for method in simulation.METHODS:
        values = sorted(
            compare.ratios(c)["calls"]
            for c in cases
            if c.service == "inline" and c.method == method and "calls" in compare.ratios(c)
        )
        if values:
            near = sum(1 / compare.NEAR <= v <= compare.NEAR for v in values)
            rows.append(
                [f"`{method}`", len(values), f"{100 * near / len(values):.0f} %",
                 f"{values[0]:.2f}", f"{values[-1]:.2f}"]
            )  # fmt: skip
    return rows


def write(options, store):
    """Writes the page and its pictures; returns the number of failed runs."""
    matrix = FULL if options.report == "full" else QUICK
    page = Reporter(options, store, matrix).make()
    folder = Path(options.output)
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "scale-results.md").write_text("\n".join(page.lines).rstrip() + "\n")
    for name, figure in page.pictures.items():
        figure.savefig(folder / "assets" / name)
    print(f"{folder / 'scale-results.md'}")
    return len(page.missing)
