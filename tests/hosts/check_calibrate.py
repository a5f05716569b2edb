#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""thalweg-plan calibrate on two hosts measures the figures that need several nodes."""

import argparse
import tomllib
from pathlib import Path

from hosts import Hosts, enter
from jobs import require


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    enter()
    folder = Path("folder").absolute()
    folder.mkdir(exist_ok=True)
    output = Path("machine.toml").absolute()
    command = [args.program, "calibrate", "--seconds", "3", "--folder", folder, "-o", output]
    with Hosts(2) as hosts:
        require(hosts.mpirun([2, 2], command).wait(120) == 0, "calibrate failed")
    text = output.read_text()
    machine = tomllib.loads(text)
    require(machine["nodes"] == 2 and machine["ranks"] == 4, text)
    require("assumed" not in text, text)
    figures = machine["folder"][0]
    require(1e5 < figures["node_rate"] < 1e12, text)
    require(1 <= figures.get("locks", 1) <= 2, text)  # there are two pairs of writers
    require(0 <= figures["lock"] < 1 and 0 < figures["request"] < 10, text)
    require(not list(folder.iterdir()), "files were left behind")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
