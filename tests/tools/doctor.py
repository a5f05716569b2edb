# SPDX-License-Identifier: Apache-2.0
"""Tests thalweg doctor: the problems that it finds, and the commands that it gives.

Usage: doctor.py CASE THALWEG LAUNCHER...
CASE: healthy, sick
"""

import os
import re
import subprocess
from pathlib import Path

from tools import RANKS, Tool, main


def doctor(tool, *folders, ranks=1, code=0, **environment):
    done = subprocess.run(
        tool.line(ranks, "doctor", *folders),
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **environment},
    )
    assert done.returncode == code, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    last = done.stdout.splitlines()[-1]
    problems = len(re.findall(r"^problem ", done.stdout, re.M))
    assert re.match(r"no problems|\d+ problems?$", last) and bool(problems) == bool(code), last
    assert not list(Path().glob(".thalweg*")), "a file is left"
    return done.stdout


def healthy(tool: Tool):
    for ranks in RANKS if tool.launcher else (1,):
        text = doctor(tool, ranks=ranks)
        kind = subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True)
        names = {"ext2/ext3": "ext4", "overlayfs": "overlay"}
        kind = kind.stdout.strip()
        assert f"file system {names.get(kind, kind)}" in text, (kind, text)
        free = os.statvfs(".").f_bavail * os.statvfs(".").f_frsize
        shown = re.search(r"ok +\. +([\d.]+) (.)B of .* free", text)
        unit = 1000 ** " kMGTPE".index(shown[2])
        assert abs(float(shown[1]) * unit - free) < 0.1 * free + 1e8, (shown[0], free)
        assert re.search(r"locks: two runs cannot", text)
        assert re.search(rf"for {ranks} ranks? of this node", text), text
        assert "method=record" in text and "service=inline" in text, text
    # The output contains the settings of the environment, and the library's choices with them.
    text = doctor(tool, ranks=3, THALWEG_METHOD="slabs", THALWEG_SERVICE="background")
    assert "method=slabs" in text and "service=background" in text, text
    assert re.search(r"settings +(method=slabs, service=background)$", text, re.M), text
    text = doctor(tool, THALWEG_WEATHER="1")
    assert "THALWEG_WEATHER" in text and "> unset THALWEG_WEATHER" in text
    config = subprocess.run(["nc-config", "--version"], capture_output=True, text=True)
    if config.returncode == 0:
        version = config.stdout.split()[-1]
        assert f"netCDF-C {version}" in text, (version, text)


def sick(tool: Tool):
    for ranks in (1, 3):
        text = doctor(tool, "nothing", ranks=ranks, code=1)
        assert "problem" in text and "No such file" in text and "> ls -ld 'nothing'" in text
        text = doctor(tool, ranks=ranks, code=1, THALWEG_METOD="slabs")
        assert "METOD" in text and "METHOD" in text
        text = doctor(tool, ranks=ranks, code=1, THALWEG_METHOD="best")
        assert "best" in text
    Path("file").write_text("")
    assert "Not a directory" in doctor(tool, "file", code=1)
    # A file that a run has left is named, others with such names are not.
    Path("left").mkdir()
    Path("left/download.part").write_text("of another program")
    assert "unfinished" not in doctor(tool, "left")
    for name in ("h.nc.part", "h.nc.part.1"):
        Path("left", name).write_bytes(b"CDF\1" + bytes(28))
    text = doctor(tool, "left")
    assert "note" in text and "unfinished files of ended runs: h.nc.part, h.nc.part.1" in text, text
    assert "> thalweg recover 'left/h.nc.part'" in text, text
    # A good folder is examined although a bad one is given, too.
    Path("it's good").mkdir()
    text = doctor(tool, "nothing", "it's good", code=1)
    assert re.search("it's good +file system", text), text
    assert re.search("it's good +files: method=record", text), text
    if os.geteuid() != 0:
        Path("closed").mkdir(mode=0o500)
        assert "Permission denied" in doctor(tool, "closed", code=1)
    limited = subprocess.run(
        ["bash", "-c", 'ulimit -f 1000000; exec "$@"', "-", *tool.line(1, "doctor")],
        capture_output=True,
        text=True,
    )
    assert limited.returncode == 1 and "> ulimit -f unlimited" in limited.stdout, limited.stdout
    assert tool.run(1, "doctor", "--nosuch")[0] == 2


if __name__ == "__main__":
    main(globals())
