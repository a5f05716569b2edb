# SPDX-License-Identifier: Apache-2.0
"""Wong et al. 2014: aggregation along process rows and columns in CMAQ."""

from math import prod

from .presets import Preset, measuring
from .report import HOLDS, NOT, Figure, graded, judged, times
from .runs import Results, Run

DIRECT = "direct"
ROWS = "direct:method=rows"
COLUMNS = "direct:method=columns"
SEQUENTIAL = "peer-serial-default"
METHODS = {
    "sequential netCDF (rnetCDF)": SEQUENTIAL,
    "direct (pnetCDF)": DIRECT,
    "rows by PnetCDF (pnetCDFcr)": ROWS,
    "columns by PnetCDF (pnetCDFcc)": COLUMNS,
    "rows by POSIX": "record:method=rows",
    "record": "record",
}
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
                *("--methods", ",".join(["raw", *METHODS.values()])),
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


def faster(share: float) -> str:
    """Formats T1 / T2 for (T1 - T2) / T1 in per cent."""
    return times(100 / (100 - share))


def scale_text(preset: Preset, domain: str) -> str:
    scale = preset.cmaq_scale
    grid = "the paper's grid" if scale == 1 else f"{scale:g} of the paper's grid each way"
    return f"{grid}, {preset.cmaq[domain].species} species; no striping: one local disk"


def seconds(figure: Figure, results: Results, domain: str, grids: tuple[str, ...]) -> None:
    """Adds a table of all methods."""
    columns = {grid: name_of(domain, grid) for grid in grids}
    figure.compare(
        *(results, "seconds", columns, lambda _: METHODS),
        lambda row: row["median_seconds"],
        "{:.3f}",
    )


# The figures that the paper's text gives, in per cent, for its smallest and its largest grid of
# processes: the gain of rows over direct, of columns over direct, and of direct over sequential.
PAPER = {
    "ca": (
        "CMAQ, figs. 3 and 4",
        {"paper 4x4": (20, None, 40), "paper 16x16": (80, None, -25)},
        ["Edison: rows to direct 20 to 80 %, direct to sequential 40 to -25 %"],
    ),
    "eus": (
        "CMAQ, figs. 5 and 6",
        {"paper 8x8": (10, None, None), "paper 16x16": (None, None, 40)},
        [
            "4x4 and 4x8: direct is better than rows; 8x8: rows by some 10 %",
            "direct to sequential: Kraken 90 to 75 %, Edison 50 to 40 %",
        ],
    ),
    "conus": (
        "CMAQ, figs. 7 and 8",
        {"paper 4x8": (None, None, 75), "paper 16x32": (None, None, 50)},
        ["direct to sequential: Kraken 80 to 60 %, Edison 75 to 50 %; rows rise dramatically"],
    ),
}


def relative(results: Results, preset: Preset, domain: str) -> Figure:
    source, paper, reference = PAPER[domain]
    grids = preset.cmaq[domain].grids
    figure = Figure(
        f"cmaq-relative-{domain}",
        source,
        f"Relative performance on the {domain.upper()} domain, (T1 - T2) / T1",
        "Rows beat columns, gain on direct as ranks grow, and overtake it.",
        reference,
        scale_text(preset, domain),
    )
    rows, columns, sequential = (
        [relation(results, domain, grid, *pair) for grid in grids]
        for pair in ((DIRECT, ROWS), (DIRECT, COLUMNS), (SEQUENTIAL, DIRECT))
    )
    gains = {"rows to direct": rows, "columns to direct": columns}
    gains["direct to sequential"] = sequential
    values = {
        name: [*gain, *(text[i] for text in paper.values())]
        for i, (name, gain) in enumerate(gains.items())
    }
    figure.add_table(["%", *grids, *paper], values)
    seconds(figure, results, domain, grids)
    if rows[-1] is not None and columns[-1] is not None:
        grow = len(grids) == 1 or rows[-1] > rows[0]
        figure.verdict = judged(rows[-1] > columns[-1], grow, rows[-1] > 0)
        figure.finding = (
            f"At {grids[-1]} rows are {faster(rows[-1])} as fast as direct, columns "
            f"{faster(columns[-1])}; from {grids[0]} to {grids[-1]} rows to direct goes from "
            f"{rows[0]:.0f} to {rows[-1]:.0f} %."
        )
    return figure


def many_ranks(results: Results, preset: Preset) -> Figure:
    grids = preset.cmaq["ca"].grids
    figure = Figure(
        "cmaq-many-ranks",
        "CMAQ, fig. 10",
        "Direct and rows to sequential as ranks grow (CA domain)",
        "With many ranks direct falls behind sequential output, while rows go on gaining.",
        ["direct becomes worse than sequential; rows improve (no figures in the text)"],
        f"up to {members(grids[-1])} ranks; {scale_text(preset, 'ca')}",
    )
    values = {
        label: [relation(results, "ca", grid, SEQUENTIAL, method) for grid in grids]
        for label, method in (("direct", DIRECT), ("rows", ROWS), ("record", "record"))
    }
    figure.add_table(["% of the sequential time saved", *grids], values)
    direct, rows = values["direct"], values["rows"]
    if None not in (direct[0], direct[-1], rows[0], rows[-1]):
        figure.verdict = judged(direct[-1] < direct[0], rows[-1] > direct[-1])
        figure.finding = (
            f"Direct to sequential goes from {direct[0]:.0f} to {direct[-1]:.0f} %, rows to "
            f"sequential from {rows[0]:.0f} to {rows[-1]:.0f} % between {grids[0]} and {grids[-1]}."
        )
    return figure


def rates(results: Results, preset: Preset) -> Figure:
    figure = Figure(
        "cmaq-rates",
        "CMAQ, fig. 11",
        "Rate against the bytes that a writer holds",
        "The more bytes a writing rank holds, the higher is the rate.",
        ["aggregation raises both on all three domains (no figures in the text)"],
        "all domains and process grids of this report",
    )
    points = []
    for domain, size in preset.cmaq.items():
        for grid in size.grids:
            rows = results.rows(name_of(domain, grid))
            columns, lines = map(int, grid.split("x"))
            writers = {DIRECT: columns * lines, ROWS: lines, COLUMNS: columns}
            for method in writers.keys() & rows.keys():
                row = rows[method]
                held = row["bytes"] / row["steps"] / writers[method] / 1e6
                points.append((held, row["mb_per_s"], f"{domain}, {grid}, {method}"))
    points.sort()
    values = {text: [held, rate] for held, rate, text in points}
    figure.add_table(["", "MB a writer holds of a step", "MB/s"], values, "{:,.1f}")
    if len(points) > 3:
        half = len(points) // 2
        small, large = (sum(p[1] for p in part) for part in (points[:half], points[-half:]))
        figure.verdict = HOLDS if large > 1.1 * small else NOT
        figure.finding = (
            f"The half of the runs with fewer bytes a writer (up to {points[half - 1][0]:.1f} MB) "
            f"writes {small / half:,.0f} MB/s on average, the other half {large / half:,.0f} MB/s."
        )
    return figure


def whole_day(results: Results, preset: Preset) -> Figure:
    grids = preset.cmaq["4km"].grids
    figure = Figure(
        "cmaq-4km",
        "CMAQ, fig. 12",
        "Writing time on the 4 km domain of the real model",
        "Rows are twice as fast as direct, and much faster than sequential output.",
        ["rows shorten the writing time significantly (about half of direct's)"],
        f"{STEPS} steps of a day's 24; {scale_text(preset, '4km')}",
    )
    seconds(figure, results, "4km", grids)
    rows, record = (
        relation(results, "4km", grids[-1], DIRECT, method) for method in (ROWS, "record")
    )
    if rows is not None and record is not None:
        figure.verdict = graded(100 / (100 - rows), 1.8)
        figure.finding = (
            f"At {grids[-1]} rows are {faster(rows)} as fast as direct, record {faster(record)}."
        )
    return figure


def figures(results: Results, preset: Preset) -> list[Figure]:
    return [
        *(relative(results, preset, domain) for domain in PAPER),
        *(figure(results, preset) for figure in (many_ranks, rates, whole_day)),
    ]
