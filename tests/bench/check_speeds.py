# SPDX-License-Identifier: Apache-2.0
"""check_speeds.py SPEEDS THALWEG-BENCH -- MPIRUN...: measures small tables of speeds into copies of
the pages, which must then have the new figures."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

script, program, *launch = (word for word in sys.argv[1:] if word != "--")
root = Path(script).parents[1]
sys.path.insert(0, str(root / "tools"))
import speeds  # noqa: E402

SMALL = [
    "--scale",
    "0.03",
    "--variables",
    "2",
    "--steps",
    "1",
    "--warmup",
    "0",
    "--prewarm-gb",
    "0",
]

with tempfile.TemporaryDirectory() as name:
    copy = Path(name)
    (copy / "docs/assets").mkdir(parents=True)
    for page in speeds.PAGES:
        shutil.copy(root / page, copy / page)
    command = [sys.executable, script, "--root", copy, "--folder", copy, "--repetitions", "1"]
    command += ["--program", program, "--launch", " ".join(launch), *SMALL]
    subprocess.run(command, check=True)
    figures = json.loads((copy / speeds.STORE).read_text())
    assert [(c["workload"], c["ranks"]) for c in figures["columns"]] == speeds.COLUMNS
    for column in figures["columns"]:
        assert set(column["methods"]) == {"raw", *speeds.ROWS}
        assert all(row["median_seconds"] > 0 for row in column["methods"].values()), column
    for page, make in speeds.PAGES.items():
        text = (copy / page).read_text()
        assert make(figures) in text and text != (root / page).read_text()
        assert " ".join(text.split()).count("one repetition") == 1
    assert speeds.check(copy) == 0
