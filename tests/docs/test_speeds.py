# SPDX-License-Identifier: Apache-2.0
"""Tests the check of the tables of speeds: test_speeds.py ROOT.

The tables of ROOT must be those of its figures, which must not be too old. In a copy, the check
must find a changed number, a changed figure, and figures of another or of an old commit.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / "tools"))
import speeds  # noqa: E402


def check(folder: Path) -> tuple[int, str]:
    command = [sys.executable, root / "tools/speeds.py", "--check", "--root", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(folder: Path, good: bool, text: str) -> None:
    status, output = check(folder)
    assert (status == 0) == good and text in output, (status, output)


def git(folder: Path, *words: str) -> str:
    name = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *name, *words], capture_output=True, check=True)
    return done.stdout.decode().strip()


expect(root, True, "speeds: ok")
with tempfile.TemporaryDirectory() as name:
    copy = Path(name)
    (copy / "docs/assets").mkdir(parents=True)
    for page in (*speeds.PAGES, speeds.STORE):
        shutil.copy(root / page, copy / page)
    expect(copy, True, "the age of the figures is not checked")

    figures = json.loads((copy / speeds.STORE).read_text())
    cell = speeds.ratio(figures["columns"][0]["methods"]["record"])
    for page in speeds.PAGES:
        text = (copy / page).read_text()
        assert f"| {cell} |" in text
        (copy / page).write_text(text.replace(f"| {cell} |", "| 0.01 |", 1))
        expect(copy, False, f"{page}: its tables are not those of")
        (copy / page).write_text(text)

    git(copy, "init", "--quiet")
    git(copy, "add", ".")
    git(copy, "commit", "--quiet", "-m", "tables")
    expect(copy, False, "is not in git's history")
    figures["commit"] = git(copy, "rev-parse", "HEAD")
    (copy / speeds.STORE).write_text(json.dumps(figures))
    expect(copy, False, "its tables are not those of")
    subprocess.run(
        [sys.executable, root / "tools/speeds.py", "--write", "--root", copy], check=True
    )
    expect(copy, True, "speeds: ok")
    tree = git(copy, "rev-parse", "HEAD^{tree}")
    head = figures["commit"]
    for _ in range(speeds.OLDEST + 1):
        head = git(copy, "commit-tree", tree, "-p", head, "-m", "later")
    git(copy, "update-ref", "HEAD", head)
    expect(copy, False, "301 commits are newer")
    git(copy, "update-ref", "HEAD", "HEAD^")
    expect(copy, True, "speeds: ok")
