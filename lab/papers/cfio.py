# SPDX-License-Identifier: Apache-2.0
"""Huang et al. 2014: CFIO, output on dedicated ranks during the model's computation."""

from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, Chart, Figure, Line, Table, percent, seconds, times
from .presets import Preset, repeating
from .runs import Results, Run

PNETCDF = "peer-pnetcdf"


def label(way: str) -> str:
    """Describes a way of output."""
    if way.startswith("servers:"):
        count = way.removeprefix("servers:")
        return f"{count} server" if count == "1" else f"{count} servers"
    return {PNETCDF: "PnetCDF", f"{PNETCDF}-nonblocking": "PnetCDF nonblocking"}.get(way, way)


def throughput_name(clients: int) -> str:
    return f"cfio-1-p{clients}"


# The paper's figures for a model: seconds with its own output, without any, and with CFIO; the rate
# of its one writer over that of all servers (about 1 GB/s, fig. 9).
PAPER = {
    "pop": ("CFIO, fig. 5", 3246, 331, {"32 servers": 471, "64 servers": 413}, 0.108, "1280"),
    "cice": ("CFIO, fig. 7", 928, 178, {"32 servers": 226, "64 servers": 204}, 0.107, "1280"),
    "licom": ("CFIO, fig. 8", 9101, 4383, {"50 servers": 4561}, 0.031, "800"),
}


def runs(preset: Preset) -> list[Run]:
    result = []
    scale, variables, clients, servers = preset.throughput
    services = ",".join(f"servers:{s}" for s in servers)
    for ranks in clients:
        arguments = (
            *("overlap", "cfio-1", "--ranks", str(ranks), "--scale", f"{scale:g}"),
            *("--variables", str(variables), "--steps", "1", "--compute-seconds", "0"),
            *("--bandwidth", "0", "--services", services, "--peers", PNETCDF),
        )
        result.append(Run(throughput_name(ranks), ranks, arguments + repeating(preset)))
    scale, steps, ranks, servers = preset.overlap
    services = ",".join(["background", *(f"servers:{s}" for s in servers)])
    arguments = (
        *("overlap", "cfio-2", "--ranks", str(ranks), "--scale", f"{scale:g}"),
        *("--steps", str(steps), "--compute", "sleep", "--services", services),
        *("--peers", f"{PNETCDF},{PNETCDF}-nonblocking"),
    )
    result.append(Run("cfio-2", ranks, arguments + repeating(preset)))
    for name, model in preset.models.items():
        share = PAPER[name][4]
        arguments = (
            *("overlap", name, "--ranks", str(preset.model_ranks), "--scale", f"{model.scale:g}"),
            *("--steps", str(model.steps), "--compute", "sleep", "--peers", "none"),
            *("--services", "serial,background,servers:1,servers:2"),
            *("--bandwidth", str(model.bandwidth)),
            *("--serial-bandwidth", str(round(share * model.bandwidth))),
        )
        result.append(Run(f"cfio-{name}", preset.model_ranks, arguments + repeating(preset)))
    return result


def throughput(results: Results, preset: Preset, folder: Path) -> Figure:
    scale, variables, clients, servers = preset.throughput
    figure = Figure(
        "cfio-throughput",
        "CFIO, fig. 9",
        "Throughput of program 1 against servers and clients",
        "More servers write faster, up to the disks; forwarding costs some 10 % of the rate.",
        reference=[
            "PnetCDF 1.24 GB/s with 128 clients, PIO 1.2 GB/s",
            "CFIO about 1.0 GB/s with 128 servers and 512 clients",
        ],
        scaled=f"{variables} of 500 variables, {scale:g} of the grid each way, "
        f"up to {clients[-1]} clients and {servers[-1]} servers",
    )
    lines, peers = [], []
    best_servers = best_peer = 0.0
    for ranks in clients:
        rows = results.rows(throughput_name(ranks))
        found = [(s, rows[f"servers:{s}"]["mb_per_s"]) for s in servers if f"servers:{s}" in rows]
        if found:
            lines.append(
                Line(f"{ranks} clients", [s for s, _ in found], [rate for _, rate in found])
            )
            best_servers = max(best_servers, *(rate for _, rate in found))
        if PNETCDF in rows:
            peers.append((ranks, rows[PNETCDF]["mb_per_s"]))
            best_peer = max(best_peer, peers[-1][1])
    if peers:
        lines.append(
            Line("PnetCDF, against its clients", [c for c, _ in peers], [r for _, r in peers])
        )
    names = [throughput_name(ranks) for ranks in clients]
    figure.missing = results.missing(names, [*(f"servers:{s}" for s in servers), PNETCDF])
    chart = Chart(folder, figure.name)
    chart.lines(lines, "servers (PnetCDF: clients)", "MB/s", log="x")
    chart.levels([("paper: PnetCDF 1240", 1240), ("CFIO 1000", 1000)])
    figure.image = chart.save()
    if best_servers and best_peer:
        ratio = best_servers / best_peer
        figure.verdict = HOLDS if ratio >= 0.9 else IN_PART if ratio >= 0.7 else NOT
        figure.finding = (
            f"Through servers the best is {best_servers:,.0f} MB/s, {percent(ratio)} of PnetCDF's "
            f"{best_peer:,.0f} MB/s (paper: about 80 to 90 %)."
        )
    return figure


def program_two(results: Results, preset: Preset, folder: Path) -> Figure:
    scale, steps, ranks, servers = preset.overlap
    names = ["none", "inline", PNETCDF, f"{PNETCDF}-nonblocking", "background"]
    names += [f"servers:{s}" for s in servers]
    figure = Figure(
        "cfio-overlap",
        "CFIO, fig. 10",
        "Total time of program 2, as a multiple of no output",
        "Servers hide most of the output: 323 s where no output takes 300 s and PnetCDF 417 s.",
        reference=["no output 300 s, CFIO 323 s (1.08), PnetCDF 417 s (1.39), PIO 431 s (1.44)"],
        scaled=f"{steps} of 40 steps of {33.6 * scale**2:.1f} instead of 3200 MB, {ranks} clients; "
        "computing sleeps, writers held to 500 MB/s",
        missing=results.missing(["cfio-2"], names),
    )
    rows = results.rows("cfio-2")
    measured = [n for n in names if n in rows]
    values: list[float | None] = [rows[n]["ratio_to_no_output"] for n in measured]
    paper = [
        ("paper: servers", 323 / 300),
        ("paper: PnetCDF", 417 / 300),
        ("paper: PIO", 431 / 300),
    ]
    chart = Chart(folder, figure.name)
    groups = [*map(label, measured), *(k for k, _ in paper)]
    chart.bars(
        groups,
        [("x no output", [*values, *(v for _, v in paper)])],
        "total / total without output",
        paper_groups=len(paper),
    )
    figure.image = chart.save()
    served = [rows[n]["ratio_to_no_output"] for n in measured if n.startswith("servers")]
    if served and PNETCDF in rows:
        hidden, peer = min(served), rows[PNETCDF]["ratio_to_no_output"]
        saved = 1 - (hidden - 1) / (peer - 1) if peer > 1 else 0
        figure.verdict = HOLDS if saved >= 0.75 else IN_PART if hidden < peer else NOT
        figure.finding = (
            f"With servers the run takes {hidden:.2f} times as long as without output, with "
            f"PnetCDF in line {peer:.2f} times: {percent(max(0, saved))} of the output is hidden "
            f"(paper: {percent(1 - 23 / 117)})."
        )
    return figure


def model(results: Results, preset: Preset, folder: Path, name: str) -> Figure:
    source, with_output, without, served, share, ranks = PAPER[name]
    size = preset.models[name]
    io = (with_output - without) / without
    speedup = with_output / min(served.values())
    figure = Figure(
        f"cfio-{name}",
        source,
        f"Run time of {name.upper()} with output by one rank, by servers, and without",
        f"Servers make the model {speedup:.1f} times as fast; the bound is {1 + io:.1f}.",
        reference=[
            f"{ranks} ranks: own output {with_output} s, no output {without} s, "
            + ", ".join(f"{k} {v} s" for k, v in served.items())
        ],
        scaled=f"{size.scale:g} of the grid each way, {size.steps} outputs, {preset.model_ranks} "
        f"ranks; computing sleeps, in the paper's proportion to the output; the disk is "
        f"simulated: {size.bandwidth / 1e6:.0f} MB/s, of which one writer alone gets "
        f"{100 * share:.1f} %, as in the paper",
    )
    names = ["serial", "inline", "background", "servers:1", "servers:2", "none"]
    figure.missing = results.missing([f"cfio-{name}"], names)
    rows = results.rows(f"cfio-{name}")
    measured = [n for n in names if n in rows]
    chart = Chart(folder, figure.name)
    values: list[float | None] = [rows[n]["ratio_to_no_output"] for n in measured]
    paper = [("paper: own", with_output / without)]
    paper += [(f"paper: {k}", v / without) for k, v in served.items()]
    chart.bars(
        [*map(label, measured), *(k for k, _ in paper)],
        [("x no output", [*values, *(v for _, v in paper)])],
        "total / total without output",
        paper_groups=len(paper),
    )
    figure.image = chart.save()
    served_here = [n for n in measured if n.startswith("servers")]
    if served_here and "serial" in rows and "none" in rows:
        fastest = min(served_here, key=lambda n: rows[n]["total_seconds"])
        totals = {n: rows[n]["total_seconds"] for n in ("serial", fastest, "none")}
        here, bound = totals["serial"] / totals[fastest], totals["serial"] / totals["none"]
        reached = here / bound
        output = totals["serial"] - totals["none"]
        figure.verdict = HOLDS if reached >= 0.9 * speedup / (1 + io) else IN_PART
        if here < 1.1:
            figure.verdict = NOT
        figure.finding = (
            f"With {label(fastest)} the run takes {seconds(totals[fastest])}, with output by one "
            f"rank {seconds(totals['serial'])}: {times(here)} as fast; the bound is {bound:.2f} "
            f"(paper: {speedup:.1f} of {1 + io:.1f})."
        )
        figure.tables = [
            Table(
                ["output", "seconds", "x no output", "of serial's output hidden"],
                [
                    [
                        label(n),
                        f"{rows[n]['total_seconds']:.3f}",
                        f"{rows[n]['ratio_to_no_output']:.2f}",
                        percent((totals["serial"] - rows[n]["total_seconds"]) / output),
                    ]
                    for n in measured
                ],
            )
        ]
    return figure


def figures(results: Results, preset: Preset, folder: Path) -> list[Figure]:
    return [
        throughput(results, preset, folder),
        program_two(results, preset, folder),
        *(model(results, preset, folder, name) for name in preset.models),
    ]
