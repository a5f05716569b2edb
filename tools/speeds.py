#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the tables of speeds in README.md and docs/performance.md true.

speeds.py --program BENCH --launch "MPIRUN..." [--repetitions N] [--folder F] [--root R] [...]
    measures all tables with thalweg-bench, stores the figures in docs/assets/speeds.json, and
    writes the tables; other arguments go to thalweg-bench
speeds.py --write [--root R]     writes the tables from the stored figures
speeds.py --check [--root R]     fails if the tables are not those of the stored figures, or if
                                 the figures are older than 300 commits
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = "docs/assets/speeds.json"
OLDEST = 300  # commits
COLUMNS = [("fv-b", 4), ("fv-b", 16), ("fv-d", 16), ("t85", 16)]
COPYING = "record, tw_put"
README_ROWS = {
    "record": "**Thalweg**, `tw_put_deferred`",
    COPYING: "**Thalweg**, `tw_put`",
    "peer-pnetcdf-nonblocking": "PnetCDF, non-blocking",
    "peer-pnetcdf": "PnetCDF, blocking",
    "netcdf4": "netCDF-4, parallel (syncs)",
    "peer-serial-default": "netCDF, one rank",
}
ROWS = {
    "record": "`record` (the default)",
    COPYING: "`record` with `tw_put` (`--put copy`)",
    "slabs": "`slabs`",
    "serial": "`serial`",
    "direct": "`direct`",
    "netcdf4": "`netcdf4`: parallel netCDF-C, which syncs at its close",
    "peer-serial": "`peer-serial`: gather, netCDF-C, 4 MiB buffer",
    "peer-serial-default": "`peer-serial-default`: with its default buffer",
    "peer-pnetcdf": "`peer-pnetcdf`",
    "peer-pnetcdf-nonblocking": "`peer-pnetcdf-nonblocking`",
}
BEGIN = "<!-- speeds: {} -->\n"
END = "<!-- end -->\n"


def git(root: Path, *words: str) -> str | None:
    """Returns what git prints, or nothing if it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# ---- measuring -------------------------------------------------------------------------------


def bench(options: argparse.Namespace, workload: str, ranks: int, put: str, methods: list[str]):
    """Returns the report of one run of thalweg-bench."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [*options.launch.split(), "-n", str(ranks), options.program, workload]
        command += ["--methods", ",".join(methods), "--put", put, "--dir", str(options.folder)]
        command += ["--repetitions", str(options.repetitions), "--json", str(report)]
        subprocess.run([*command, *options.more], check=True)
        return json.loads(report.read_text())


def measure(options: argparse.Namespace) -> None:
    deferred = ["raw", *(name for name in ROWS if name != COPYING)]
    figures: dict = {"commit": git(ROOT, "rev-parse", "HEAD") or "unknown"}
    figures |= {"date": "", "repetitions": options.repetitions, "machine": {}, "columns": []}
    for workload, ranks in COLUMNS:
        first = bench(options, workload, ranks, "deferred", deferred)
        second = bench(options, workload, ranks, "copy", ["raw", "record"])
        rows = {row["method"]: row for row in first["results"]}
        rows[COPYING] = next(row for row in second["results"] if row["method"] == "record")
        for name, row in rows.items():
            if "error" in row or "wrong" in row:
                sys.exit(f"{workload}, {name}: {row.get('error') or row['wrong']}")
        keys = ("median_seconds", "ratio_to_raw", "min_ratio_to_raw", "max_ratio_to_raw")
        keys += ("cpu_seconds", "peak_bytes")
        methods = {name: {k: float(f"{row[k]:.4g}") for k in keys} for name, row in rows.items()}
        column = {"workload": workload, "ranks": ranks, "bytes": rows["raw"]["bytes"]}
        figures["columns"].append(column | {"methods": methods})
        figures["date"], figures["machine"] = first["date"][:10], first["machine"]
    figures["machine"].pop("load_average", None)
    (options.root / STORE).write_text(json.dumps(figures, indent=1) + "\n")


# ---- tables ----------------------------------------------------------------------------------


def lines(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def when(figures: dict) -> str:
    machine = figures["machine"]
    commit = figures["commit"][:8]
    n = figures["repetitions"]
    return lines(
        f"Measured on {figures['date']} (commit {commit}): {machine['cores']} cores "
        f"({machine['processor']}), {machine['file_system'].split()[0]}, "
        f"{machine['mpi'].replace(' v', ' ')}, PnetCDF {machine['pnetcdf']}, "
        f"netCDF-C {machine['netcdf_c']}; "
        + (f"medians of {n} repetitions." if n > 1 else "one repetition.")
    )


def table(figures: dict, head: str, rows: dict[str, str], cell) -> str:
    columns = figures["columns"]
    names = [f"{column['workload']}, {column['ranks']}" for column in columns]
    rows_of_table = [f"| {head} | {' | '.join(names)} |", "|---" * (len(columns) + 1) + "|"]
    for method, text in rows.items():
        cells = (cell(column["methods"][method]) for column in columns)
        rows_of_table.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join(rows_of_table) + "\n"


def ratio(row: dict) -> str:
    return f"{row['ratio_to_raw']:.2f}"


def costs(row: dict) -> str:
    return f"{row['cpu_seconds']:.2f}, {row['peak_bytes'] / 1e6:.1f}"


def readme(figures: dict) -> str:
    return f"{when(figures)}\n" + table(figures, "CAM, ranks", README_ROWS, ratio)


def performance(figures: dict) -> str:
    others = ("slabs", "serial", "direct")  # of these only the times
    cost_rows = {"raw": "`raw`"} | {m: text for m, text in ROWS.items() if m not in others}
    return (
        f"{when(figures)}\n"
        + table(figures, "method", ROWS, ratio)
        + "\nSeconds of all processors, and MB by which the largest rank grows:\n\n"
        + table(figures, "method", cost_rows, costs)
    )


PAGES = {"README.md": readme, "docs/performance.md": performance}


def with_tables(page: str, name: str, text: str) -> str:
    begin = BEGIN.format(name)
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.DOTALL)
    if len(pattern.findall(page)) != 1:
        sys.exit(f"{name}: not one pair of the lines '{begin.strip()}' and '{END.strip()}'")
    return pattern.sub(lambda _: f"{begin}\n{text}\n{END}", page)


def write(root: Path) -> None:
    figures = json.loads((root / STORE).read_text())
    for name, make in PAGES.items():
        page = root / name
        page.write_text(with_tables(page.read_text(), name, make(figures)))


# ---- checking --------------------------------------------------------------------------------


def age_problem(root: Path, commit: str) -> str:
    """Returns what is wrong with the commit of the figures."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        print("speeds: without git's history the age of the figures is not checked")
        return ""
    newer = git(root, "rev-list", "--count", f"{commit}..HEAD")
    if newer is None:
        return f"{STORE}: its commit {commit} is not in git's history"
    if int(newer) > OLDEST:
        return f"{STORE}: {newer} commits are newer than its commit {commit}"
    return ""


def check(root: Path) -> int:
    figures = json.loads((root / STORE).read_text())
    problems = []
    for name, make in PAGES.items():
        page = (root / name).read_text()
        if with_tables(page, name, make(figures)) != page:
            problems.append(f"{name}: its tables are not those of {STORE}: tools/speeds.py --write")
    if problem := age_problem(root, figures["commit"]):
        problems.append(f"{problem}: measure again with ./run bench --readme")
    print("\n".join(problems) or "speeds: ok")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./run bench --readme",
        description="Measures the tables of README.md and docs/performance.md, and writes them.",
        epilog="Other options go to thalweg-bench.",
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", default=".", help="where the measured files are written")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of README.md and docs/")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--launch", help=argparse.SUPPRESS)
    options, options.more = parser.parse_known_args()
    if options.check:
        return check(options.root)
    if not options.write:
        measure(options)
    write(options.root)
    for name in PAGES:
        print(f"written: {options.root / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
