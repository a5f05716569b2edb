# SPDX-License-Identifier: Apache-2.0
"""Kills ranks of a program that calls netCDF: after one of its calls, or in the middle of a call,
when it writes to, syncs, closes or renames its file. What a call of nc_sync had promised must be
there for the next open, and no wrong value.

Usage: killed.py PROGRAM SHIM INJECT RANKS SEEDS -- LAUNCHER"""

import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM, SHIM, INJECT, RANKS, SEEDS = sys.argv[1:6]
LAUNCHER = sys.argv[7:]
MODES = {"0x20": "CDF-5", "0x1000": "netCDF-4"}


def run(words, folder, ranks=RANKS, **environment):
    return subprocess.run(
        [*LAUNCHER, "-n", ranks, PROGRAM, *words], cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def check(seed):
    chance = random.Random(seed)
    mode, rank = chance.choice(list(MODES)), chance.randrange(int(RANKS))
    service = chance.choice(["inline", "background"])
    environment = {"THALWEG_SERVICE": service}
    if chance.random() < 0.5:
        calls, how = chance.randrange(1, 37), "call"
        environment["LD_PRELOAD"] = SHIM
    else:
        calls, how = 1000, f"write {chance.randrange(1, 30)}"
        environment |= {"LD_PRELOAD": f"{INJECT} {SHIM}", "THALWEG_FAULT_PATH": "k.nc",
                        "THALWEG_FAULT_AT": how[6:], "THALWEG_FAULT_KIND": "kill",
                        "THALWEG_FAULT_RANK": str(rank)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        done = run(["write", mode, str(rank), str(calls)], folder, **environment)
        said = f"seed {seed}: {MODES[mode]}, {service}, rank {rank} killed at {how} {calls}"
        synced = [int(n) for n in re.findall(r"synced (\d+)", done.stdout)]
        promised = 9 if "closed" in done.stdout else synced[-1] if synced else 0
        assert not re.search(r"call \d+ returned", done.stderr), f"{said}: {done.stderr}"
        out = run(["read"], folder, LD_PRELOAD=SHIM).stdout
        found = re.search(r"open (-?\d+) records (\d+) wrong (\d+) whole (\d+) holes (\d+)", out)
        assert found and found[3] == "0", f"{said}: {out}"
        names = sorted(p.name for p in Path(folder).iterdir())
        if promised:
            kept = found[1] == found[5] == "0" and int(found[4]) >= promised
            assert kept, f"{said}: {out} {names}"
            plain = run(["read", "alone"], folder, ranks="1").stdout
            assert plain == out, f"{said}: {out}{plain}"
        assert not [n for n in names if n.endswith(".new")], f"{said}: {names}"
    return done.returncode != 0


killed = sum(check(seed) for seed in range(1, int(SEEDS) + 1))
assert killed > int(SEEDS) // 4, f"only {killed} of {SEEDS} programs were killed"
