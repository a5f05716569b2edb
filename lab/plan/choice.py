# SPDX-License-Identifier: Apache-2.0
"""Predicts the cost of each method and service for a run, and how many servers pay."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import model
from machine import rate_of

# Options whose times differ by less than this factor count as equally fast.
ALIKE = 1.005
# Another number of writers than the library's own is preferred only if its time is less than this
# fraction of the library's: predictions are about as inaccurate.
WORTHWHILE = 0.95
# Fraction of a node's memory in which Linux keeps data that are not yet on a local disk
# (vm.dirty_ratio).
DIRTY_PART = 0.2
METHODS = ("record", "slabs", "rows", "columns", "tiles", "own files", "direct", "serial")


@dataclass(frozen=True)
class Way:
    """A way to write a step."""

    service: str
    method: str
    own_files: bool = False  # each tile is a separate file
    writers: str = "auto"  # "N" or "N/node"; ignored with servers
    servers: int = 0


def size_text(size):
    """Formats a size, for example "49.6 MB"."""
    units = ["B", "kB", "MB", "GB", "TB", "PB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.1f} {units[0]}" if size < 99.5 and units[0] != "B" else f"{size:.0f} {units[0]}"


def make_option(run, shares, way):
    """Returns the predicted cost of a way: work, cost, outcome, memory, seconds of the run."""
    work = shares.work_of(way)
    o = SimpleNamespace(way=way, work=work, writers="", slow_disk=False, why="")
    ranks = math.ceil(run.ranks / run.nodes)
    o.cost = model.cost_of(run.machine, run.figures, work)
    if way.service == "inline":
        o.outcome = model.inline_outcome(o.cost, run.compute)
        o.memory = model.inline_memory(work, run)
    elif way.service == "background":
        free = run.cores >= ranks + math.ceil(work.writers / work.writer_nodes)
        o.outcome = model.background_outcome(o.cost, run.figures, work, run.compute, free)
        o.memory = model.queued_memory(work, run, 1)
    else:
        extra = run.cores >= ranks + math.ceil(way.servers / run.nodes)
        if not extra:
            work.ranks = run.ranks - way.servers
            work.rank_bytes *= run.ranks / work.ranks
            work.packed = work.rank_bytes
            o.cost = model.cost_of(run.machine, run.figures, work)
        o.outcome = model.servers_outcome(run.machine, o.cost, work, run.compute, extra)
        # Up to three steps can wait at the servers; only two if some nodes have no server.
        o.memory = model.queued_memory(work, run, 2 if work.writer_nodes < run.nodes else 3)
    limit_to_disk(run, o)
    o.fits = run.memory == 0 or o.memory.node <= run.memory
    # The last output is not hidden, because no computing follows it.
    o.seconds = run.outputs * o.outcome.period + o.outcome.behind
    o.share = 1 - run.outputs * run.compute / o.seconds if o.seconds > 0 else 0
    return o


def limit_to_disk(run, o):
    """Limits the rate to that of the disk if the data do not fit in memory."""
    cached = DIRTY_PART * run.memory * max(1, o.work.writer_nodes)
    if run.durable or run.memory == 0 or o.work.bytes * run.outputs <= cached:
        return
    disk = o.work.bytes / rate_of(run.figures, o.work.writers, True)
    if disk <= o.outcome.period:
        return
    o.slow_disk = True
    o.outcome.period = disk
    whole = o.outcome.calls + max(o.outcome.behind, disk)
    if o.way.service != "inline":
        hidden = 1 - (disk - run.compute) / whole
        o.outcome.hidden = min(max(hidden, 0), o.outcome.hidden)


def settings_of(o):
    """Returns the settings that select an option, by name."""
    found = {"service": o.way.service, "method": o.way.method}
    if o.way.own_files:
        found["files"] = "tiles"
    if o.writers:
        found["writers"] = o.writers
    if o.way.servers:
        found["servers"] = str(o.way.servers)
    return found


def server_counts(run):
    """Returns 1, 2, 3, 4, 6, 8, 12, ... and multiples of the nodes, up to half of the ranks."""
    most = max(1, run.ranks // 2)
    powers = [2**k for k in range(most.bit_length())]
    counts = {*powers, *(p + p // 2 for p in powers), *(run.nodes * n for n in (1, 2, 4))}
    return sorted(n for n in counts if n <= most)


def possible(run, way):
    """Tests if the library supports a combination. It does not support rows, columns or tiles for
    lists, tiles by PnetCDF, or methods that divide compressed chunks, except in separate files."""
    if run.list_run > 0 and way.method in ("rows", "columns", "tiles"):
        return False
    if way.method == "direct" and (way.service != "inline" or run.storage == "netcdf4"):
        return False
    if run.storage == "pnetcdf":
        return way.service == "inline" and not way.own_files
    return run.deflate == 0 or way.own_files or way.method in ("serial", "record")


def writers_of(run, own_files, service):
    """Returns the setting "writers" that the library would choose, or auto. If data are compressed,
    all ranks are writers. In the background, the writers are threads on free cores as with
    service=auto, or one thread per rank."""
    if run.deflate == 0 or own_files or run.writers != "auto":
        return "auto"
    ranks = math.ceil(run.ranks / run.nodes)
    free = min(ranks, run.cores - ranks)
    return f"{free if service == 'background' and free > 0 else ranks}/node"


def with_best_writers(run, shares, usual):
    """Returns the option with the library's own number of writers, or with a better number among
    those for which the file system was measured."""
    best = make_option(run, shares, usual)
    if (
        not run.machine.ranks or run.writers != "auto" or run.storage != "posix"
        or usual.own_files or usual.method not in ("record", "slabs", "tiles")
    ):  # fmt: skip
        return best

    def output_seconds(o):
        return o.seconds - run.outputs * run.compute

    least = WORTHWHILE * output_seconds(best)
    measured = run.figures.writers
    on_node = math.ceil(run.ranks / run.nodes)
    counts = sorted({on_node, *(2**k for k in range(on_node.bit_length()))})
    for n in counts:
        way = replace(usual, writers=f"{n}/node")
        o = make_option(run, shares, way)
        within = measured[0] <= o.work.writers <= measured[-1]
        if within and o.fits and output_seconds(o) < least:
            least, best = output_seconds(o), o
            best.writers = way.writers
    return best


def reason_of(run, o, best):
    """Explains why an option takes longer than the best one."""
    if not o.fits:
        return f"needs {size_text(o.memory.node)} of a node's memory of {size_text(run.memory)}"
    if o.seconds <= best.seconds * ALIKE:
        return "as fast within 0.5 %"
    each = o.work.writer_bytes / o.work.calls if o.work.calls > 0 else 0
    one = o.work.writers == 1

    def calls(option):
        return option.work.calls * run.figures.call

    def writing(option):
        return max(option.cost.write - calls(option), option.cost.disk)

    def more(term):
        return getattr(o.cost, term) - getattr(best.cost, term)

    terms = [
        (more("lock"), "writers write parts of the same blocks"),
        (calls(o) - calls(best), f"{o.work.calls:.0f} writes of {size_text(each)} by a writer"),
        (writing(o) - writing(best),
         "one writer writes everything" if one else f"{o.work.writers} writers"),
        (more("message"), f"{size_text(o.work.received)} between nodes into one of them"),
        (more("metadata"), "creates more files"),
        (more("compress"),
         "one writer compresses everything" if one else f"{o.work.writers} writers compress"),
        (more("rounds"), f"{o.work.rounds:.0f} collective calls of MPI-IO"),
        (o.outcome.slower - best.outcome.slower,
         "no core is free for the writing thread" if o.way.service == "background"
         else "servers take ranks from the model"),
    ]  # fmt: skip
    most, text = max(terms, key=lambda term: term[0])
    waits = o.outcome.period - run.compute - o.outcome.slower
    if o.way.service == "inline" and best.way.service != "inline" and most < waits / 2:
        return "the model waits for the output"
    if most <= 0.01 * o.outcome.period:
        slow = o.outcome.behind > run.compute
        return "writing takes longer than computing" if slow else "more work in the calls"
    return text


def make_plan(run, shares):
    """Returns all options, the fastest first; the best one; those with servers by their number;
    seconds of the run with the best option without servers; and the cost of reading back."""
    plan = SimpleNamespace(options=[], servers=[], best_servers=None)
    if run.ranks > 1 and possible(run, Way("servers", "record")):
        plan.servers = [
            make_option(run, shares, Way("servers", "record", servers=n))
            for n in server_counts(run)
        ]
        fitting = [o for o in plan.servers if o.fits]
        least = min((o.seconds for o in fitting), default=math.inf)
        fast = [o for o in fitting if o.seconds <= least * ALIKE]
        plan.best_servers = (fast or plan.servers)[0]  # the fewest among equally fast ones
    plan.reading = shares.reading
    plan.read_seconds = model.read_seconds(run.machine, run.figures, plan.reading)
    for name in METHODS:
        own_files = name == "own files"
        method = "tiles" if own_files else name
        for service in ("inline", "background"):
            way = Way(service, method, own_files, writers_of(run, own_files, service))
            if possible(run, way):
                plan.options.append(with_best_writers(run, shares, way))
        way = Way("servers", method, own_files)
        if plan.servers and possible(run, way):
            servers = plan.best_servers.way.servers
            plan.options.append(make_option(run, shares, replace(way, servers=servers)))
    plan.options.sort(key=lambda o: (not o.fits, o.seconds))
    fitting = [o for o in plan.options if o.fits]
    least = min((o.seconds for o in fitting), default=math.inf)
    plan.without_servers = min(
        (o.seconds for o in fitting if o.way.service != "servers"), default=math.inf
    )

    def simplicity(o):
        return ("inline", "background", "servers").index(o.way.service), o.way.method != "record"

    # The simplest of the fastest options is the best.
    fast = [o for o in fitting if o.seconds <= least * ALIKE] or plan.options[:1]
    plan.best = min(fast, key=simplicity)
    plan.servers_pay = (
        plan.best_servers is not None
        and plan.best_servers.fits
        and plan.best_servers.seconds * ALIKE < plan.without_servers
    )
    for o in plan.options:
        if o is not plan.best:
            o.why = reason_of(run, o, plan.best)
    return plan
