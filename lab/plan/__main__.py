# SPDX-License-Identifier: Apache-2.0
"""Predicts what each method and service costs a run that a TOML file describes.

thalweg-plan calibrate measures the machine.
"""

import argparse
import sys

import report
from choice import make_plan
from description import read_run
from keys import PlanError
from program import Shares


def main():
    parser = argparse.ArgumentParser(prog="thalweg-plan", description=__doc__)
    add = parser.add_argument
    add("run", metavar="RUN.toml", help="description of the run")
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--calibration", help="figures of the machine, from thalweg-plan calibrate")
    add("--program", default="build/release/bin/thalweg-plan", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        run, shares = read_run(
            options.run, options.calibration, lambda run: Shares(options.program, run)
        )
        plan = make_plan(run, shares)
        print((report.as_json if options.json else report.as_text)(run, shares, plan), end="")
    except PlanError as error:
        sys.exit(f"thalweg-plan: {error}")


if __name__ == "__main__":
    main()
