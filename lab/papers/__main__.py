# SPDX-License-Identifier: Apache-2.0
"""Runs the papers' experiments, scaled to this machine, and writes the report on them."""

import argparse
import json
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import cam, cfio, cmaq, mom5
from .figures import Figure
from .page import write_page
from .presets import PRESETS, Preset
from .runs import UNKNOWN, Bench, Results, Run

PAPERS = {"cam": cam, "cmaq": cmaq, "cfio": cfio, "mom5": mom5}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run papers", description=__doc__)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="quick: 3 minutes; standard: less than 20 minutes on 2 cores (default); large: hours, "
        "for a machine with more cores; smoke: only check that it works",
    )
    parser.add_argument("--only", help=f"papers, separated by commas: {','.join(PAPERS)}")
    parser.add_argument(
        "--out", type=Path, default=Path("report"), help="directory for the report (report)"
    )
    parser.add_argument("--dir", type=Path, help="directory for the files written (--out)")
    parser.add_argument(
        "--resume", action="store_true", help="skip measurements that are already in --out"
    )
    parser.add_argument(
        "--redraw", action="store_true", help="measure nothing: redraw figures and page from --out"
    )
    parser.add_argument("--timeout", type=float, default=900, help="limit per run in seconds (900)")
    parser.add_argument("launch", nargs="*", help=argparse.SUPPRESS)  # mpirun and its flags
    options = parser.parse_args()
    if options.only:
        unknown = [name for name in options.only.split(",") if name not in PAPERS]
        if unknown:
            parser.error(f"--only {options.only}: the papers are {', '.join(PAPERS)}")
    if options.launch and shutil.which(options.launch[0]) is None:
        parser.error(f"no {options.launch[0]}")
    return options


def measure(runs: list[Run], bench: Bench, resume: bool, timeout: float) -> Results:
    """Makes the runs one after the other; with `resume` only those without complete results."""
    results = Results()
    todo = []
    for run in runs:
        known = bench.load(run) if resume else None
        if known and known.complete() and known.arguments == run.arguments:
            results.add(known)
        else:
            todo.append(run)
    for number, run in enumerate(todo, 1):
        print(f"{number} of {len(todo)}: {run.name}", file=sys.stderr, flush=True)
        results.add(bench.measure(run, timeout))
    return results


def draw(
    results: Results, names: list[str], preset: Preset, folder: Path
) -> dict[str, list[Figure]]:
    for old in folder.glob("*.png"):
        old.unlink()
    return {name: PAPERS[name].figures(results, preset, folder) for name in names}


def main() -> int:
    options = parse()
    data = options.out / "data"
    data.mkdir(parents=True, exist_ok=True)
    about = data / "about.json"
    known = json.loads(about.read_text()) if options.redraw and about.exists() else {}
    preset_name = options.preset or known.get("preset", "standard")
    preset = PRESETS[preset_name]
    only = options.only or known.get("only", "")
    names = [name for name in PAPERS if not only or name in only.split(",")]

    runs = [run for name in names for run in PAPERS[name].runs(preset)]
    start = time.monotonic()
    if options.redraw:
        bench = Bench(options.program, options.launch, data, data)
        results = Results()
        for run in runs:
            if record := bench.load(run):
                results.add(record)
    else:
        words = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
        at = words.index("--program")
        shown = words[:at] + words[at + 2 :]
        known = {
            "preset": preset_name,
            "only": only,
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "command": shlex.join(["./run", "papers", *shown]),
        }
        scratch = tempfile.TemporaryDirectory(
            dir=options.dir or options.out, prefix="papers-", ignore_cleanup_errors=True
        )
        with scratch as folder:
            bench = Bench(options.program, options.launch, data.resolve(), Path(folder).resolve())
            results = measure(runs, bench, options.resume, options.timeout)
        known["seconds"] = sum(record.seconds for record in results.records.values())
        about.write_text(json.dumps(known, indent=1) + "\n")

    sections = draw(results, names, preset, options.out)
    records = [results.records[run.name] for run in runs if run.name in results.records]
    small = ". So small, the figures mean nothing" if preset_name == "smoke" else ""
    facts = [
        ("measured", f"{known.get('date', '?')}, in {known.get('seconds', 0):.0f} s"),
        ("command", known.get("command", "")),
        ("scale", f"preset {preset_name}; every figure says what was scaled{small}"),
    ]
    page = options.out / "index.html"
    write_page(page, sections, records, facts)
    figures = [figure for section in sections.values() for figure in section]
    for figure in figures:
        print(f"{figure.source:<28}{figure.verdict:<16}{figure.sentence()}")
    failed = [r for r in records if r.error and not r.error.startswith(UNKNOWN)]
    problems = [f"{r.name}: {r.error}" for r in failed]
    problems += [f"{r.name}: {w}" for r in records for w in wrong_files(r.report)]
    print(f"\n{page}, in {time.monotonic() - start:.0f} s")
    for problem in problems:
        print(f"papers: {problem}", file=sys.stderr)
    return 1 if problems else 0


def wrong_files(report: dict) -> list[str]:
    """Returns the files with wrong contents."""
    return [
        f"{row.get('name', row.get('method'))}: {row['wrong']}"
        for row in report.get("results", [])
        if row.get("wrong")
    ]


if __name__ == "__main__":
    sys.exit(main())
