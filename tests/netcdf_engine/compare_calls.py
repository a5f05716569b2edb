# SPDX-License-Identifier: Apache-2.0
"""Runs each case of a program that includes calls.h with netCDF-C and with the shim preloaded, and
compares what its calls returned, what it read, and what its files contain.

Usage: compare_calls.py PROGRAM SOURCE SHIM RANKS -- LAUNCHER"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM, SOURCE, SHIM, RANKS = sys.argv[1:5]
LAUNCHER = sys.argv[6:]
CASES = re.findall(r'\{"(\w+)", ', Path(SOURCE).read_text(encoding="utf-8"))
assert CASES, f"{SOURCE} names no cases"
# Properties in which the engine's files may differ.
FREE = re.compile("_Storage|_ChunkSizes|_NCProperties|_SuperblockVersion")


def run(case, **environment):
    """The lines that each rank has printed, and each file as text."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*LAUNCHER, "-n", RANKS, PROGRAM, case], cwd=folder, capture_output=True, text=True,
            env={**os.environ, **environment}, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{case}: {done.stderr}"
        found = {}
        for path in sorted(Path(folder).iterdir()):
            text = None
            if path.name.startswith("lines"):
                text = path.read_text(encoding="utf-8", errors="replace")
            if text is None:
                dump = ["ncdump", "-s", "-p", "9,17", str(path)]
                text = subprocess.run(dump, capture_output=True, check=False).stdout
                text = text.decode("utf-8", errors="replace")
            found[path.name] = [line for line in text.splitlines() if not FREE.search(line)]
    return found, done.stderr


wrong = 0
for case in CASES:
    (plain, _), (taken, told) = run(case), run(case, LD_PRELOAD=SHIM, THALWEG_TELL="file")
    assert "by Thalweg" in told, f"{case}: Thalweg has written no file: {told}"
    for name in sorted({*plain, *taken}):
        for line in difflib.unified_diff(
            plain.get(name, []), taken.get(name, []), "netCDF-C", "Thalweg", lineterm="", n=0
        ):
            print(f"{case}, {name}: {line}")
            wrong += 1
sys.exit(min(wrong, 1))
