# SPDX-License-Identifier: Apache-2.0
"""check_model.py MODEL_BENCH.PY SHALLOW_WATER -- MPIRUN...: a short run of the model's bench."""

import json
import subprocess
import sys
from pathlib import Path

script, program, *launch = (word for word in sys.argv[1:] if word != "--")
services = ["none", "serial", "inline", "background", "servers:1", "servers:2"]
options = (
    "--ranks 2 --nx 32 --ny 24 --layers 5 --hours 12 --repetitions 2 --json model.json "
    f"--services {','.join(services)}"
)
subprocess.run(
    [sys.executable, script, "--program", program, *options.split(), "--", *launch], check=True
)
results = json.loads(Path("model.json").read_text())["results"]
assert [row["name"] for row in results] == services
for row in results:
    assert "skipped" not in row, row
    assert len(row["repetitions"]) == 2, row
    assert 0 < row["output_seconds"] <= row["total_seconds"] or row["name"] == "none", row
    assert row["ratio_to_no_output"] > 0, row
print("model: ok")
