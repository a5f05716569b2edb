# SPDX-License-Identifier: Apache-2.0
"""check_report.py LAB THALWEG-BENCH -- MPIRUN...: the smallest report has every figure, and its
sentences come from the data."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

lab, program, *launch = (word for word in sys.argv[1:] if word != "--")
FIGURES = {
    *("cam-bandwidth-t85", "cam-bandwidth-fv-d", "cam-bandwidth-fv-c", "cam-bandwidth-fv-b"),
    *("cam-breakdown", "cam-sizes", "cam-century", "cam-threads"),
    *("cmaq-relative-ca", "cmaq-relative-eus", "cmaq-relative-conus"),
    *("cmaq-many-ranks", "cmaq-rates", "cmaq-4km"),
    *("cfio-throughput", "cfio-overlap", "cfio-pop", "cfio-cice", "cfio-licom"),
    *("mom5-open", "mom5-read", "mom5-write", "mom5-close", "mom5-total", "mom5-shares"),
}
report = Path("report")
page = report / "papers.md"


def papers(*arguments: str, status: int = 0) -> str:
    command = [sys.executable, "-m", "papers", "--program", program, "--preset", "smoke"]
    done = subprocess.run(
        [*command, "--out", str(report), *arguments, "--", *launch],
        env=os.environ | {"PYTHONPATH": lab, "OMPI_MCA_io": "romio321"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def verdicts() -> dict[str, str]:
    """Returns the verdict of each figure on the page."""
    pattern = r'^### <a id="([^"]+)"></a>[^\n]+\n\n\*\*([^*]+)\*\*: '
    return dict(re.findall(pattern, page.read_text(), re.MULTILINE))


def slower(run: str, factor: float, *methods: str) -> None:
    """Changes the measured times of a run's methods."""
    file = report / "data" / f"{run}.json"
    record = json.loads(file.read_text())
    changed = 0
    for row in record["report"]["results"]:
        if row["method"] in methods:
            row["median_seconds"] *= factor
            row["mb_per_s"] /= factor
            changed += 1
    assert changed == len(methods), (run, methods)
    file.write_text(json.dumps(record))


def pretend(factor: float) -> None:
    """Makes CMAQ's rows take `factor` times as long as direct (record), and its columns twice
    that."""
    for file in (report / "data").glob("cmaq-*.json"):
        record = json.loads(file.read_text())
        results = record["report"]["results"]
        rows = {row.get("method"): row for row in results}
        for i, row in enumerate(results):
            variant = row.get("method", "")
            if "method=" not in variant:
                continue
            row = rows[variant.split(":")[0]] | {"method": variant}
            share = factor * (2 if "columns" in variant else 1)
            row["median_seconds"] *= share
            row["mb_per_s"] /= share
            results[i] = row
        file.write_text(json.dumps(record))


shutil.rmtree(report, ignore_errors=True)
papers()
assert set(verdicts()) == FIGURES, set(verdicts()) ^ FIGURES
text = page.read_text()
assert "not measured" not in verdicts().values(), verdicts()
for word in ("cmaq-ca", "Open MPI", "smaller than in the paper", "--preset smoke"):
    assert word in text, word

# The sentences depend on the data, and existing results are not measured again.
for times, verdict in ((1e-3, "holds"), (1e6, "does not hold")):
    for ranks in (1, 2):
        paper = f"slabs:storage=pnetcdf:writers={ranks}"
        slower(f"cam-fv-d-p{ranks}", times, "record", "slabs", paper)
    assert not re.search(r"^1 of ", papers("--resume", "--only", "cam"), re.MULTILINE)
    assert verdicts()["cam-bandwidth-fv-d"] == verdict, (times, verdicts())
assert not {name for name in verdicts() if not name.startswith("cam")}

for factor, verdict in ((0.4, "holds"), (2, "does not hold")):
    pretend(factor)
    papers("--resume", "--only", "cmaq")
    found = verdicts()
    assert found["cmaq-relative-eus"] in (verdict, "holds in part"), (factor, found)
    assert found["cmaq-4km"] == verdict, (factor, found)

(report / "data/cam-t85-p2.json").unlink()
assert "1 of 1: cam-t85-p2" in papers("--resume", "--only", "cam")
assert "the papers are cam" in papers("--only", "wrf", status=2)
print("papers: ok")
