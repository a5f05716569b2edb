# SPDX-License-Identifier: Apache-2.0
"""Tseng and Ding 2008: parallel output of the Community Atmosphere Model."""

from .presets import Preset, measuring
from .report import HOLDS, NOT, Figure, graded, judged, known, percent, times
from .runs import Results, Run

SEQUENTIAL = "sequential (gather, netCDF-C)"
STAGING = "slabs by PnetCDF (the paper's)"
METHODS = {
    SEQUENTIAL: "peer-serial-default",
    "serial": "serial",
    "direct (PnetCDF)": "direct",
    "slabs": "slabs",
    "record": "record",
}


def staging(ranks: int) -> str:
    """Returns the paper's method: slabs by PnetCDF on all ranks up to 32."""
    return f"slabs:storage=pnetcdf:writers={min(ranks, 32)}"


def methods_of(run: str) -> dict[str, str]:
    return METHODS | {STAGING: staging(int(run.rpartition("-p")[2]))}


def name_of(workload: str, ranks: int) -> str:
    return f"cam-{workload}-p{ranks}"


def hybrid_name(ranks: int, threads: int) -> str:
    return f"cam-hybrid-{ranks}x{threads}"


def runs(preset: Preset) -> list[Run]:
    result = []
    for workload, (scale, ranks) in preset.cam.items():
        for p in ranks:
            name = name_of(workload, p)
            methods = ["raw", *methods_of(name).values()]
            arguments = (workload, "--scale", f"{scale:g}", "--methods", ",".join(methods))
            result.append(Run(name, p, arguments + measuring(preset)))
    scale = preset.cam["fv-c"][0]
    for p, threads in preset.hybrid:
        methods = [f"record:threads={threads}", f"slabs:threads={threads}"]
        arguments = ("fv-c", "--scale", f"{scale:g}", "--methods", ",".join(["raw", *methods]))
        result.append(Run(hybrid_name(p, threads), p, arguments + measuring(preset)))
    return result


def step_seconds(row: dict) -> float:
    return row["median_seconds"] / row["steps"]


def rate(row: dict) -> float:
    return row["mb_per_s"]


def scale_text(preset: Preset, workload: str) -> str:
    scale, ranks = preset.cam[workload]
    grid = "the paper's grid" if scale == 1 else f"{scale:g} of the paper's grid each way"
    return f"{grid}; {', '.join(map(str, ranks))} ranks instead of up to 1024 processors"


def bandwidth(
    results: Results, preset: Preset, workload: str, source: str, paper: float, reference: list[str]
) -> Figure:
    ranks = preset.cam[workload][1]
    figure = Figure(
        f"cam-bandwidth-{workload}",
        source,
        f"Bandwidth of {workload.upper()} history against ranks",
        f"Remapped parallel output is about {paper:g} times as fast as the sequential path.",
        reference,
        scale_text(preset, workload),
    )
    columns = {str(p): name_of(workload, p) for p in ranks}
    values = figure.compare(results, "MB/s, ranks", columns, methods_of, rate)
    parallel = [
        (value, label, p)
        for label in ("slabs", "record", STAGING)
        for value, p in zip(values[label], ranks, strict=True)
        if value
    ]
    if parallel and known(values[SEQUENTIAL]):
        (fastest, label, p), sequential = max(parallel), max(known(values[SEQUENTIAL]))
        ratio = fastest / sequential
        figure.verdict = graded(ratio, 0.8 * paper)
        less = "" if ratio >= 0.8 * paper else ", less than in the paper: one local disk here"
        figure.finding = (
            f"{label} reaches {fastest:,.0f} MB/s on {p} of up to {ranks[-1]} ranks, "
            f"{times(ratio)} the sequential path's best, {sequential:,.0f} MB/s{less}."
        )
    return figure


def breakdown(results: Results, preset: Preset) -> Figure:
    figure = Figure(
        "cam-breakdown",
        "CAM, fig. 7",
        "Remapping and writing against ranks (slabs by PnetCDF)",
        "Remapping takes about 15 % of the I/O time of FV-D, and less with more ranks.",
        ["remapping: roughly 15 % of the I/O time of FV-D"],
        f"FV-C: {scale_text(preset, 'fv-c')}; FV-D: {scale_text(preset, 'fv-d')}",
    )
    for workload in ("fv-c", "fv-d"):
        ranks = preset.cam[workload][1]
        rows = [results.rows(name_of(workload, p)).get(staging(p)) for p in ranks]
        values = {"total": [row and step_seconds(row) for row in rows]}
        for phase in ("remap", "write"):
            values[phase] = [row and row["phases"][phase] / row["steps"] for row in rows]
        heads = [f"{workload.upper()}, seconds a step, ranks", *map(str, ranks)]
        figure.add_table(heads, values, "{:.4f}")
        if not any(rows):
            why = results.reason(name_of(workload, ranks[0]), staging(ranks[0]))
            figure.missing[f"{workload.upper()}: {STAGING}"] = why
    shares = [a / b for a, b in zip(values["remap"], values["total"], strict=True) if a and b]
    if shares:
        falls = shares[-1] <= shares[0]
        figure.verdict = judged(falls, falls and shares[-1] <= 0.2)
        figure.finding = (
            f"Remapping takes {percent(shares[0])} of FV-D's time on the fewest ranks and "
            f"{percent(shares[-1])} on the most."
        )
    return figure


def sizes(results: Results, preset: Preset) -> Figure:
    figure = Figure(
        "cam-sizes",
        "CAM, fig. 8",
        "Time of a step against its size",
        "The sequential time grows in proportion to the size, the parallel time hardly.",
        ["sequential: linear in the size; parallel: almost constant, 128 processors"],
        "the largest rank count of each resolution",
    )
    named = {}
    for workload, (_, ranks) in preset.cam.items():
        run = name_of(workload, ranks[-1])
        if rows := results.rows(run):
            row = next(iter(rows.values()))
            named[row["bytes"] / row["steps"] / 1e6] = run
    size = sorted(named)
    columns = {f"{mb:.1f} MB": named[mb] for mb in size}
    values = figure.compare(results, "seconds a step", columns, methods_of, step_seconds, "{:.4f}")

    def growth(label: str) -> float:
        found = values.get(label, [None])
        return (found[-1] / found[0]) / (size[-1] / size[0]) if None not in found else 0

    sequential, parallel = growth(SEQUENTIAL), growth("record")
    if sequential and parallel:
        linear, flat = 0.5 < sequential < 2, parallel < 0.5
        figure.verdict = judged(linear, linear and flat)
        figure.finding = (
            f"From {size[0]:.1f} to {size[-1]:.1f} MB a step the sequential time grows "
            f"{sequential:.1f} times as much as the size, that of record {parallel:.1f} times as "
            f"much{'' if flat else ': one disk takes the bytes here, however many ranks there are'}"
            "."
        )
    return figure


def century(results: Results, preset: Preset) -> Figure:
    intervals = {"weekly": 36500 / 7, "daily": 36500, "3-hourly": 292000}
    figure = Figure(
        "cam-century",
        "CAM, table 3",
        "Output of 100 simulated years of FV-D: hours of wall clock",
        "Daily output of a century costs more than 8 days sequentially, less than 1 in parallel.",
        [
            "daily: more than 8 days sequentially, less than 1 day in parallel",
            "3-hourly: more than a month (21 % of the run) against 3 days",
            "weekly: about 1 % of the run",
        ],
        f"from the measured rates, for the paper's 785 MB a step; {scale_text(preset, 'fv-d')}",
    )
    p = preset.cam["fv-d"][1][-1]
    run, hours = name_of("fv-d", p), {}
    for label in (SEQUENTIAL, "serial", "record"):
        if row := results.rows(run).get(METHODS[label]):
            step = 785.3 / rate(row) / 3600
            hours[label] = [step * n for n in intervals.values()]
        else:
            figure.missing[label] = results.reason(run, METHODS[label])
    figure.add_table([f"hours ({p} ranks)", *intervals], hours, "{:,.1f}")
    if SEQUENTIAL in hours and "record" in hours:
        sequential, parallel = hours[SEQUENTIAL][1], hours["record"][1]
        figure.verdict = graded(sequential / parallel, 8)
        figure.finding = (
            f"A century of daily FV-D output takes {sequential:.1f} h sequentially and "
            f"{parallel:.1f} h by record, {times(sequential / parallel)} less (paper: about 9 "
            "times)."
        )
    return figure


def hybrid(results: Results, preset: Preset) -> Figure:
    figure = Figure(
        "cam-threads",
        "CAM, figs. 3 to 6, threads",
        "The same cores as ranks or as threads (FV-C)",
        "Output is faster with fewer ranks of more threads.",
        ["SP3: 8 or 16 threads a rank are fastest, 1 is slowest by far"],
        f"{scale_text(preset, 'fv-c').split(';')[0]}; setting threads, the pack pass alone",
    )

    def threaded(run: str) -> dict[str, str]:
        return {m: f"{m}:threads={run.rpartition('x')[2]}" for m in ("record", "slabs")}

    columns = {f"{p} x {t}": hybrid_name(p, t) for p, t in preset.hybrid}
    values = figure.compare(results, "MB/s, ranks x threads", columns, threaded, rate)
    figure.compare(
        *(results, "remap, ms a step", columns, threaded),
        lambda row: 1000 * row["phases"]["remap"] / row["steps"],
        "{:.1f}",
    )
    measured = [(g, v) for g, v in zip(columns, values["record"], strict=True) if v]
    if len(measured) > 1:
        ranks, threads = measured[0], measured[-1]
        ratio = threads[1] / ranks[1]
        figure.verdict = HOLDS if ratio > 1.1 else NOT
        figure.finding = (
            f"record writes {threads[1]:,.0f} MB/s as {threads[0]} and {ranks[1]:,.0f} MB/s as "
            f"{ranks[0]}: {times(ratio)} as much."
        )
    return figure


def figures(results: Results, preset: Preset) -> list[Figure]:
    bandwidths = (
        ("t85", "CAM, fig. 3", 4, ["IBM SP3: about 4 times (the poster: 3 times)"]),
        (
            *("fv-d", "CAM, figs. 4 and 5", 9),
            [
                "IBM SP3: 139 MB/s against 10 MB/s, 14 times",
                "IBM SP5: 380 MB/s against 44 MB/s, 9 times",
            ],
        ),
        (
            *("fv-c", "CAM, fig. 6", 2),
            [
                "IBM SP5: parallel faster, growing up to 128 processors (no figures in the text)",
                "BlueGene/L: the sequential path does not run at all",
            ],
        ),
        ("fv-b", "CAM, poster", 2, ["IBM SP: about 2 times"]),
    )
    others = (breakdown, sizes, century, hybrid)
    return [
        *(bandwidth(results, preset, *about) for about in bandwidths),
        *(figure(results, preset) for figure in others),
    ]
