# SPDX-License-Identifier: Apache-2.0
"""Tests thalweg run, and thalweg show for a file that a model is writing.

The line that thalweg run prints is compared with the summary of the same run, and with the files.

Usage: check_run.py MODEL THALWEG -- LAUNCHER...
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from runs import FILES, STEPS, Runs, check_data

LINE = (
    r"thalweg: ([\d.]+) (k|M|)B in 3 files, ([\d.]+) .*B read from 1 file, "
    r"([\d.]+) of ([\d.]+) s in calls, ([\d.]+) s hidden; method=(\w+) service=(\w+) writers=(\d+)"
)


def start(runs, folder, *words, **environment):
    return subprocess.Popen(
        list(map(str, words)),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )


def run(runs, folder, *words, **environment):
    process = start(runs, folder, *words, **environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def fresh(runs, name):
    folder = runs.folder / name
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    return folder


def check_line(runs):
    model, tool = runs.programs
    for service in ("inline", "background", "servers"):
        folder = fresh(runs, f"run_{service}")
        command = [*runs.launch, "-n", 4, model, STEPS, 2, *FILES]
        environment = {"THALWEG_SERVERS": "1"} if service == "servers" else {}
        options = ["--service", service, "--report"]
        code, _, err = run(runs, folder, tool, "run", *options, *command, **environment)
        assert code == 0, err
        last = err.splitlines()[-1]
        found = re.match(LINE, last)
        assert found and last.endswith("; report: thalweg-report.html"), last
        page = (folder / "thalweg-report.html").read_text()
        summary = json.loads(re.search(r'id="run">(.*?)</script>', page, re.DOTALL)[1])["summary"]
        scale = {"": 1, "k": 1e3, "M": 1e6}[found[2]]
        written = sum(f["bytes"] for f in summary["files"])
        assert abs(float(found[1]) * scale - written) <= 0.01 * written, (last, written)
        assert abs(float(found[5]) - summary["elapsed_seconds"]) < 0.011
        outside = min(r["outside"] for r in summary["rank_seconds"])
        assert abs(float(found[4]) - (summary["elapsed_seconds"] - outside)) < 0.011, last
        behind = sum(
            max(0, f["seconds"]["busy"] - f["queue_wait_seconds"] - f["seconds"]["drain"])
            for f in summary["files"]
        )
        assert abs(float(found[6]) - (0 if service == "inline" else behind)) < 0.011, last
        chosen = {(f["method"], f["service"], str(f["writers"])) for f in summary["files"]}
        assert chosen == {(found[7], service, found[9])}, (last, chosen)
        check_data(folder)
        names = {p.name for p in folder.iterdir()}
        assert names == {*FILES, "thalweg-report.html"}, names


def check_exits(runs):
    model, tool = runs.programs
    folder = fresh(runs, "run_exits")
    assert run(runs, folder, tool, "run", "sh", "-c", "exit 7")[0] == 7
    code, _, err = run(runs, folder, tool, "run", "sh", "-c", "kill -9 $$")
    assert code == 128 + signal.SIGKILL and "no session" in err, err
    code, out, err = run(runs, folder, tool, "run", "echo", "-n", "--service")
    assert (code, out) == (0, "--service") and "no session of the library" in err
    code, _, err = run(runs, folder, tool, "run", "./nothing")
    assert code == 2 and "./nothing: cannot start: No such file" in err, err
    for words in ([], ["--service"], ["--service", "best", "true"], ["--nosuch", "true"]):
        code, _, err = run(runs, folder, tool, "run", *words)
        assert code == 2 and err, (words, err)
    # Started by a launcher, each rank becomes the command; the words before the command are
    # settings.
    command = ["run", "service=background", "publish=live", model, STEPS, 2, *FILES]
    code, _, err = run(
        runs, folder, *runs.launch, "-n", 2, tool, *command, THALWEG_SUMMARY="s.json"
    )
    assert code == 0 and "thalweg:" not in err, err
    summary = json.loads((folder / "s.json").read_text())
    assert {f["service"] for f in summary["files"]} == {"background"}, summary
    (folder / "s.json").unlink()
    # The user's own summary stays.
    command = [*runs.launch, "-n", 1, model, STEPS, 2, *FILES]
    code, _, err = run(runs, folder, tool, "run", *command, THALWEG_SUMMARY="mine.json")
    assert code == 0 and "3 files" in err, err
    assert len(json.loads((folder / "mine.json").read_text())["files"]) == 3
    assert not list(folder.glob(".thalweg*"))


def check_signals(runs):
    """Tests that signals reach the command, and that thalweg run ends as the command does."""
    _, tool = runs.programs
    folder = fresh(runs, "run_signals")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        name = number.name.removeprefix("SIG")
        for action, wanted in (("", -number), (f"trap 'exit 5' {name};", 5)):
            script = f"{action} touch begun; while :; do sleep 0.05; done"
            process = start(runs, folder, tool, "run", "sh", "-c", script)
            until = time.time() + 60
            while not (folder / "begun").exists() and time.time() < until:
                time.sleep(0.01)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            assert process.returncode == wanted, (number, action, process.returncode, err)
            assert [p.name for p in folder.iterdir()] == ["begun"], list(folder.iterdir())
            (folder / "begun").unlink()
    # A signal to all processes reaches the command once, as mpirun needs it.
    script = "trap 'echo x >> got; sleep 1; exit 5' TERM; touch begun; while :; do sleep 0.05; done"
    process = start(runs, folder, tool, "run", "sh", "-c", script)
    until = time.time() + 60
    while not (folder / "begun").exists() and time.time() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 5 and (folder / "got").read_text() == "x\n", err


def shown(tool, path):
    done = subprocess.run([tool, "show", path, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def check_show(runs):
    """Tests thalweg show while the model writes, after it was killed, and when its file is
    complete."""
    model, tool = runs.programs
    folder = fresh(runs, "show")
    path = folder / "a.nc"
    process = start(runs, folder, *runs.launch, "-n", 3, model, 200, 50, "a.nc")
    counts = []
    until = time.time() + 60
    while len(counts) < 3 and time.time() < until:
        found = shown(tool, path)
        if found and found["records"] > 0 and found["records"] not in counts:
            assert found["state"] == "writing" and not found["complete"], found
            assert Path(found["path"]).name == "a.nc.part"
            writer = found["writer"]["process"]
            assert Path(f"/proc/{writer}/exe").samefile(model), found
            counts.append(found["records"])
        time.sleep(0.02)
    assert len(counts) == 3 and counts == sorted(counts), counts
    os.kill(writer, signal.SIGKILL)
    process.communicate(timeout=60)
    found = shown(tool, path)
    assert found["state"] == "abandoned" and found["records"] >= counts[-1], found
    done = subprocess.run([tool, "recover", path], capture_output=True, text=True)
    assert done.returncode == 0 and f"{found['records']} records" in done.stdout, done
    after = shown(tool, path)
    assert after["state"] == "complete" and after["records"] == found["records"], after


def main():
    runs = Runs(sys.argv[1:])
    check_line(runs)
    check_exits(runs)
    check_signals(runs)
    check_show(runs)


if __name__ == "__main__":
    main()
