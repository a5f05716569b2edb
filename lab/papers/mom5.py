# SPDX-License-Identifier: Apache-2.0
"""Yang, Ward and Evans 2020: parallel output of MOM5, by FMS's I/O layouts."""

from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, Chart, Figure, Line, Table, times
from .presets import Preset, measuring
from .runs import Results, Run

NETCDF4 = "storage=netcdf4:format=netcdf4"
# netCDF-C on parallel HDF5 on every rank: the paper's library without a layout. By default it syncs
# the file when it closes, which no other method does.
HDF5 = "netcdf4-nosync"
HDF5_SYNCED = "netcdf4"
PLAIN = {HDF5: "parallel HDF5", HDF5_SYNCED: "parallel HDF5 with its fsync"}
FORMATS = ("PnetCDF", "netCDF-4")
SEQUENTIAL = "peer-serial-default"
SHARES = "mom5-shares"
SHARE_METHODS = {
    SEQUENTIAL: "sequential netCDF-3",
    "direct": "direct, PnetCDF",
    HDF5: "parallel HDF5, netCDF-4",
    "record": "record, netCDF-3",
    f"record:{NETCDF4}": "record, netCDF-4",
}


def tiles(layout: str, kind: str) -> str:
    """Returns the method of an I/O layout."""
    if kind == "PnetCDF":
        return f"direct:method=tiles:tiles={layout}"
    return f"record:method=tiles:tiles={layout}:{NETCDF4}"


def name_of(ranks: int) -> str:
    return f"mom5-p{ranks}"


def read_name(ranks: int) -> str:
    return f"mom5-read-p{ranks}"


def runs(preset: Preset) -> list[Run]:
    result = []
    for ranks, layouts in preset.layouts.items():
        methods = [tiles(layout, kind) for kind in FORMATS for layout in layouts]
        methods = ["raw", *methods, "direct", "record", SEQUENTIAL, *PLAIN]
        arguments = (
            *("mom5-025", "--scale", f"{preset.mom5_scale:g}", "--steps", "2"),
            *("--methods", ",".join(methods)),
        )
        result.append(Run(name_of(ranks), ranks, arguments + measuring(preset)))
        reading = ("read", "mom5-025", "--scale", f"{preset.mom5_scale:g}")
        result.append(Run(read_name(ranks), ranks, reading + measuring(preset)))
    scale, ranks, days = preset.shares
    methods = ",".join(["raw", *SHARE_METHODS])
    arguments = ("mom5-01", "--scale", f"{scale:g}", "--steps", str(days), "--methods", methods)
    return [*result, Run(SHARES, ranks, arguments + measuring(preset))]


def phase(row: dict, name: str) -> float:
    """Returns the seconds of a phase of a file: open, write (with remapping and waiting), close,
    or all of them."""
    phases = row["phases"]
    if name == "write":
        return row["median_seconds"] - phases["close"]
    if name == "total":
        return row["median_seconds"] + phases["open"]
    return phases[name]


# (phase, name of the figure, the paper's finding)
PHASES = (
    ("open", 3, "HDF5 opens take longer than PnetCDF's, and grow with the ranks."),
    ("write", 5, "Writing gets faster with ranks; PnetCDF is somewhat faster than HDF5."),
    ("close", 6, "HDF5's closes suffer from contention; PnetCDF's are negligible."),
    ("total", 7, "HDF5's contention at many ranks outweighs what the layout gains."),
)


def seconds_of(results: Results, ranks: int, method: str, name: str) -> float | None:
    row = results.rows(name_of(ranks)).get(method)
    return phase(row, name) if row else None


def against_layout(
    results: Results, preset: Preset, folder: Path, name: str, number: int, claim: str
) -> Figure:
    figure = Figure(
        f"mom5-{name}",
        f"MOM5, fig. {number}",
        f"{name.capitalize()} time against I/O layout",
        claim,
        reference=["240 and 960 ranks of the 0.25 degree model (no figures in the text at hand)"],
        scaled=f"{preset.mom5_scale:g} of the grid each way, 2 outputs, "
        f"{', '.join(map(str, preset.layouts))} ranks",
    )
    groups, columns = [], {kind: [] for kind in (*FORMATS, *PLAIN.values())}
    for ranks, layouts in preset.layouts.items():
        for layout in layouts:
            groups.append(f"{layout} of {ranks}")
            for kind in FORMATS:
                value = seconds_of(results, ranks, tiles(layout, kind), name)
                columns[kind].append(value)
                why = results.reason(name_of(ranks), tiles(layout, kind))
                if value is None and (f"tiles, {kind}", why) not in figure.missing:
                    figure.missing.append((f"tiles, {kind}", why))
            for label in PLAIN.values():
                columns[label].append(None)
        groups.append(f"no layout, {ranks}")
        columns["PnetCDF"].append(seconds_of(results, ranks, "direct", name))
        columns["netCDF-4"].append(None)
        for method, label in PLAIN.items():
            columns[label].append(seconds_of(results, ranks, method, name))
    chart = Chart(folder, figure.name)
    chart.bars(groups, list(columns.items()), "seconds")
    figure.image = chart.save()
    judge(figure, results, preset, name)
    return figure


READERS = {
    "pnetcdf": "PnetCDF, collective",
    "thalweg": "Thalweg, all variables at once",
    "thalweg-get": "Thalweg, one variable after the other",
    "raw": "plain reads of the same bytes",
}


def reading(results: Results, preset: Preset, folder: Path) -> Figure:
    counts = list(preset.layouts)
    figure = Figure(
        "mom5-read",
        "MOM5, fig. 4",
        "Time of reading a restart file against ranks",
        "Reads use neither layout nor parallel I/O and grow with the ranks.",
        reference=["240 and 960 ranks of the 0.25 degree model (no figures in the text at hand)"],
        scaled=f"{preset.mom5_scale:g} of the grid each way, one record, "
        f"{', '.join(map(str, counts))} ranks",
    )
    lines = {}
    for method, label in READERS.items():
        rows = {p: results.rows(read_name(p)).get(method) for p in counts}
        found = [(p, row["seconds"]) for p, row in rows.items() if row]
        if found:
            lines[method] = Line(label, [p for p, _ in found], [t for _, t in found])
        else:
            figure.missing.append((label, results.reason(read_name(counts[0]), method)))
    chart = Chart(folder, figure.name)
    chart.lines(list(lines.values()), "ranks", "seconds", log="xy")
    figure.image = chart.save()
    if "pnetcdf" in lines and "thalweg" in lines:
        theirs, ours = lines["pnetcdf"].y, lines["thalweg"].y
        growth, own = theirs[-1] / theirs[0], ours[-1] / ours[0]
        figure.finding = (
            f"At {counts[-1]} ranks PnetCDF reads in {1000 * theirs[-1]:.1f} ms, Thalweg in "
            f"{1000 * ours[-1]:.1f} ms"
        )
        if len(counts) > 1:
            figure.verdict = HOLDS if min(growth, own) > 1.1 else IN_PART if growth > 1.1 else NOT
            figure.finding += (
                f"; from {counts[0]} to {counts[-1]} ranks PnetCDF's time changes by a factor of "
                f"{growth:.1f}, Thalweg's by {own:.1f}"
            )
        figure.finding += "."
    return figure


def judge(figure: Figure, results: Results, preset: Preset, name: str) -> None:
    """Compares PnetCDF with HDF5, from the fewest to the most ranks; without layouts, so that every
    rank writes, unless tiles were measured."""
    counts = list(preset.layouts)

    def least(ranks: int, kind: str, plain: str) -> float | None:
        found = [seconds_of(results, ranks, tiles(k, kind), name) for k in preset.layouts[ranks]]
        found = [v for v in found if v is not None]
        return min(found) if found else seconds_of(results, ranks, plain, name)

    pnetcdf = [least(ranks, "PnetCDF", "direct") for ranks in counts]
    hdf5 = [seconds_of(results, ranks, HDF5, name) for ranks in counts]
    if None in pnetcdf or None in hdf5:
        return
    ratio = hdf5[-1] / max(pnetcdf[-1], 1e-6)
    growth = hdf5[-1] / max(hdf5[0], 1e-6)
    slower, grows = ratio > 1.1, len(counts) == 1 or growth > 1.1
    if name in ("open", "close"):
        figure.verdict = HOLDS if slower and grows else IN_PART if slower or grows else NOT
    elif name == "write":
        falls = len(counts) == 1 or pnetcdf[-1] < pnetcdf[0]
        figure.verdict = HOLDS if slower and falls else IN_PART if slower or falls else NOT
    else:
        figure.verdict = HOLDS if slower else NOT
    figure.finding = (
        f"At {counts[-1]} ranks parallel HDF5 takes {1000 * hdf5[-1]:.1f} ms, PnetCDF "
        f"{1000 * pnetcdf[-1]:.1f} ms"
    )
    if len(counts) > 1:
        figure.finding += (
            f"; from {counts[0]} to {counts[-1]} ranks HDF5's time changes by a factor of "
            f"{growth:.1f}, PnetCDF's by {pnetcdf[-1] / max(pnetcdf[0], 1e-6):.1f}"
        )
    figure.finding += "."


# Table 6: I/O share in per cent on 720 and 1440 ranks, with output once a day and once every four
# days.
TABLE_6 = {
    "serial, netCDF-4 classic": ((6.09, 3.87), (10.98, 7.18)),
    "parallel, netCDF-4": ((0.98, 0.82), (1.67, 1.35)),
    "parallel, netCDF-3": ((0.74, 0.66), (1.45, 1.14)),
}


def share(row: dict, outputs: int, computing: float) -> float:
    """Returns the per cent of a run that output takes, if the run writes one file with `outputs`
    records and computes for `computing` seconds."""
    phases = row["phases"]
    once = phases["open"] + phases["close"]
    output = once + outputs * (row["median_seconds"] - phases["close"]) / row["steps"]
    return 100 * output / (output + computing)


def shares(results: Results, preset: Preset, folder: Path) -> Figure:
    scale, ranks, days = preset.shares
    figure = Figure(
        "mom5-shares",
        "MOM5, table 6",
        "Share of output in the run, with output every day and every four days",
        "Parallel output cuts the I/O share from 6 to 11 % of the run to 1 or 2 %.",
        reference=[
            f"{name}: 720 ranks {a[0]} and {a[1]} %, 1440 ranks {b[0]} and {b[1]} %"
            for name, (a, b) in TABLE_6.items()
        ],
        scaled=f"0.1 degrees at {scale:g} of the grid each way, {ranks} ranks, {days} days; "
        "computed from the measured times of output, beside as much computing as makes the "
        "sequential path's share the paper's at 720 ranks with daily output",
    )
    rows = results.rows(SHARES)
    lacking = results.missing([SHARES], SHARE_METHODS)
    figure.missing = [(SHARE_METHODS[m], why) for m, why in lacking]
    values: dict[str, list[float | None]] = {}
    if SEQUENTIAL in rows:
        row = rows[SEQUENTIAL]
        computing = (row["median_seconds"] + row["phases"]["open"]) * (8114 - 494) / 494
        for method, label in SHARE_METHODS.items():
            if method in rows:
                values[label] = [share(rows[method], days // n, computing) for n in (1, 4)]
    paper = [("paper, 720 ranks: daily", 0, 0), ("4 days", 0, 1)]
    table = [[label, *(f"{v:.2f} %" for v in found)] for label, found in values.items()]
    table += [[f"paper, {k}", *(f"{v:.2f} %" for v in a)] for k, (a, _) in TABLE_6.items()]
    figure.tables = [Table(["I/O share (the paper's: 720 ranks)", "daily", "every 4 days"], table)]
    drawn = [(label, [*found, None, None]) for label, found in values.items()]
    for label, reference in TABLE_6.items():
        drawn.append((f"paper: {label}", [None, None, *(reference[r][c] for _, r, c in paper)]))
    chart = Chart(folder, figure.name)
    groups = ["daily", "every 4 days", *(k for k, _, _ in paper)]
    chart.bars(groups, drawn, "% of the run", paper_groups=len(paper))
    figure.image = chart.save()
    parallel = [SHARE_METHODS[m] for m in SHARE_METHODS if m != SEQUENTIAL]
    parallel = [label for label in parallel if label in values]
    if parallel:
        label = min(parallel, key=lambda k: values[k][0])
        serial, best = values[SHARE_METHODS[SEQUENTIAL]], values[label]
        ratio = serial[0] / best[0]
        figure.verdict = HOLDS if ratio > 3 else IN_PART if ratio > 1.1 else NOT
        figure.finding = (
            f"Where sequential output takes {serial[0]:.1f} % of the run, {label} takes "
            f"{best[0]:.1f} % ({times(ratio)} less; the paper: up to 8.2 times); every 4 days "
            f"{serial[1]:.1f} and {best[1]:.1f} %."
        )
    return figure


def figures(results: Results, preset: Preset, folder: Path) -> list[Figure]:
    opening, *others = (against_layout(results, preset, folder, *which) for which in PHASES)
    return [
        opening,
        reading(results, preset, folder),
        *others,
        shares(results, preset, folder),
    ]
