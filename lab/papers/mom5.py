# SPDX-License-Identifier: Apache-2.0
"""Yang, Ward and Evans 2020: parallel output of MOM5, by FMS's I/O layouts."""

from .presets import Preset, measuring
from .report import HOLDS, NOT, Figure, graded, judged, known, times
from .runs import Results, Run

NETCDF4 = "storage=netcdf4:format=netcdf4"
# netCDF-C on parallel HDF5 on every rank: the paper's library without a layout. By default it syncs
# the file when it closes, which no other method does.
HDF5, HDF5_SYNCED = "parallel HDF5", "parallel HDF5 with its fsync"
SEQUENTIAL = "sequential netCDF-3"
SHARES = "mom5-shares"
SHARE_METHODS = {
    SEQUENTIAL: "peer-serial-default",
    "direct, PnetCDF": "direct",
    "parallel HDF5, netCDF-4": "netcdf4-nosync",
    "record, netCDF-3": "record",
    "record, netCDF-4": f"record:{NETCDF4}",
}


def name_of(ranks: int) -> str:
    return f"mom5-p{ranks}"


def read_name(ranks: int) -> str:
    return f"mom5-read-p{ranks}"


def methods_of(layouts: tuple[str, ...]) -> dict[str, str]:
    """Returns the methods of the figures by their labels."""
    found = {f"PnetCDF, {k}": f"direct:method=tiles:tiles={k}" for k in layouts}
    found |= {f"netCDF-4, {k}": f"record:method=tiles:tiles={k}:{NETCDF4}" for k in layouts}
    return found | {"PnetCDF": "direct", HDF5: "netcdf4-nosync", HDF5_SYNCED: "netcdf4"}


def runs(preset: Preset) -> list[Run]:
    result = []
    for ranks, layouts in preset.layouts.items():
        methods = ["raw", *methods_of(layouts).values(), "record", "peer-serial-default"]
        arguments = (
            *("mom5-025", "--scale", f"{preset.mom5_scale:g}", "--steps", "2"),
            *("--methods", ",".join(methods)),
        )
        result.append(Run(name_of(ranks), ranks, arguments + measuring(preset)))
        reading = ("read", "mom5-025", "--scale", f"{preset.mom5_scale:g}")
        result.append(Run(read_name(ranks), ranks, reading + measuring(preset)))
    scale, ranks, days = preset.shares
    methods = ",".join(["raw", *SHARE_METHODS.values()])
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


def against_layout(results: Results, preset: Preset, name: str, number: int, claim: str) -> Figure:
    figure = Figure(
        f"mom5-{name}",
        f"MOM5, fig. {number}",
        f"{name.capitalize()} time against I/O layout",
        claim,
        ["240 and 960 ranks of the 0.25 degree model (no figures in the text at hand)"],
        f"{preset.mom5_scale:g} of the grid each way, 2 outputs, "
        f"{', '.join(map(str, preset.layouts))} ranks",
    )
    pnetcdf, hdf5 = [], []
    for ranks, layouts in preset.layouts.items():
        values = figure.compare(
            *(results, "seconds, ranks", {str(ranks): name_of(ranks)}),
            lambda _, layouts=layouts: methods_of(layouts),
            lambda row: phase(row, name),
            "{:.4f}",
        )
        tiled = known([values[f"PnetCDF, {k}"][0] for k in layouts])
        pnetcdf.append(min(tiled) if tiled else values["PnetCDF"][0])
        hdf5.append(values[HDF5][0])
    if None not in pnetcdf and None not in hdf5:
        judge(figure, list(preset.layouts), name, pnetcdf, hdf5)
    return figure


def judge(
    figure: Figure, counts: list[int], name: str, pnetcdf: list[float], hdf5: list[float]
) -> None:
    """Compares PnetCDF, with its best layout, and HDF5, from the fewest to the most ranks."""
    growth = hdf5[-1] / max(hdf5[0], 1e-6)
    own = pnetcdf[-1] / max(pnetcdf[0], 1e-6)
    slower = hdf5[-1] / max(pnetcdf[-1], 1e-6) > 1.1
    if name in ("open", "close"):
        figure.verdict = judged(slower, growth > 1.1)
    elif name == "write":
        figure.verdict = judged(slower, own < 1)
    else:
        figure.verdict = HOLDS if slower else NOT
    figure.finding = (
        f"At {counts[-1]} ranks parallel HDF5 takes {1000 * hdf5[-1]:.1f} ms, PnetCDF "
        f"{1000 * pnetcdf[-1]:.1f} ms; from {counts[0]} to {counts[-1]} ranks HDF5's time changes "
        f"by a factor of {growth:.1f}, PnetCDF's by {own:.1f}."
    )


READERS = {
    "PnetCDF, collective": "pnetcdf",
    "Thalweg, all variables at once": "thalweg",
    "Thalweg, one variable after the other": "thalweg-get",
    "plain reads of the same bytes": "raw",
}


def reading(results: Results, preset: Preset) -> Figure:
    counts = list(preset.layouts)
    figure = Figure(
        "mom5-read",
        "MOM5, fig. 4",
        "Time of reading a restart file against ranks",
        "Reads use neither layout nor parallel I/O and grow with the ranks.",
        ["240 and 960 ranks of the 0.25 degree model (no figures in the text at hand)"],
        f"{preset.mom5_scale:g} of the grid each way, one record, "
        f"{', '.join(map(str, counts))} ranks",
    )
    columns = {str(p): read_name(p) for p in counts}
    values = figure.compare(
        *(results, "seconds, ranks", columns, lambda _: READERS),
        lambda row: row["seconds"],
        "{:.4f}",
    )
    theirs, ours = (values[label] for label in list(READERS)[:2])
    if None not in theirs and None not in ours:
        growth, own = theirs[-1] / theirs[0], ours[-1] / ours[0]
        figure.verdict = judged(growth > 1.1, min(growth, own) > 1.1)
        figure.finding = (
            f"At {counts[-1]} ranks PnetCDF reads in {1000 * theirs[-1]:.1f} ms, Thalweg in "
            f"{1000 * ours[-1]:.1f} ms; from {counts[0]} to {counts[-1]} ranks PnetCDF's time "
            f"changes by a factor of {growth:.1f}, Thalweg's by {own:.1f}."
        )
    return figure


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


def shares(results: Results, preset: Preset) -> Figure:
    scale, ranks, days = preset.shares
    figure = Figure(
        "mom5-shares",
        "MOM5, table 6",
        "Share of output in the run, with output every day and every four days",
        "Parallel output cuts the I/O share from 6 to 11 % of the run to 1 or 2 %.",
        [
            f"{name}: 720 ranks {a[0]} and {a[1]} %, 1440 ranks {b[0]} and {b[1]} %"
            for name, (a, b) in TABLE_6.items()
        ],
        f"0.1 degrees at {scale:g} of the grid each way, {ranks} ranks, {days} days; "
        "computed from the measured times of output, beside as much computing as makes the "
        "sequential path's share the paper's at 720 ranks with daily output",
    )
    rows = results.rows(SHARES)
    missing = {k: m for k, m in SHARE_METHODS.items() if m not in rows}
    figure.missing = {label: results.reason(SHARES, m) for label, m in missing.items()}
    if SEQUENTIAL in missing:
        return figure
    row = rows[SHARE_METHODS[SEQUENTIAL]]
    computing = (row["median_seconds"] + row["phases"]["open"]) * (8114 - 494) / 494
    values = {
        label: [share(rows[method], days // n, computing) for n in (1, 4)]
        for label, method in SHARE_METHODS.items()
        if label not in missing
    }
    paper = {f"paper, {label}": list(found[0]) for label, found in TABLE_6.items()}
    heads = ["I/O share, % (the paper's: 720 ranks)", "daily", "every 4 days"]
    figure.add_table(heads, values | paper, "{:.2f}")
    serial = values.pop(SEQUENTIAL)
    if values:
        label = min(values, key=lambda k: values[k][0])
        best, ratio = values[label], serial[0] / values[label][0]
        figure.verdict = graded(ratio, 3)
        figure.finding = (
            f"Where sequential output takes {serial[0]:.1f} % of the run, {label} takes "
            f"{best[0]:.1f} % ({times(ratio)} less; the paper: up to 8.2 times); every 4 days "
            f"{serial[1]:.1f} and {best[1]:.1f} %."
        )
    return figure


def figures(results: Results, preset: Preset) -> list[Figure]:
    opening, *others = (against_layout(results, preset, *which) for which in PHASES)
    return [opening, reading(results, preset), *others, shares(results, preset)]
