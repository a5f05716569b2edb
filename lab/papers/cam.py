# SPDX-License-Identifier: Apache-2.0
"""Tseng and Ding 2008: parallel output of the Community Atmosphere Model."""

from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, Chart, Figure, Line, Table, at_ranks, percent, times
from .presets import Preset, measuring
from .runs import Results, Run

SEQUENTIAL = "peer-serial-default"
LABELS = {
    SEQUENTIAL: "sequential (gather, netCDF-C)",
    "serial": "serial",
    "direct": "direct (PnetCDF)",
    "slabs": "slabs",
    "record": "record",
}


def staging(ranks: int) -> str:
    """Returns the paper's method: slabs by PnetCDF on all ranks up to 32."""
    return f"slabs:storage=pnetcdf:writers={min(ranks, 32)}"


STAGING_LABEL = "slabs by PnetCDF (the paper's)"


def name_of(workload: str, ranks: int) -> str:
    return f"cam-{workload}-p{ranks}"


def hybrid_name(ranks: int, threads: int) -> str:
    return f"cam-hybrid-{ranks}x{threads}"


def runs(preset: Preset) -> list[Run]:
    result = []
    for workload, (scale, ranks) in preset.cam.items():
        for p in ranks:
            methods = ["raw", *LABELS, staging(p)]
            arguments = (workload, "--scale", f"{scale:g}", "--methods", ",".join(methods))
            result.append(Run(name_of(workload, p), p, arguments + measuring(preset)))
    scale = preset.cam["fv-c"][0]
    for p, threads in preset.hybrid:
        methods = [f"record:threads={threads}", f"slabs:threads={threads}"]
        arguments = ("fv-c", "--scale", f"{scale:g}", "--methods", ",".join(["raw", *methods]))
        result.append(Run(hybrid_name(p, threads), p, arguments + measuring(preset)))
    return result


def step_seconds(row: dict) -> float:
    return row["median_seconds"] / row["steps"]


def series(results: Results, workload: str, ranks: tuple[int, ...], figure: str) -> list[Line]:
    """Returns a line per method: the values of `figure` over the numbers of ranks."""
    lines = []
    for method, label in [*LABELS.items(), (None, STAGING_LABEL)]:
        points = []
        for p in ranks:
            row = results.rows(name_of(workload, p)).get(method or staging(p))
            if row:
                points.append((p, row[figure]))
        if points:
            lines.append(Line(label, [x for x, _ in points], [y for _, y in points]))
    return lines


def best(results: Results, workload: str, ranks: tuple[int, ...]) -> tuple | None:
    """Returns (rate, ranks, label) of the fastest parallel method, and the best rate of the
    sequential one."""
    fastest, sequential = None, 0.0
    for p in ranks:
        rows = results.rows(name_of(workload, p))
        for method in ("slabs", "record", staging(p)):
            if method in rows and (not fastest or rows[method]["mb_per_s"] > fastest[0]):
                fastest = (rows[method]["mb_per_s"], p, LABELS.get(method, STAGING_LABEL))
        if SEQUENTIAL in rows:
            sequential = max(sequential, rows[SEQUENTIAL]["mb_per_s"])
    return (*fastest, sequential) if fastest and sequential else None


def scale_text(preset: Preset, workload: str) -> str:
    scale, ranks = preset.cam[workload]
    grid = "the paper's grid" if scale == 1 else f"{scale:g} of the paper's grid each way"
    return f"{grid}; {', '.join(map(str, ranks))} ranks instead of up to 1024 processors"


def missing(results: Results, workload: str, ranks: tuple[int, ...]) -> list[tuple[str, str]]:
    names = [name_of(workload, p) for p in ranks]
    lacking = results.missing(names, LABELS)
    return [(LABELS[m], why) for m, why in lacking]


def bandwidth(
    results: Results,
    preset: Preset,
    folder: Path,
    workload: str,
    source: str,
    paper: float,
    levels: list[tuple[str, float]],
    reference: list[str],
) -> Figure:
    ranks = preset.cam[workload][1]
    figure = Figure(
        f"cam-bandwidth-{workload}",
        source,
        f"Bandwidth of {workload.upper()} history against ranks",
        f"Remapped parallel output is about {paper:g} times as fast as the sequential path.",
        reference=reference,
        scaled=scale_text(preset, workload),
        missing=missing(results, workload, ranks),
    )
    chart = Chart(folder, figure.name)
    chart.lines(series(results, workload, ranks, "mb_per_s"), "ranks", "MB/s", log="xy")
    chart.levels(levels)
    figure.image = chart.save()
    found = best(results, workload, ranks)
    if found:
        rate, p, label, sequential = found
        ratio = rate / sequential
        figure.verdict = HOLDS if ratio >= 0.8 * paper else IN_PART if ratio > 1.1 else NOT
        less = "" if ratio >= 0.8 * paper else ", less than in the paper: one local disk here"
        figure.finding = (
            f"{label} reaches {rate:,.0f} MB/s at {at_ranks(p)}, {times(ratio)} the "
            f"sequential path's best, {sequential:,.0f} MB/s{less}."
        )
    return figure


def breakdown(results: Results, preset: Preset, folder: Path) -> Figure:
    figure = Figure(
        "cam-breakdown",
        "CAM, fig. 7",
        "Remapping and writing against ranks (slabs by PnetCDF)",
        "Remapping takes about 15 % of the I/O time of FV-D, and less with more ranks.",
        reference=["remapping: roughly 15 % of the I/O time of FV-D"],
        scaled=f"FV-C: {scale_text(preset, 'fv-c')}; FV-D: {scale_text(preset, 'fv-d')}",
    )
    chart = Chart(folder, figure.name, panels=2)
    shares = []
    for panel, workload in enumerate(("fv-c", "fv-d")):
        ranks = preset.cam[workload][1]
        rows = [(p, results.rows(name_of(workload, p)).get(staging(p))) for p in ranks]
        rows = [(p, row) for p, row in rows if row]
        lines = [
            Line("total", [p for p, _ in rows], [step_seconds(r) for _, r in rows]),
            *(
                Line(
                    phase, [p for p, _ in rows], [r["phases"][phase] / r["steps"] for _, r in rows]
                )
                for phase in ("remap", "write")
            ),
        ]
        chart.lines(lines, "ranks", "seconds a step", panel, "xy", workload.upper())
        if workload == "fv-d":
            shares = [(p, r["phases"]["remap"] / r["median_seconds"]) for p, r in rows]
        if not rows:
            why = results.reason(name_of(workload, ranks[0]), staging(ranks[0]))
            figure.missing.append((f"{workload.upper()}: {STAGING_LABEL}", why))
    figure.image = chart.save()
    if shares:
        first, last = shares[0], shares[-1]
        falls = last[1] <= first[1]
        figure.verdict = HOLDS if last[1] <= 0.2 and falls else IN_PART if falls else NOT
        figure.finding = (
            f"Remapping takes {percent(first[1])} of FV-D's time at {at_ranks(first[0])} "
            f"and {percent(last[1])} at {last[0]}."
        )
    return figure


def sizes(results: Results, preset: Preset, folder: Path) -> Figure:
    figure = Figure(
        "cam-sizes",
        "CAM, fig. 8",
        "Time of a step against its size",
        "The sequential time grows in proportion to the size, the parallel time hardly.",
        reference=["sequential: linear in the size; parallel: almost constant, 128 processors"],
        scaled="the largest rank count of each resolution",
    )
    points: dict[str, list[tuple[float, float]]] = {}
    wanted = {SEQUENTIAL: LABELS[SEQUENTIAL], "record": "record", None: STAGING_LABEL}
    for workload, (_, ranks) in preset.cam.items():
        p = ranks[-1]
        rows = results.rows(name_of(workload, p))
        for method, label in wanted.items():
            row = rows.get(method or staging(p))
            if row:
                size = row["bytes"] / row["steps"] / 1e6
                points.setdefault(label, []).append((size, step_seconds(row)))
            else:
                why = results.reason(name_of(workload, p), method or staging(p))
                figure.missing.append((f"{workload}: {label}", why))
    chart = Chart(folder, figure.name)
    lines = []
    for label, found in points.items():
        found.sort()
        lines.append(Line(label, [x for x, _ in found], [y for _, y in found]))
    chart.lines(lines, "MB a step", "seconds a step", log="")
    figure.image = chart.save()

    def growth(label: str) -> float:
        found = points.get(label, [])
        return (found[-1][1] / found[0][1]) / (found[-1][0] / found[0][0]) if found else 0

    sequential, parallel = growth(LABELS[SEQUENTIAL]), growth("record")
    if sequential and parallel:
        linear, flat = 0.5 < sequential < 2, parallel < 0.5
        figure.verdict = HOLDS if linear and flat else IN_PART if linear else NOT
        smallest, largest = (points["record"][i] for i in (0, -1))
        figure.finding = (
            f"From {smallest[0]:.1f} to {largest[0]:.1f} MB a step the sequential time grows "
            f"{sequential:.1f} times as much as the size, that of record {parallel:.1f} times as "
            f"much{'' if flat else ': one disk takes the bytes here, however many ranks there are'}"
            "."
        )
    return figure


def century(results: Results, preset: Preset, folder: Path) -> Figure:
    intervals = {"weekly": 36500 / 7, "daily": 36500, "3-hourly": 292000}
    figure = Figure(
        "cam-century",
        "CAM, table 3",
        "Output of 100 simulated years of FV-D: hours of wall clock",
        "Daily output of a century costs more than 8 days sequentially, less than 1 in parallel.",
        reference=[
            "daily: more than 8 days sequentially, less than 1 day in parallel",
            "3-hourly: more than a month (21 % of the run) against 3 days",
            "weekly: about 1 % of the run",
        ],
        scaled=f"from the measured rates, for the paper's 785 MB a step; "
        f"{scale_text(preset, 'fv-d')}",
    )
    p = preset.cam["fv-d"][1][-1]
    rows = results.rows(name_of("fv-d", p))
    chosen = {SEQUENTIAL: LABELS[SEQUENTIAL], "serial": "serial", "record": "record"}
    hours = {}
    for method, label in chosen.items():
        if method in rows:
            step = 785.3 / rows[method]["mb_per_s"] / 3600
            hours[label] = [step * n for n in intervals.values()]
        else:
            figure.missing.append((label, results.reason(name_of("fv-d", p), method)))
    paper = {
        "paper, sequential (SP5)": ["about 1 % of the run", "> 192", "> 720"],
        "paper, parallel (SP5)": ["", "< 24", "72"],
    }
    table = [[k, *(f"{h:,.1f}" for h in v)] for k, v in hours.items()]
    table += [[k, *v] for k, v in paper.items()]
    figure.tables = [Table([f"hours ({p} ranks)", *intervals], table)]
    chart = Chart(folder, figure.name)
    chart.bars(list(intervals), list(hours.items()), "hours a century", log=True)
    figure.image = chart.save()
    sequential, parallel = hours.get(chosen[SEQUENTIAL]), hours.get("record")
    if sequential and parallel:
        ratio = sequential[1] / parallel[1]
        figure.verdict = HOLDS if ratio >= 8 else IN_PART if ratio > 1.1 else NOT
        figure.finding = (
            f"A century of daily FV-D output takes {sequential[1]:.1f} h sequentially and "
            f"{parallel[1]:.1f} h by record, {times(ratio)} less (paper: about 9 times)."
        )
    return figure


def hybrid(results: Results, preset: Preset, folder: Path) -> Figure:
    figure = Figure(
        "cam-threads",
        "CAM, figs. 3 to 6, threads",
        "The same cores as ranks or as threads (FV-C)",
        "Output is faster with fewer ranks of more threads.",
        reference=["SP3: 8 or 16 threads a rank are fastest, 1 is slowest by far"],
        scaled=f"{scale_text(preset, 'fv-c').split(';')[0]}; setting threads, the pack pass alone",
    )
    groups = [f"{p} x {t}" for p, t in preset.hybrid]
    values: dict[str, list[float | None]] = {}
    packs: dict[str, list[float | None]] = {}
    for method in ("record", "slabs"):
        for p, t in preset.hybrid:
            run, name = hybrid_name(p, t), f"{method}:threads={t}"
            row = results.rows(run).get(name)
            values.setdefault(method, []).append(row["mb_per_s"] if row else None)
            packs.setdefault(method, []).append(
                1000 * row["phases"]["remap"] / row["steps"] if row else None
            )
            if not row:
                figure.missing.append((f"{method}, {p} x {t}", results.reason(run, name)))
    chart = Chart(folder, figure.name, panels=2)
    chart.bars(groups, list(values.items()), "MB/s", title="rate, ranks x threads")
    chart.bars(groups, list(packs.items()), "ms a step", panel=1, title="remap, ranks x threads")
    figure.image = chart.save()
    measured = [(g, v) for g, v in zip(groups, values["record"], strict=True) if v]
    if len(measured) > 1:
        ranks, threads = measured[0], measured[-1]
        ratio = threads[1] / ranks[1]
        figure.verdict = HOLDS if ratio > 1.1 else NOT
        figure.finding = (
            f"record writes {threads[1]:,.0f} MB/s as {threads[0]} and {ranks[1]:,.0f} MB/s as "
            f"{ranks[0]}: {times(ratio)} as much."
        )
    elif measured:
        figure.finding = f"record writes {measured[0][1]:,.0f} MB/s as {measured[0][0]}."
    return figure


def figures(results: Results, preset: Preset, folder: Path) -> list[Figure]:
    d_levels = [
        ("paper SP5 parallel", 380),
        ("SP3 parallel", 139),
        ("SP5 sequential", 44),
        ("SP3 sequential", 10),
    ]
    d_reference = [
        "IBM SP3: 139 MB/s against 10 MB/s, 14 times",
        "IBM SP5: 380 MB/s against 44 MB/s, 9 times",
    ]
    return [
        bandwidth(
            *(results, preset, folder, "t85", "CAM, fig. 3", 4, []),
            ["IBM SP3: about 4 times (the poster: 3 times)"],
        ),
        bandwidth(
            *(results, preset, folder, "fv-d", "CAM, figs. 4 and 5", 9, d_levels), d_reference
        ),
        bandwidth(
            *(results, preset, folder, "fv-c", "CAM, fig. 6", 2, []),
            [
                "IBM SP5: parallel faster, growing up to 128 processors (no figures in the text)",
                "BlueGene/L: the sequential path does not run at all",
            ],
        ),
        bandwidth(
            *(results, preset, folder, "fv-b", "CAM, poster", 2, []), ["IBM SP: about 2 times"]
        ),
        breakdown(results, preset, folder),
        sizes(results, preset, folder),
        century(results, preset, folder),
        hybrid(results, preset, folder),
    ]
