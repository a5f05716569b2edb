# SPDX-License-Identifier: Apache-2.0
"""Kills ranks of a program that calls netCDF: after one of its calls, or in the middle of a call,
when it writes to, syncs, closes or renames its file. What a call of nc_sync had promised must be
there for the next open, and no wrong value. Then kills a rank of a program at each of its calls on
the new file that netCDF-C makes, because the program defines a group: all that was put before must
be there for the next open.

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


def check_leaving(rank, at):
    """Kills a rank at one of its calls on the new file. Returns false if there are fewer."""
    environment = {"LD_PRELOAD": f"{INJECT} {SHIM}", "THALWEG_FAULT_PATH": "k.nc.new",
                   "THALWEG_FAULT_AT": str(at), "THALWEG_FAULT_KIND": "kill",
                   "THALWEG_FAULT_RANK": str(rank)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        done = run(["leave", "0x1000", "0", "1000"], folder, **environment)
        if done.returncode == 0:
            return False
        said = f"rank {rank} killed at call {at} on the new file"
        assert "leaving" in done.stdout and "left" not in done.stdout, f"{said}: {done.stdout}"
        for words, preload in (["read"], SHIM), (["read", "alone"], ""):
            ranks = RANKS if preload else "1"
            out = run(words, folder, ranks=ranks, LD_PRELOAD=preload).stdout
            assert out == "open 0 records 6 wrong 0 whole 6 holes 0\n", f"{said}: {out}"
    return True


killed = sum(check(seed) for seed in range(1, int(SEEDS) + 1))
assert killed > int(SEEDS) // 4, f"only {killed} of {SEEDS} programs were killed"
for rank in range(min(2, int(RANKS))):
    steps = 0
    while check_leaving(rank, steps + 1):
        steps += 1
    assert steps > 0, f"rank {rank} made no call on the new file"
    print(f"rank {rank} was killed at each of {steps} calls on the new file")
