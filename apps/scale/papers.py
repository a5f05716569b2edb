# SPDX-License-Identifier: Apache-2.0
"""The papers' curves on a simulated machine, beside what the papers tell.

Shapes are to be compared, not seconds: the machine is none of the papers'.
"""

import scale

# Of POP: computing an hour, in times of what its output takes by one rank (Huang et al.: 396 s of
# computing, 2850 s of output).
POP_COMPUTE = 396 / 2850


def run(options, ranks, workload, settings, **arguments):
    """A report."""
    return scale.simulate(
        options.build,
        scale.Run(
            ranks=ranks,
            machine=options.machine,
            per_node=options.per_node,
            settings=settings,
            arguments={"workload": workload, "steps": 2} | arguments,
            numbers=dict(options.set),
            seconds=options.seconds,
        ),
    )


def step(options, ranks, workload, settings, **arguments):
    return scale.blocked(run(options, ranks, workload, settings, **arguments))


def cam(options):
    """Speed-up over one writing rank."""
    print("\nCAM FV-C: times faster than serial (paper, FV-D: 9 to 14, best at about 64 ranks)")
    print(" ranks   slabs  record")
    for ranks in options.ranks:
        serial = step(options, ranks, "fv-c", "method=serial")
        times = []
        for method in ("slabs", "record"):
            writers = min(ranks, 32)
            took = step(options, ranks, "fv-c", f"method={method}; writers={writers}")
            times.append(serial / took)
        print(f"{ranks:>6}{times[0]:>8.1f}{times[1]:>8.1f}", flush=True)


def cfio(options):
    """Speed-up of the run over serial output, by servers."""
    ranks = options.ranks[-1]
    serial = step(options, ranks, "pop", "method=serial", steps=1)
    compute = round(POP_COMPUTE * serial, 4)
    steps = 6
    before = steps * (compute + serial)
    bound = before / (steps * compute)
    print(
        f"\nPOP on {ranks} ranks: times faster than serial output by servers (paper: 6.9 with 32 "
        f"servers for 1280 ranks, 7.9 with 64; all hidden: {bound:.1f})"
    )
    for servers in sorted({max(1, ranks * share // 100) for share in (1, 2, 4, 8, 16)}):
        settings = f"method=record; service=servers; servers={servers}"
        report = run(options, ranks + servers, "pop", settings, steps=steps, compute=compute)
        took = sum(report["seconds"]["steps"]) + report["seconds"]["close"]
        print(f"{servers:>6} servers {before / took:>6.1f}", flush=True)


def cmaq(options):
    """Rows against columns, and the stripes of the file."""
    ranks = options.ranks[-1]
    print(
        f"\nCMAQ CA on {ranks} ranks, ms a step by stripes (paper: rows beat columns; 5 to 11 best)"
    )
    print("stripes    rows columns  direct  serial")
    for stripes in (2, 5, 11, 20, 40):
        times = []
        for method in ("rows", "columns", "direct", "serial"):
            settings = f"method={method}; stripe_count={stripes}; stripe_size=1MiB"
            times.append(1e3 * step(options, ranks, "cmaq-ca", settings, steps=1, variables=24))
        print(f"{stripes:>7}" + "".join(f"{t:>8.0f}" for t in times), flush=True)


def mom5(options):
    """I/O layouts: writers of a node."""
    print(
        "\nMOM5 0.25 degrees, ms a step by ranks and writers a node (paper: less with more ranks,"
    )
    print("a little more with more writers a node; a serial file takes several times as long)")
    print(" ranks  serial    1/node  2/node  4/node  8/node")
    for ranks in options.ranks:
        times = [1e3 * step(options, ranks, "mom5-025", "method=serial", steps=1)]
        for n in (1, 2, 4, 8):
            settings = f"method=tiles; writers={n}/node"
            times.append(1e3 * step(options, ranks, "mom5-025", settings, steps=1))
        print(
            f"{ranks:>6}{times[0]:>8.0f}  " + "".join(f"{t:>8.0f}" for t in times[1:]), flush=True
        )


def papers(options):
    for curve in (cam, cfio, cmaq, mom5):
        if not options.ways or curve.__name__ in options.ways:
            curve(options)
