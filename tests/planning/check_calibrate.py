# SPDX-License-Identifier: Apache-2.0
"""Runs thalweg-plan calibrate on three ranks, and the programs that read its file.

check_calibrate.py PROGRAM ROOT -- LAUNCHER...
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

PROGRAM, ROOT = sys.argv[1], Path(sys.argv[2])
PLAN = [sys.executable, ROOT / "lab" / "plan", "--program", PROGRAM]
EXAMPLES = ROOT / "examples" / "plan"
LAUNCHER = sys.argv[sys.argv.index("--") + 1 :]
problems: list[str] = []


def check(truth: bool, text: str) -> None:
    if not truth:
        problems.append(text)


def calibrate(ranks: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*LAUNCHER, str(ranks), PROGRAM, "calibrate", "--seconds", "1", *arguments],
        capture_output=True, text=True, timeout=60, cwd=folder,
    )  # fmt: skip


def check_file(folder: Path, ranks: int) -> Path:
    (folder / "a").mkdir(exist_ok=True)
    (folder / "b b").mkdir(exist_ok=True)
    begin = time.monotonic()
    done = calibrate(ranks, folder, "--folder", "a", "--folder", "b b", "-o", "machine.toml")
    check(done.returncode == 0, f"{ranks} ranks: {done.stderr}")
    check(time.monotonic() - begin < 30, "calibrate takes long")
    machine = tomllib.loads((folder / "machine.toml").read_text())
    check(machine["ranks"] == ranks and machine["nodes"] == 1, f"{machine}")
    check(1e7 < machine["pack"] < 1e12, f"pack {machine['pack']}")
    check(("message" in machine) == (ranks > 1), f"message of {ranks} ranks")
    check(("inside" in machine) == (ranks > 1), f"inside of {ranks} ranks")
    check(1e7 < machine.get("inside", 1e9) < 1e12, f"inside {machine.get('inside')}")
    # A run costs more than nothing, and less than a read from memory for each of its elements.
    check(0 < machine["run"] < 1e-6, f"run {machine['run']}")
    check([Path(f["path"]).name for f in machine["folder"]] == ["a", "b b"], f"{machine}")
    for f in machine["folder"]:
        check(f["writers"] == ([1] if ranks == 1 else [1, 2, 3]), f"{f}")
        check(len(f["rate"]) == len(f["durable"]) == len(f["writers"]), f"{f}")
        check(all(1e5 < r < 1e12 for r in f["rate"] + f["durable"]), f"{f}")
        check(0 < f["create"] < 1 and 0 < f["rename"] < 1 and 0 < f["call"] < 1, f"{f}")
    # The limit of a node and the number of lock servers need several nodes.
    check(not any(k in f for f in machine["folder"] for k in ("node_rate", "locks")), f"{machine}")
    left = sorted(p.name for p in folder.rglob("*") if p.is_file())
    check(left == ["machine.toml"], f"left behind: {left}")
    return folder / "machine.toml"


def check_plan(folder: Path, machine: Path) -> None:
    """Tests a plan with the measured figures, which the option --calibration names."""
    name = tomllib.loads(machine.read_text())["folder"][0]["file_system"]
    run = folder / "run.toml"
    run.write_text((EXAMPLES / "fv-b.toml").read_text().replace('"gpfs"', f'"{name}"'))
    done = subprocess.run(
        [*PLAN, run, "--json", "--calibration", machine], capture_output=True, text=True
    )
    check(done.returncode == 0, f"plan: {done.stderr}")
    check(json.loads(done.stdout)["measured"], "plan: not measured")


def check_lists(folder: Path, machine: Path) -> None:
    """Tests that the measured cost of runs in lists is part of a plan."""
    name = tomllib.loads(machine.read_text())["folder"][0]["file_system"]
    run, other = folder / "lists.toml", folder / "other.toml"
    text = (EXAMPLES / "atmosphere-3km.toml").read_text()
    run.write_text(re.sub('file_system = "[a-z]*"', f'file_system = "{name}"', text))
    other.write_text(re.sub("(?m)^run = .*$", "run = 1e-3", machine.read_text()))
    seconds = []
    for figures in (machine, other):
        done = subprocess.run(
            [*PLAN, run, "--json", "--calibration", figures],
            capture_output=True, text=True,
        )  # fmt: skip
        check(done.returncode == 0, f"plan: {done.stderr}")
        options = json.loads(done.stdout)["options"]
        seconds.append(next(o["seconds_in_calls"] for o in options if o["service"] == "inline"))
    check(seconds[0] < seconds[1], f"seconds {seconds}")


def check_wrong(folder: Path) -> None:
    for arguments, text in (
        (["--folder", "none"], "none: cannot use the folder: No such file"),
        (["-o", "none/m.toml"], "none/m.toml.part: cannot write: No such file"),
    ):
        done = calibrate(3, folder, *arguments)
        check(done.returncode != 0 and text in done.stderr, f"{arguments}: {done.stderr}")
        check(done.stderr.count("thalweg-plan: calibrate:") == 1, f"{arguments}: {done.stderr}")
    if os.geteuid() != 0:
        (folder / "closed").mkdir(mode=0o500)
        done = calibrate(2, folder, "--folder", "closed")
        check(done.returncode != 0 and "cannot create" in done.stderr, f"{done.stderr}")
    for seconds in ("nan", "0", "-1", "1e9", "61"):
        done = subprocess.run([PROGRAM, "calibrate", "--seconds", seconds], capture_output=True)
        check(done.returncode == 2 and b"--seconds" in done.stderr, f"{seconds} seconds: {done}")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        check_file(Path(name), 1)
        machine = check_file(Path(name), 3)
        check_plan(Path(name), machine)
        check_lists(Path(name), machine)
        check_wrong(Path(name))
    print("\n".join(problems) or "calibrate: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
