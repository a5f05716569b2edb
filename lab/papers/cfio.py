# SPDX-License-Identifier: Apache-2.0
"""Huang et al. 2014: CFIO, output on dedicated ranks during the model's computation."""

from .presets import Preset, repeating
from .report import NOT, Figure, graded, known, percent, times
from .runs import Results, Run

PNETCDF = "peer-pnetcdf"

# The paper's figures for a model: seconds with its own output, without any, and with CFIO; the rate
# of its one writer over that of all servers (about 1 GB/s, fig. 9).
PAPER = {
    "pop": ("CFIO, fig. 5", 3246, 331, {"32 servers": 471, "64 servers": 413}, 0.108, "1280"),
    "cice": ("CFIO, fig. 7", 928, 178, {"32 servers": 226, "64 servers": 204}, 0.107, "1280"),
    "licom": ("CFIO, fig. 8", 9101, 4383, {"50 servers": 4561}, 0.031, "800"),
}


def throughput_name(clients: int) -> str:
    return f"cfio-1-p{clients}"


def named(ways: list[str]) -> dict[str, str]:
    """Returns the ways of output by their labels."""
    return {way.replace("servers:", "servers, ").replace("peer-pnetcdf", "PnetCDF"): way
            for way in ways}  # fmt: skip


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


def throughput(results: Results, preset: Preset) -> Figure:
    scale, variables, clients, servers = preset.throughput
    figure = Figure(
        "cfio-throughput",
        "CFIO, fig. 9",
        "Throughput of program 1 against servers and clients",
        "More servers write faster, up to the disks; forwarding costs some 10 % of the rate.",
        [
            "PnetCDF 1.24 GB/s with 128 clients, PIO 1.2 GB/s",
            "CFIO about 1.0 GB/s with 128 servers and 512 clients",
        ],
        f"{variables} of 500 variables, {scale:g} of the grid each way, "
        f"up to {clients[-1]} clients and {servers[-1]} servers",
    )
    columns = {str(ranks): throughput_name(ranks) for ranks in clients}
    methods = named([*(f"servers:{s}" for s in servers), PNETCDF])
    values = figure.compare(
        results, "MB/s, clients", columns, lambda _: methods, lambda row: row["mb_per_s"]
    )
    peers = known(values.pop("PnetCDF"))
    served = known([rate for rates in values.values() for rate in rates])
    if served and peers:
        ratio = max(served) / max(peers)
        figure.verdict = graded(ratio, 0.9, 0.7)
        figure.finding = (
            f"Through servers the best is {max(served):,.0f} MB/s, {percent(ratio)} of PnetCDF's "
            f"{max(peers):,.0f} MB/s (paper: about 80 to 90 %)."
        )
    return figure


def program_two(results: Results, preset: Preset) -> Figure:
    scale, steps, ranks, servers = preset.overlap
    figure = Figure(
        "cfio-overlap",
        "CFIO, fig. 10",
        "Total time of program 2, as a multiple of no output",
        "Servers hide most of the output: 323 s where no output takes 300 s and PnetCDF 417 s.",
        ["no output 300 s, CFIO 323 s (1.08), PnetCDF 417 s (1.39), PIO 431 s (1.44)"],
        f"{steps} of 40 steps of {33.6 * scale**2:.1f} instead of 3200 MB, {ranks} clients; "
        "computing sleeps, writers held to 500 MB/s",
    )
    ways = ["none", "inline", PNETCDF, f"{PNETCDF}-nonblocking", "background"]
    methods = named([*ways, *(f"servers:{s}" for s in servers)])
    values = figure.compare(
        *(results, "", {"x no output": "cfio-2"}, lambda _: methods),
        lambda row: row["ratio_to_no_output"],
        "{:.3f}",
    )
    served = known([v for label, found in values.items() if "servers" in label for v in found])
    peer = values["PnetCDF"][0]
    if served and peer:
        hidden = min(served)
        saved = 1 - (hidden - 1) / (peer - 1) if peer > 1 else 0
        figure.verdict = graded(saved, 0.75, 0)
        figure.finding = (
            f"With servers the run takes {hidden:.2f} times as long as without output, with "
            f"PnetCDF in line {peer:.2f} times: {percent(max(0, saved))} of the output is hidden "
            f"(paper: {percent(1 - 23 / 117)})."
        )
    return figure


def model(results: Results, preset: Preset, name: str) -> Figure:
    source, with_output, without, served, share, ranks = PAPER[name]
    size = preset.models[name]
    bound, speedup = with_output / without, with_output / min(served.values())
    figure = Figure(
        f"cfio-{name}",
        source,
        f"Run time of {name.upper()} with output by one rank, by servers, and without",
        f"Servers make the model {speedup:.1f} times as fast; the bound is {bound:.1f}.",
        [
            f"{ranks} ranks: own output {with_output} s ({bound:.2f} times no output), no output "
            f"{without} s",
            *(f"{k} {v} s ({v / without:.2f})" for k, v in served.items()),
        ],
        f"{size.scale:g} of the grid each way, {size.steps} outputs, {preset.model_ranks} ranks; "
        f"computing sleeps, in the paper's proportion to the output; the disk is simulated: "
        f"{size.bandwidth / 1e6:.0f} MB/s, of which one writer alone gets {100 * share:.1f} %, "
        "as in the paper",
    )
    run = f"cfio-{name}"
    methods = named(["serial", "inline", "background", "servers:1", "servers:2", "none"])
    values = figure.compare(
        *(results, "", {"seconds": run}, lambda _: methods),
        lambda row: row["total_seconds"],
        "{:.3f}",
    )
    totals = {label: found[0] for label, found in values.items() if found[0] is not None}
    servers = [label for label in totals if "servers" in label]
    if servers and "serial" in totals and "none" in totals:
        fastest = min(servers, key=totals.__getitem__)
        here, most = totals["serial"] / totals[fastest], totals["serial"] / totals["none"]
        figure.verdict = graded(here / most, 0.9 * speedup / bound, 0)
        if here < 1.1:
            figure.verdict = NOT
        output = totals["serial"] - totals["none"]
        hidden = {k: [(totals["serial"] - v) / output * 100] for k, v in totals.items()}
        figure.add_table(["", "% of serial's output hidden"], hidden)
        figure.finding = (
            f"With {fastest} the run takes {totals[fastest]:.3f} s, with output by one rank "
            f"{totals['serial']:.3f} s: {times(here)} as fast; the bound is {most:.2f} "
            f"(paper: {speedup:.1f} of {bound:.1f})."
        )
    return figure


def figures(results: Results, preset: Preset) -> list[Figure]:
    return [
        throughput(results, preset),
        program_two(results, preset),
        *(model(results, preset, name) for name in preset.models),
    ]
