# SPDX-License-Identifier: Apache-2.0
"""Wong et al. 2014: aggregation along process rows and columns in CMAQ."""

from math import prod
from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, Chart, Figure, Line, times
from .presets import Preset, measuring
from .runs import Results, Run

SEQUENTIAL = "peer-serial-default"
DIRECT = "direct"
ROWS = "direct:method=rows"
COLUMNS = "direct:method=columns"
POSIX_ROWS = "record:method=rows"
LABELS = {
    SEQUENTIAL: "sequential netCDF (rnetCDF)",
    DIRECT: "direct (pnetCDF)",
    ROWS: "rows by PnetCDF (pnetCDFcr)",
    COLUMNS: "columns by PnetCDF (pnetCDFcc)",
    POSIX_ROWS: "rows by POSIX",
    "record": "record",
}
# Relations between two methods: (name, method 1, method 2) of (T1 - T2) / T1.
RELATIONS = (
    ("rows to direct", DIRECT, ROWS),
    ("columns to direct", DIRECT, COLUMNS),
    ("direct to sequential", SEQUENTIAL, DIRECT),
)
STEPS = 3  # as in the paper


def name_of(domain: str, grid: str) -> str:
    return f"cmaq-{domain}-{grid}"


def members(grid: str) -> int:
    return prod(map(int, grid.split("x")))


def runs(preset: Preset) -> list[Run]:
    result = []
    for domain, size in preset.cmaq.items():
        for grid in size.grids:
            arguments = (
                *(f"cmaq-{domain}", "--scale", f"{preset.cmaq_scale:g}", "--grid", grid),
                *("--species", str(size.species), "--steps", str(STEPS)),
                *("--methods", ",".join(["raw", *LABELS])),
            )
            run = Run(name_of(domain, grid), members(grid), arguments + measuring(preset))
            result.append(run)
    return result


def relation(results: Results, domain: str, grid: str, first: str, second: str) -> float | None:
    """Returns (T1 - T2) / T1 in per cent."""
    rows = results.rows(name_of(domain, grid))
    if first not in rows or second not in rows:
        return None
    t1, t2 = rows[first]["median_seconds"], rows[second]["median_seconds"]
    return 100 * (t1 - t2) / t1


def faster(results: Results, domain: str, grid: str, first: str, second: str) -> float | None:
    """Returns T1 / T2."""
    share = relation(results, domain, grid, first, second)
    return None if share is None else 100 / (100 - share)


def scale_text(preset: Preset, domain: str) -> str:
    scale = preset.cmaq_scale
    grid = "the paper's grid" if scale == 1 else f"{scale:g} of the paper's grid each way"
    return f"{grid}, {preset.cmaq[domain].species} species; no striping: one local disk"


def judged(*findings: bool) -> str:
    """Judges several findings of the paper: all, some or none of them hold."""
    return HOLDS if all(findings) else IN_PART if any(findings) else NOT


def missing(results: Results, domain: str, grids: tuple[str, ...]) -> list[tuple[str, str]]:
    lacking = results.missing([name_of(domain, grid) for grid in grids], LABELS)
    return [(LABELS[m], why) for m, why in lacking]


# The figures that the paper's text gives, in per cent, for its smallest and its largest grid of
# processes: the gain of rows over direct, of columns over direct, and of direct over sequential.
PAPER = {
    "ca": (
        "CMAQ, figs. 3 and 4",
        [("paper 4x4", (20, None, 40)), ("paper 16x16", (80, None, -25))],
        ["Edison: rows to direct 20 to 80 %, direct to sequential 40 to -25 %"],
    ),
    "eus": (
        "CMAQ, figs. 5 and 6",
        [("paper 8x8", (10, None, None)), ("paper 16x16", (None, None, 40))],
        [
            "4x4 and 4x8: direct is better than rows; 8x8: rows by some 10 %",
            "direct to sequential: Kraken 90 to 75 %, Edison 50 to 40 %",
        ],
    ),
    "conus": (
        "CMAQ, figs. 7 and 8",
        [("paper 4x8", (None, None, 75)), ("paper 16x32", (None, None, 50))],
        ["direct to sequential: Kraken 80 to 60 %, Edison 75 to 50 %; rows rise dramatically"],
    ),
}


def relative(results: Results, preset: Preset, folder: Path, domain: str) -> Figure:
    source, paper, reference = PAPER[domain]
    grids = preset.cmaq[domain].grids
    figure = Figure(
        f"cmaq-relative-{domain}",
        source,
        f"Relative performance on the {domain.upper()} domain, (T1 - T2) / T1",
        "Rows beat columns, gain on direct as ranks grow, and overtake it.",
        reference=reference,
        scaled=scale_text(preset, domain),
        missing=missing(results, domain, grids),
    )
    measured = {
        name: [relation(results, domain, grid, first, second) for grid in grids]
        for name, first, second in RELATIONS
    }
    values = [
        (name, [*measured[name], *(group[1][i] for group in paper)])
        for i, (name, _, _) in enumerate(RELATIONS)
    ]
    chart = Chart(folder, figure.name)
    chart.bars([*grids, *(group[0] for group in paper)], values, "%", paper_groups=len(paper))
    figure.image = chart.save()
    rows, columns = measured["rows to direct"], measured["columns to direct"]
    sequential = measured["direct to sequential"]
    if rows[-1] is not None and columns[-1] is not None:
        beat = rows[-1] > columns[-1]
        grow = len(grids) == 1 or rows[-1] > rows[0]
        ahead = rows[-1] > 0
        figure.verdict = judged(beat, grow, ahead)
        ratio = faster(results, domain, grids[-1], DIRECT, ROWS)
        columns_ratio = faster(results, domain, grids[-1], DIRECT, COLUMNS)
        figure.finding = (
            f"At {grids[-1]} rows are {times(ratio)} as fast as direct, columns "
            f"{times(columns_ratio)}"
        )
        if len(grids) > 1:
            figure.finding += (
                f"; from {grids[0]} to {grids[-1]} rows to direct goes from {rows[0]:.0f} to "
                f"{rows[-1]:.0f} %"
            )
        figure.finding += "."
    elif sequential[0] is not None:
        figure.finding = (
            f"Rows and columns were not measured; direct to sequential is {sequential[0]:.0f} % at "
            f"{grids[0]} and {sequential[-1]:.0f} % at {grids[-1]}."
        )
    return figure


def many_ranks(results: Results, preset: Preset, folder: Path) -> Figure:
    grids = preset.cmaq["ca"].grids
    figure = Figure(
        "cmaq-many-ranks",
        "CMAQ, fig. 10",
        "Direct and rows to sequential as ranks grow (CA domain)",
        "With many ranks direct falls behind sequential output, while rows go on gaining.",
        reference=["direct becomes worse than sequential; rows improve (no figures in the text)"],
        scaled=f"up to {members(grids[-1])} ranks; {scale_text(preset, 'ca')}",
        missing=missing(results, "ca", grids),
    )
    wanted = (("direct", DIRECT), ("rows", ROWS), ("record", "record"))
    values = {
        label: [relation(results, "ca", grid, SEQUENTIAL, method) for grid in grids]
        for label, method in wanted
    }
    chart = Chart(folder, figure.name)
    chart.bars(list(grids), list(values.items()), "% of the sequential time saved")
    figure.image = chart.save()
    direct, rows = values["direct"], values["rows"]
    if direct[0] is not None and direct[-1] is not None:
        falls = direct[-1] < direct[0]
        text = f"Direct to sequential goes from {direct[0]:.0f} to {direct[-1]:.0f} %"
        if rows[0] is not None and rows[-1] is not None:
            ahead = rows[-1] > direct[-1]
            figure.verdict = judged(falls, ahead)
            text += f", rows to sequential from {rows[0]:.0f} to {rows[-1]:.0f} %"
        elif falls:
            figure.verdict = IN_PART
        figure.finding = f"{text} between {grids[0]} and {grids[-1]}."
    return figure


def writers_of(method: str, grid: str) -> int:
    """Returns the number of ranks that write. The first factor of a grid is the number of its
    columns."""
    columns, rows = map(int, grid.split("x"))
    return {DIRECT: columns * rows, ROWS: rows, COLUMNS: columns}[method]


def rates(results: Results, preset: Preset, folder: Path) -> Figure:
    figure = Figure(
        "cmaq-rates",
        "CMAQ, fig. 11",
        "Rate against the bytes that a writer holds",
        "The more bytes a writing rank holds, the higher is the rate.",
        reference=["aggregation raises both on all three domains (no figures in the text)"],
        scaled="all domains and process grids of this report",
    )
    points: dict[str, list[tuple[float, float]]] = {}
    for domain, size in preset.cmaq.items():
        for grid in size.grids:
            rows = results.rows(name_of(domain, grid))
            for method in (DIRECT, ROWS, COLUMNS):
                if method in rows:
                    row = rows[method]
                    held = row["bytes"] / row["steps"] / writers_of(method, grid) / 1e6
                    points.setdefault(method, []).append((held, row["mb_per_s"]))
        for method, why in missing(results, domain, size.grids):
            if (method, why) not in figure.missing:
                figure.missing.append((method, why))
    chart = Chart(folder, figure.name)
    lines = []
    for method, found in points.items():
        found.sort()
        lines.append(Line(LABELS[method], [x for x, _ in found], [y for _, y in found]))
    chart.lines(lines, "MB a writer holds of a step", "MB/s", log="y")
    for drawn in chart.axes[0].get_lines():
        drawn.set_linestyle("none")
    chart.axes[0].set_xscale("log")
    figure.image = chart.save()
    everything = sorted(p for found in points.values() for p in found)
    if len(everything) > 3:
        half = len(everything) // 2
        small = sum(y for _, y in everything[:half]) / half
        large = sum(y for _, y in everything[-half:]) / half
        figure.verdict = HOLDS if large > 1.1 * small else NOT
        figure.finding = (
            f"The half of the runs with fewer bytes a writer (up to {everything[half - 1][0]:.1f} "
            f"MB) writes {small:,.0f} MB/s on average, the other half {large:,.0f} MB/s."
        )
    return figure


def whole_day(results: Results, preset: Preset, folder: Path) -> Figure:
    grids = preset.cmaq["4km"].grids
    figure = Figure(
        "cmaq-4km",
        "CMAQ, fig. 12",
        "Writing time on the 4 km domain of the real model",
        "Rows are twice as fast as direct, and much faster than sequential output.",
        reference=["rows shorten the writing time significantly (about half of direct's)"],
        scaled=f"{STEPS} steps of a day's 24; {scale_text(preset, '4km')}",
        missing=missing(results, "4km", grids),
    )
    values = {
        label: [
            results.rows(name_of("4km", grid)).get(method, {}).get("median_seconds")
            for grid in grids
        ]
        for method, label in LABELS.items()
    }
    chart = Chart(folder, figure.name)
    chart.bars(list(grids), list(values.items()), "seconds")
    figure.image = chart.save()
    ratio = faster(results, "4km", grids[-1], DIRECT, ROWS)
    record = faster(results, "4km", grids[-1], DIRECT, "record")
    if ratio:
        figure.verdict = HOLDS if ratio >= 1.8 else IN_PART if ratio > 1.1 else NOT
        figure.finding = f"At {grids[-1]} rows are {times(ratio)} as fast as direct"
        figure.finding += f", record {times(record)}." if record else "."
    elif record:
        figure.finding = (
            f"Rows were not measured; at {grids[-1]} record is {times(record)} as fast as direct."
        )
    return figure


def figures(results: Results, preset: Preset, folder: Path) -> list[Figure]:
    return [
        *(relative(results, preset, folder, domain) for domain in ("ca", "eus", "conus")),
        many_ranks(results, preset, folder),
        rates(results, preset, folder),
        whole_day(results, preset, folder),
    ]
