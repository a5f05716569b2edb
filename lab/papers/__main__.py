# SPDX-License-Identifier: Apache-2.0
"""Runs the papers' experiments, scaled to this machine, and writes the report on them."""

import argparse
import shlex
import sys
import tempfile
import time
from pathlib import Path

from . import cam, cfio, cmaq, mom5
from .presets import PRESETS
from .report import write_report
from .runs import Bench, Results, Run

PAPERS = {"cam": cam, "cmaq": cmaq, "cfio": cfio, "mom5": mom5}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run papers", description=__doc__)
    add = parser.add_argument
    add("--program", required=True, help=argparse.SUPPRESS)
    add(
        "--preset",
        choices=PRESETS,
        default="standard",
        help="standard: less than 20 minutes on 2 cores (default); large: hours, for a machine "
        "with more cores; smoke: only check that it works",
    )
    add("--only", default="", help=f"papers, separated by commas: {','.join(PAPERS)}")
    add("--out", type=Path, default=Path("report"), help="directory for the report (report)")
    add("--dir", type=Path, help="directory for the files written (--out)")
    add("--resume", action="store_true", help="skip measurements that are already in --out")
    add("launch", nargs="*", help=argparse.SUPPRESS)  # mpirun and its flags
    options = parser.parse_args()
    options.names = options.only.split(",") if options.only else list(PAPERS)
    if not PAPERS.keys() >= {*options.names}:
        parser.error(f"--only {options.only}: the papers are {', '.join(PAPERS)}")
    return options


def measure(runs: list[Run], options: argparse.Namespace) -> Results:
    """Makes the runs one after the other; with --resume only those without complete results."""
    data = (options.out / "data").resolve()
    data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=options.dir or options.out, prefix="papers-", ignore_cleanup_errors=True
    ) as scratch:
        bench = Bench(options.program, options.launch, data, Path(scratch).resolve())
        results = Results({r.name: bench.load(r) for r in runs} if options.resume else {})
        todo = [run for run in runs if not results.get(run.name)]
        for number, run in enumerate(todo, 1):
            print(f"{number} of {len(todo)}: {run.name}", file=sys.stderr, flush=True)
            results[run.name] = bench.measure(run)
    return results


def main() -> int:
    options = parse()
    preset = PRESETS[options.preset]
    papers = {name: PAPERS[name] for name in PAPERS if name in options.names}
    results = measure([run for paper in papers.values() for run in paper.runs(preset)], options)
    sections = {name: paper.figures(results, preset) for name, paper in papers.items()}
    records = [*results.values()]
    words = sys.argv[1 : sys.argv.index("--")]
    at = words.index("--program")
    small = ". So small, the figures mean nothing" if options.preset == "smoke" else ""
    facts = {
        "measured": f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, in "
        f"{sum(record.seconds for record in records):.0f} s",
        "command": f"`{shlex.join(['./run', 'papers', *words[:at], *words[at + 2 :]])}`",
        "scale": f"preset {options.preset}; every figure says what was scaled{small}",
    }
    write_report(options.out / "papers.md", sections, records, facts)
    for figure in (figure for section in sections.values() for figure in section):
        print(f"{figure.source:<28}{figure.verdict:<16}{figure.sentence()}")
    print(f"\n{options.out / 'papers.md'}")
    problems = [f"{r.name}: {r.error}" for r in records if r.error]
    for record in records:
        wrong = [(name, row["wrong"]) for name, row in record.rows().items() if "wrong" in row]
        problems += [f"{record.name}: {name}: {text}" for name, text in wrong]
    for problem in problems:
        print(f"papers: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
