# SPDX-License-Identifier: Apache-2.0
"""Compares simulated runs with runs of the same program by a real MPI, and with each other.

    check_scale.py WHAT SIMULATION PROGRAM -- mpirun [flags]

WHAT: counts, reading, bytes, repeat or planning. SIMULATION: the build folder of the
preset scale. PROGRAM: thalweg-scale of this build. Exits with 77 if one of them does not exist.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "lab/scale"))
import simulation

SKIPPED = 77
# Settings that the library would choose by the file system, which differs in the simulation.
FIXED = "storage=posix; alignment=65536; node_size=4"
WORKLOAD = {"workload": "demo", "fields": "yes", "steps": 2, "file": "out.nc"}


def simulated(build, ranks, settings, folder, **arguments):
    # Run all ranks on one host, as on this machine; node_size divides them into nodes.
    run = simulation.Run(
        ranks=ranks,
        machine="parallel",
        per_node=max(ranks, 2),
        settings=settings,
        arguments=WORKLOAD | arguments,
        keep_data=True,
        seconds=300,
    )
    return simulation.simulate(build, run, folder)


def real(program, launch, ranks, settings, folder, **arguments):
    if "service=" not in settings:
        settings += "; service=inline"  # a simulated run uses this service, too
    given = WORKLOAD | arguments | {"settings": settings, "json": "report.json"}
    command = [*launch, "-n", str(ranks), program, *(f"{k}={v}" for k, v in given.items())]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return json.loads((folder / "report.json").read_text())


def both(build, program, launch, ranks, settings, name="out.nc", **arguments):
    """Returns reports and files of the simulated and of the real run."""
    found = []
    for run in (
        lambda to: simulated(build, ranks, settings, to, **arguments),
        lambda to: real(program, launch, ranks, settings, to, **arguments),
    ):
        with tempfile.TemporaryDirectory(prefix="check-scale.") as made:
            report = run(Path(made))
            found.append((report, (Path(made) / name).read_bytes()))
    return found


def compare(name, simulated_value, real_value):
    if simulated_value != real_value:
        sys.exit(f"{name}: simulated {simulated_value}, real {real_value}")


def check_counts(build, program, launch):
    """Compares the numbers of messages, their bytes and collective calls, of all ranks and of
    the busiest rank, by phase."""
    compared = 0
    for ranks in (1, 2, 3, 4, 7, 16):
        for method in simulation.METHODS:
            if method not in ("record", "direct") and ranks not in (3, 16):
                continue
            settings = f"{FIXED}; method={method}; writers=2/node"
            (s, s_bytes), (r, r_bytes) = both(build, program, launch, ranks, settings)
            where = f"{method} on {ranks} ranks"
            for phase, counts in r["counts"].items():
                for count, value in counts.items():
                    compare(f"{where}, {phase}, {count}", s["counts"][phase][count], value)
                    compared += value["sum"] > 0
            for count in ("method", "writers", "writes", "bytes", "messages", "message_bytes"):
                compare(f"{where}, {count}", s["summary"][count], r["summary"][count])
            if s_bytes != r_bytes:
                sys.exit(f"{where}: the files differ")
    print(f"{compared} counts that are not zero are equal")
    if compared < 100:
        sys.exit("hardly anything was counted")


def check_reading(build, program, launch):
    """Compares the writing and reading of a restart in the same way, and the data that were read
    with those that were written."""
    compared = 0
    for ranks in (1, 3, 7, 16):
        for readers in ("1/node", "2/node", "4/node"):
            os.environ["THALWEG_TEST_STRAIGHT"] = "1" if readers == "4/node" else "128KiB"
            settings = f"{FIXED}; writers=2/node; readers={readers}"
            (s, s_bytes), (r, r_bytes) = both(
                *(build, program, launch, ranks, settings),
                name="restart_out.nc",
                read="yes",
                restart="yes",
            )
            where = f"{settings} on {ranks} ranks"
            for phase in ("restart", "restart_read", "read_open", "read"):
                for count, value in r["counts"][phase].items():
                    compare(f"{where}, {phase}, {count}", s["counts"][phase][count], value)
                    compared += value["sum"] > 0
                if s["seconds"][phase] <= 0:
                    sys.exit(f"{where}: {phase} took no time")
            if s_bytes != r_bytes:
                sys.exit(f"{where}: the restarts differ")
    print(f"{compared} counts that are not zero are equal")
    if compared < 50:
        sys.exit("hardly anything was counted")


def check_bytes(build, program, launch):
    """Compares the files of runs with servers or threads. Their messages depend on time, but
    their files do not."""
    services = ("service=background", "service=servers; servers=2")
    for ranks, method in ((3, "record"), (7, "slabs"), (8, "rows")):
        for service in services:
            settings = f"{FIXED}; method={method}; {service}"
            (s, s_bytes), (r, r_bytes) = both(build, program, launch, ranks, settings)
            where = f"{method} on {ranks} ranks, {service}"
            compare(f"{where}, service", s["summary"]["service"], r["summary"]["service"])
            compare(f"{where}, bytes", s["summary"]["bytes"], r["summary"]["bytes"])
            if s_bytes != r_bytes:
                sys.exit(f"{where}: the files differ")


def check_repeat(build, program, launch):
    """Checks that times and counts are the same in every run. The ranks send each other the
    file's path, so its length must not differ."""
    for ranks, settings in (
        (16, "method=record; node_size=4"),
        (16, "method=rows; node_size=4"),
        (18, "method=record; node_size=4; service=servers; servers=2"),
        (8, "method=record; node_size=4; service=background"),
    ):
        reports = []
        for folder in ("one", "two"):
            with tempfile.TemporaryDirectory(prefix=f"check-scale.{folder}.") as made:
                report = simulated(build, ranks, settings, made, compute=0.01)
                del report["summary"]["path"]
                reports.append(report)
        for part in reports[0]:
            compare(f"{settings}: two runs, {part}", reports[0][part], reports[1][part])
        if reports[0]["seconds"]["steps"][0] <= 0.01:
            sys.exit(f"{settings}: writing took no time")


def check_planning(build, program, launch):
    """Checks that, without steps and with messages that take no time, counts equal those of a
    run with steps and times; and that calls and messages are the same on four times as many
    ranks."""
    del program, launch  # not used, because these runs are only simulated
    counted = {}
    for ranks, steps in ((32, 0), (128, 0), (128, 1)):
        arguments = {"workload": "fv-b", "steps": steps}
        run = simulation.Run(ranks, per_node=8, arguments=arguments, settings="method=record")
        report = simulation.simulate(build, run)
        if (report["numbers"]["link"] == 0) != (steps == 0):
            sys.exit(f"{steps} steps: a link of {report['numbers']['link']} bytes a second")
        counted[ranks, steps] = report["counts"]
    for phase in ("init", "open"):
        for count, value in counted[128, 1][phase].items():
            compare(f"{phase}, {count}", counted[128, 0][phase][count], value)
        few, many = (counted[ranks, 0][phase]["collectives"]["most"] for ranks in (32, 128))
        if many > few:
            sys.exit(f"{phase}: {many} collective calls on 128 ranks, {few} on 32")


def main():
    what, build, program = sys.argv[1:4]
    launch = sys.argv[sys.argv.index("--") + 1 :]
    missing = [p for p in (f"{build}/bin/thalweg-scale", program) if not Path(p).exists()]
    if missing or shutil.which("smpirun") is None:
        print("not there:", *(missing or ["smpirun"]))
        return SKIPPED
    checks = {
        "counts": check_counts,
        "reading": check_reading,
        "bytes": check_bytes,
        "repeat": check_repeat,
        "planning": check_planning,
    }
    checks[what](build, program, launch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
