# SPDX-License-Identifier: Apache-2.0
"""The papers' curves on a simulated machine, beside the papers' findings.

Compare shapes, not seconds: the machine is none of the papers'.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import scale
from svg import Line, Panel

# POP's time to compute an hour, relative to the output of that hour by one rank (Huang et al.: 396
# s of computing, 2850 s of output).
POP_COMPUTE = 396 / 2850

AGREES, IN_PART, NOT = "agrees", "agrees in part", "does not agree"


@dataclass
class Curve:
    """A curve, its table, and the judgement of its shape."""

    name: str
    title: str
    paper: str  # the paper's finding
    panel: Panel
    heads: list
    rows: list = field(default_factory=list)
    verdict: str = NOT
    finding: str = ""

    def sentence(self):
        return f"the shape {self.verdict}: {self.finding}"

    def judge(self, *findings):
        """Judges findings, given as pairs: whether it is as in the paper, and what was found."""
        good = [as_paper for as_paper, _ in findings]
        self.verdict = AGREES if all(good) else IN_PART if any(good) else NOT
        self.finding = "; ".join(text for _, text in findings) + "."


class Lab:
    """The machine on which the curves' runs are simulated."""

    def __init__(self, options, store):
        self.options, self.store = options, store

    def report(self, ranks, workload, settings, **arguments):
        options = self.options
        return self.store.report(
            scale.Run(
                ranks=ranks,
                machine=options.machine,
                per_node=options.per_node,
                settings=settings,
                arguments={"workload": workload, "steps": 2} | arguments,
                numbers=dict(options.set),
                seconds=options.seconds,
            )
        )

    def step(self, ranks, workload, settings, **arguments):
        return scale.blocked(self.report(ranks, workload, settings, **arguments))


def rises(values, slack=0.95):
    return all(b >= slack * a for a, b in pairwise(values))


def cam(lab, ranks, workload="fv-c"):
    """Returns the curve of the speed-up over one writing rank."""
    curve = Curve(
        "cam",
        f"CAM {workload.upper()}: times faster than one writing rank",
        "the gain grows with the ranks, to 14 times (IBM SP3) and 9 times (SP5) with FV-D, and 64 "
        "ranks are about enough",
        Panel("CAM: times faster than serial", "ranks", log_y=False),
        ["ranks", "`slabs`", "`record`"],
    )
    found = {"slabs": [], "record": []}
    for n in ranks:
        serial = lab.step(n, workload, "method=serial")
        for method, points in found.items():
            took = lab.step(n, workload, f"method={method}; writers={min(n, 32)}")
            points.append((n, serial / took))
        curve.rows.append([n, *(f"{points[-1][1]:.1f}" for points in found.values())])
    curve.panel.lines = [Line(method, points) for method, points in found.items()]
    curve.panel.lines += [
        Line("paper, SP3", [(64, 14)], reference=True),
        Line("paper, SP5", [(64, 9)], reference=True),
    ]
    best = max(gain for _, gain in found["slabs"])
    # The paper had 32 writers; more ranks do not add any.
    up_to_64 = [gain for n, gain in found["slabs"] if n <= 64]
    grows = rises(up_to_64) and up_to_64[-1] > 1.5 * up_to_64[0]
    curve.judge(
        (grows, f"the gain {'grows' if grows else 'does not always grow'} up to 64 ranks"),
        (best >= 6, f"it reaches {best:.1f} times with `slabs`"),
    )
    return curve


def cfio(lab, ranks, workload="pop", part=0.25):
    """Returns the curve of the speed-up of a run over one with serial output, by number of
    servers.
    @param part: fraction of the grid's extents, as each run writes several steps"""
    serial = lab.step(ranks, workload, "method=serial", steps=1, scale=part)
    compute = round(POP_COMPUTE * serial, 4)
    steps = 6
    before = steps * (compute + serial)
    bound = before / (steps * compute)
    curve = Curve(
        "cfio",
        f"CFIO, POP with {part:g} of its extents on {ranks} ranks: times faster than with serial "
        "output",
        f"6.9 times with 32 servers for 1280 ranks (2.5 for each 100), 7.9 times with 64; if all "
        f"output were hidden it would be {bound:.1f}",
        Panel(
            "CFIO: times faster than serial", "servers for each 100 ranks", log_x=False, log_y=False
        ),
        ["servers", "times faster"],
    )
    points = []
    for servers in sorted({max(1, ranks * share // 100) for share in (1, 2, 4, 8, 16)}):
        settings = f"method=record; service=servers; servers={servers}"
        report = lab.report(
            ranks + servers, workload, settings, steps=steps, compute=compute, scale=part
        )
        took = sum(report["seconds"]["steps"]) + report["seconds"]["close"]
        points.append((100 * servers / ranks, before / took))
        curve.rows.append([servers, f"{before / took:.1f}"])
    curve.panel.lines = [
        Line("servers", points),
        Line("paper, POP", [(2.5, 6.9), (5, 7.9)], reference=True),
    ]
    gains = [gain for _, gain in points]
    near = max(gains) > 0.6 * bound
    curve.judge(
        (rises(gains), "the gain grows with the servers"),
        (
            near,
            f"from {gains[0]:.1f} to {gains[-1]:.1f} times; a few servers write a smaller part of "
            "what this file system takes than in the paper, so that more are needed",
        ),
    )
    return curve


def cmaq(lab, ranks, workload="cmaq-ca"):
    """Returns the curve that compares rows with columns, by number of stripes of the file."""
    methods = ("rows", "columns", "direct", "serial")
    curve = Curve(
        "cmaq",
        f"{workload.upper()} with 24 species on {ranks} ranks: ms a step by stripes of the file",
        "rows beat columns, `direct` falls behind rows as ranks grow, 5 to 11 stripes are best",
        Panel("CMAQ: ms a step", "stripes"),
        ["stripes", *(f"`{m}`" for m in methods)],
    )
    found = {method: [] for method in methods}
    for stripes in (2, 5, 11, 20, 40):
        for method, points in found.items():
            settings = f"method={method}; stripes={stripes}:1MiB"
            took = lab.step(ranks, workload, settings, steps=1, variables=24)
            points.append((stripes, 1e3 * took))
        curve.rows.append([stripes, *(f"{points[-1][1]:.0f}" for points in found.values())])
    curve.panel.lines = [Line(method, points) for method, points in found.items()]

    def beats(one, other):
        pairs = zip(found[one], found[other], strict=True)
        return all(a <= b for (_, a), (_, b) in pairs)

    best = min(found["rows"], key=lambda p: p[1])[0]
    curve.judge(
        (beats("rows", "columns"), "rows beat columns" if beats("rows", "columns") else "columns"
         " beat rows somewhere"),
        (beats("rows", "direct"), "`direct` is behind rows" if beats("rows", "direct") else
         "`direct` is not always behind rows"),
        (
            2 < best < 40,
            f"{best} stripes are best"
            + ("" if best < 40 else ", as other users and the cost of many stripes are left out"),
        ),
    )  # fmt: skip
    return curve


def mom5(lab, ranks, workload="mom5-025"):
    """Returns the curves of I/O layouts, by number of writers on each node."""
    per_node = (1, 2, 4, 8)
    curve = Curve(
        "mom5",
        f"MOM5 ({workload}), method `tiles`: ms a step by writers on each node",
        "writing takes less time with more ranks, a little more with more writers on each node, "
        "and 10 to 34 times as long by one rank (0.1 degrees, 720 and 1440 ranks)",
        Panel("MOM5: ms a step", "ranks"),
        ["ranks", "`serial`", *(f"{n}/node" for n in per_node)],
    )
    found = {"serial": []} | {f"{n}/node": [] for n in per_node}
    for n in ranks:
        for way, points in found.items():
            settings = "method=serial" if way == "serial" else f"method=tiles; writers={way}"
            points.append((n, 1e3 * lab.step(n, workload, settings, steps=1)))
        curve.rows.append([n, *(f"{points[-1][1]:.0f}" for points in found.values())])
    curve.panel.lines = [Line(way, points) for way, points in found.items()]
    one = [ms for _, ms in found["1/node"]]
    slower = found["serial"][-1][1] / min(p[-1][1] for p in found.values())
    more = found["8/node"][-1][1] >= found["1/node"][-1][1]
    curve.judge(
        (rises([-ms for ms in one], 1.05), "with a writer on each node, more ranks write faster"
         if rises([-ms for ms in one], 1.05) else "more ranks do not always write faster"),
        (slower > 3, f"one rank takes {slower:.1f} times as long as the best layout"),
        (more, f"on {ranks[-1]} ranks, eight writers a node are "
         f"{'slower' if more else 'faster'} than one"),
    )  # fmt: skip
    return curve


def curves(lab, ranks, ways=()):
    """Yields the selected curves."""
    for name, make in (
        ("cam", lambda: cam(lab, ranks)),
        ("cfio", lambda: cfio(lab, ranks[-1])),
        ("cmaq", lambda: cmaq(lab, ranks[-1])),
        ("mom5", lambda: mom5(lab, ranks)),
    ):
        if not ways or name in ways:
            yield make()


def papers(options, store):
    """Prints the curves."""
    for curve in curves(Lab(options, store), options.ranks, options.ways):
        rows = [curve.heads, *[[str(cell) for cell in row] for row in curve.rows]]
        print(f"\n{curve.title}\n(paper: {curve.paper})")
        print("\n".join("".join(f"{cell:>12}" for cell in row) for row in rows))
        print(curve.sentence(), flush=True)
