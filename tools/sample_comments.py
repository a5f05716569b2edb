#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints comments of the source, chosen at random, for someone who did not write them to read.

A comment is unclear if the reader needs it twice, or cannot say what it is about. At most 5 % of a
sample of 120 may be unclear.
"""

import argparse
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src", "include", "bindings", "apps", "tests"]
COMMENT = re.compile(r"(?:^[ \t]*//[^\n]*\n)+|//[^\n]*\n|/\*.*?\*/", re.MULTILINE | re.DOTALL)


def comments(path):
    """Yields the line and text of each comment, and the line of code that follows it."""
    text = path.read_text(errors="replace")
    for found in COMMENT.finditer(text):
        if "SPDX" in found[0] or len(found[0].split()) < 4:
            continue
        line = text.count("\n", 0, found.start()) + 1
        start = text.rfind("\n", 0, found.start()) + 1
        before = text[start : found.start()].strip()
        after = text[found.end() :].split("\n", 1)[0].strip()
        yield line, found[0].strip(), before or after


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("number", nargs="?", type=int, default=120, help="size of the sample (120)")
    parser.add_argument("seed", nargs="?", type=int, help="chooses the sample; default: random")
    options = parser.parse_args()
    files = subprocess.check_output(["git", "ls-files", *FOLDERS], cwd=ROOT, text=True).split("\n")
    sources = [ROOT / f for f in files if f.endswith((".hpp", ".cpp", ".h", ".c"))]
    found = [(path, *comment) for path in sources for comment in comments(path)]
    for path, line, text, code in random.Random(options.seed).sample(found, options.number):
        print(f"{path.relative_to(ROOT)}:{line}\n{text}\n    {code}\n")


if __name__ == "__main__":
    main()
