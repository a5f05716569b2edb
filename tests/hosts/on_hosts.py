#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an MPI program on hosts that are made for it: on_hosts.py --ranks 2,2,1 -- PROGRAM
[ARGUMENTS].
Exit code 77 if hosts cannot be made."""

import argparse
import sys

import hosts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", required=True, help="of each host, separated by commas")
    parser.add_argument("--limit", type=float, default=280, help="seconds")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    hosts.enter(hosts.skip)
    ranks = [int(n) for n in args.ranks.split(",")]
    with hosts.Hosts(len(ranks)) as all_hosts:
        return all_hosts.mpirun(ranks, args.command).wait(args.limit)


if __name__ == "__main__":
    sys.exit(main())
