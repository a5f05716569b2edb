# SPDX-License-Identifier: Apache-2.0
"""Prints the number of ranks that a command of thalweg-bench needs: ranks.py overlap ...

With servers it is more than the number of the model's ranks.
"""

import argparse
import re
import sys


def ranks_of(arguments: list[str], ranks: int = 4) -> int:
    """Returns the number of ranks. @param ranks: those of the model, if no argument says it"""
    if not arguments or arguments[0] != "overlap":
        return ranks
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--ranks", type=int, default=ranks)
    parser.add_argument("--services", default="servers:2")
    known, _ = parser.parse_known_args(arguments)
    servers = [int(n) for n in re.findall(r"servers:(\d+)", known.services)]
    return known.ranks + max(servers, default=0)


if __name__ == "__main__":
    print(ranks_of(sys.argv[1:]))
