# SPDX-License-Identifier: Apache-2.0
"""The output of `./run plan`: tables for people, JSON for programs."""

import json
import math

from choice import settings_of, size_text

TERMS = (
    "agree", "copy", "pack", "message", "exchange", "unpack", "compose", "write", "disk", "first",
    "lock", "metadata", "compress", "rounds",
)  # fmt: skip


def seconds_text(seconds):
    """Formats seconds with three digits or more."""
    digits = 0 if seconds >= 100 or seconds == 0 else 2 if seconds >= 1 else 4
    return f"{seconds:.{digits}f}"


def percent_text(part):
    """Formats a part of a whole in per cent."""
    digits = 2 if part < 0.00995 else 1 if part < 0.0995 else 0
    return f"{100 * part:.{digits}f} %"


def grid_text(run):
    """Formats the process grid."""
    names = list(run.dimensions)
    return ", ".join(f"{names[axis['dim']]} x {axis['parts']}" for axis in run.grid)


def options_table(run, plan):
    """Formats the table of methods and services."""
    form = "{:<10} {:<17} {:>7} {:>8} {:>9} {:>12} {:>9} {:>8} {:>7} {:>9} {:>9}  {}\n"
    text = form.format(
        "service", "method", "writers", "writes", "calls s", "background s", "cost s", "hidden",
        "share", "a rank", "a node", "why not",
    )  # fmt: skip
    for o in plan.options:
        hidden = "no" if o.way.service == "inline" else percent_text(o.outcome.hidden)
        text += form.format(
            o.way.service, o.way.method + (", own files" if o.way.own_files else ""),
            o.work.writers, f"{o.work.calls:.0f}", seconds_text(o.outcome.calls),
            seconds_text(o.outcome.behind), seconds_text(o.outcome.period - run.compute), hidden,
            percent_text(o.share), size_text(o.memory.rank), size_text(o.memory.node),
            "best" if o is plan.best else o.why,
        )  # fmt: skip
    return text


def servers_table(plan):
    """Formats the table of numbers of servers."""
    if not plan.servers:
        return ""
    text = f"\n{'servers':>8} {'run s':>10} {'share':>7} {'hidden':>7}  run\n"
    longest = max(o.seconds for o in plan.servers)
    best = plan.best_servers
    for o in plan.servers:
        bar = "#" * math.floor(40 * o.seconds / longest + 0.5)
        text += (
            f"{o.way.servers:>8} {seconds_text(o.seconds):>10} {percent_text(o.share):>7} "
            f"{percent_text(o.outcome.hidden):>7}  {bar}"
            f"{'  best' if o is best else ''}{'' if o.fits else '  too little memory'}\n"
        )
    gain = seconds_text(plan.without_servers - best.seconds)
    if plan.servers_pay:
        return text + f"{best.way.servers} servers pay: {gain} s less than without servers\n"
    return text + (
        f"Servers do not pay: the run takes {seconds_text(best.seconds)} s with "
        f"{best.way.servers}, {seconds_text(plan.without_servers)} s without\n"
    )


def settings_text(o):
    """Formats settings in the form that tw_init takes."""
    return "; ".join(f"{name}={value}" for name, value in settings_of(o).items())


def advice(plan):
    """Formats the best settings."""
    best = plan.best
    text = (
        f"\nBest: {settings_text(best)}: output takes {percent_text(best.share)} of the run "
        f"({seconds_text(best.seconds * best.share)} s of {seconds_text(best.seconds)} s)\n"
        "Configuration file (THALWEG_CONFIG):\n"
    )
    text += "".join(f'  {name} = "{value}"\n' for name, value in settings_of(best).items())
    if not best.fits:
        text += "Nothing fits into the memory of a node.\n"
    if any(o.slow_disk for o in plan.options):
        text += "The run writes more than memory holds, faster than the disk takes it.\n"
    return text


def as_text(run, shares, plan):
    """Formats a plan for people."""
    figures = "assumed figures: measure with thalweg-plan calibrate"
    if run.machine.ranks:
        figures = f"figures of {run.calibration}"
    text = f"{run.title}\n" if run.title else ""
    text += (
        f"{run.ranks} ranks ({grid_text(run)}) on {run.nodes} nodes of {run.cores} cores, "
        f"{run.file_system}; {figures}\n"
        f"{run.outputs} outputs of {size_text(shares.bytes)} ({shares.variables} variables), "
        f"{size_text(run.outputs * shares.bytes)} in all; {seconds_text(run.compute)} s of "
        "computing between two\n"
    )
    if shares.warning:
        text += f"Note: {shares.warning}\n"
    readers = "each rank what it holds"
    if plan.reading.exchanged:
        readers = f"by {plan.reading.writers} readers"
    return (
        f"{text}\n{options_table(run, plan)}{advice(plan)}{servers_table(plan)}\n"
        f"Reading an output back, as after a restart: {seconds_text(plan.read_seconds)} s, "
        f"{readers}\n"
    )


def row(run, o):
    """Returns an option for programs."""
    return {
        "service": o.way.service,
        "method": o.way.method,
        "own_files": o.way.own_files,
        "settings": settings_text(o),
        "writers": o.work.writers,
        "servers": o.way.servers,
        "files": max(1, math.ceil(o.work.files * run.outputs)),
        "writes_of_a_writer": o.work.calls,
        "messages": o.work.messages,
        "bytes_between_nodes": o.work.received,
        "memory_rank": o.memory.rank,
        "memory_node": o.memory.node,
        "fits": o.fits,
        "terms": {term: getattr(o.cost, term) for term in TERMS},
        "seconds_in_calls": o.outcome.calls,
        "seconds_in_background": o.outcome.behind,
        "seconds_slower": o.outcome.slower,
        "seconds_per_output": o.outcome.period - run.compute,
        "hidden": o.outcome.hidden,
        "run_seconds": o.seconds,
        "share_of_run": o.share,
        "why_not": o.why,
    }


def as_json(run, shares, plan):
    """Formats a plan for programs."""
    known = math.isfinite(plan.without_servers)
    out = {
        "description": run.file,
        "title": run.title,
        "ranks": run.ranks,
        "nodes": run.nodes,
        "cores": run.cores,
        "decomposition": grid_text(run),
        "file_system": run.file_system,
        "measured": run.machine.ranks > 0,
        "outputs": run.outputs,
        "bytes_of_an_output": shares.bytes,
        "bytes": shares.bytes * run.outputs,
        "compute_seconds": run.compute * run.outputs,
        "note": shares.warning,
        "storage": run.storage,
        "reading": {
            "seconds": plan.read_seconds,
            "readers": plan.reading.writers,
            "exchanged": plan.reading.exchanged,
        },
        "best": row(run, plan.best),
        "options": [row(run, o) for o in plan.options],
        "servers": {
            "best": plan.best_servers.way.servers if plan.servers else 0,
            "pay": plan.servers_pay,
            "run_seconds_without": plan.without_servers if known else None,
            "curve": [row(run, o) for o in plan.servers],
        },
    }
    return json.dumps(out, indent=2) + "\n"
