# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page: pictures inlined, no scripts, nothing loaded from a network."""

import base64
from html import escape
from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, UNMEASURED, Figure, Table
from .runs import NO_FIGURES, Record, command_of

STYLE = """
:root { --ink: #1c2733; --soft: #5b6b7b; --line: #d9e0e7; --ground: #ffffff; --band: #f4f7fa; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--ground);
       font: 16px/1.5 system-ui, "Liberation Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 24px 20px 64px; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; margin: 0 0 .2rem; } h2 { margin: 3rem 0 .5rem; font-size: 1.45rem; }
h3 { margin: 0 0 .4rem; font-size: 1.12rem; }
a { color: #0a5c96; } .soft { color: var(--soft); }
.source { color: var(--soft); font-size: .9rem; }
article { border: 1px solid var(--line); border-radius: 8px; padding: 18px; margin: 18px 0; }
article img { max-width: 100%; height: auto; display: block; margin: 10px 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: left;
         vertical-align: top; }
th { background: var(--band); } td.number { text-align: right; white-space: nowrap;
     font-variant-numeric: tabular-nums; }
.summary td { overflow-wrap: normal; }
.verdict { display: inline-block; border-radius: 4px; padding: 0 8px; font-size: .85rem;
           font-weight: 600; white-space: nowrap; color: #fff; }
.holds { background: #00724f; } .part { background: #8a6100; } .not { background: #b04600; }
.unmeasured { background: #5b6b7b; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 2px 14px;
     margin: 0; font-size: .92rem; }
dt { color: var(--soft); } dd { margin: 0; } ul { margin: 0; padding-left: 1.1rem; }
code { font-size: .86rem; background: var(--band); padding: 1px 4px; border-radius: 3px; }
footer { margin-top: 3rem; color: var(--soft); font-size: .88rem; }
"""

CLASSES = {HOLDS: "holds", IN_PART: "part", NOT: "not", UNMEASURED: "unmeasured"}

PAPERS = {
    "cam": "CAM: Tseng and Ding 2008, Efficient parallel I/O in Community Atmosphere Model",
    "cmaq": "CMAQ: Wong et al. 2014, An approach to enhance pnetCDF performance in environmental "
    "modeling applications",
    "cfio": "CFIO: Huang et al. 2014, A fast I/O library for climate models",
    "mom5": "MOM5: Yang, Ward and Evans 2020, Parallel I/O in FMS and MOM5",
}


def badge(verdict: str) -> str:
    return f'<span class="verdict {CLASSES[verdict]}">{escape(verdict)}</span>'


def is_number(text: str) -> bool:
    return bool(text) and text.lstrip("<>- ")[:1].isdigit() and len(text) < 16


def table(content: Table, kind: str = "") -> str:
    heads = "".join(f"<th>{escape(h)}</th>" for h in content.heads)
    rows = []
    for row in content.rows:
        cells = (
            f"<td{' class=number' if is_number(cell) else ''}>{escape(cell)}</td>" for cell in row
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def listing(items: list[str]) -> str:
    if len(items) == 1:
        return escape(items[0])
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def article(figure: Figure) -> str:
    details = [("the paper", escape(figure.claim))]
    if figure.reference:
        details.append(("its figures", listing(figure.reference)))
    if figure.scaled:
        details.append(("scaled", escape(figure.scaled)))
    if figure.missing:
        reasons = [f"{what}: {why}" for what, why in figure.missing]
        details.append(("not measured", listing(reasons)))
    image = ""
    if figure.image:
        data = base64.b64encode(figure.image.read_bytes()).decode()
        image = f'<img alt="{escape(figure.title)}" src="data:image/png;base64,{data}">'
    return (
        f'<article id="{figure.name}"><div class="source">{escape(figure.source)}</div>'
        f"<h3>{escape(figure.title)}</h3><p>{badge(figure.verdict)} {escape(figure.sentence())}</p>"
        f"{image}{''.join(table(t) for t in figure.tables)}"
        f"<dl>{''.join(f'<dt>{k}</dt><dd>{v}</dd>' for k, v in details)}</dl></article>"
    )


def summary(sections: dict[str, list[Figure]]) -> str:
    rows = []
    for figures in sections.values():
        for f in figures:
            rows.append(
                f'<tr><td><a href="#{f.name}">{escape(f.source)}</a></td><td>{escape(f.claim)}</td>'
                f"<td>{badge(f.verdict)}</td><td>{escape(f.sentence())}</td></tr>"
            )
    return (
        '<div class="scroll"><table class="summary"><thead><tr><th>figure</th><th>the paper</th>'
        f"<th>here</th><th>measured</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def run_details(record: Record) -> str:
    cut = record.report.get("workload", {}).get("cut", "")
    notes = [f"{record.seconds:.0f} s of measuring, data/{record.name}.json"]
    notes += [f"smaller than in the paper: {cut}"] if cut else []
    notes += [f"failed: {record.error}"] if record.error else []
    for row in record.report.get("results", []):
        reason = next((row[k] for k in NO_FIGURES if k in row), "")
        notes += [f"{row.get('name', row.get('method'))}: {reason[:160]}"] if reason else []
    return (
        f"<dt>{escape(record.name)}</dt><dd><code>{escape(command_of(record))}</code><br>"
        f'<span class="soft">{escape("; ".join(notes))}</span></dd>'
    )


def machine_text(machine: dict) -> list[tuple[str, str]]:
    versions = [f"Thalweg {machine['thalweg']}", machine["mpi"]]
    versions += [f"MPI-IO {machine['mpi_io']}"] if machine.get("mpi_io") else []
    versions += [f"PnetCDF {machine['pnetcdf']}", f"netCDF-C {machine['netcdf_c']}"]
    versions += [f"HDF5 {machine['hdf5']}"]
    return [
        (
            "machine",
            f"{machine['processor']}, {machine['cores']} cores, "
            f"{machine['memory_bytes'] / 2**30:.0f} GiB, {machine['nodes']} node; "
            "ranks beyond the cores share them",
        ),
        ("system", f"{machine['kernel']}, files on {machine['file_system']}, in the page cache"),
        ("versions", ", ".join(versions)),
    ]


def write_page(
    path: Path,
    sections: dict[str, list[Figure]],
    records: list[Record],
    facts: list[tuple[str, str]],
) -> None:
    machine = next((r.report["machine"] for r in records if r.report), None)
    facts = (machine_text(machine) if machine else []) + facts
    content = "".join(
        f'<section id="{key}"><h2>{escape(PAPERS[key])}</h2>'
        f"{''.join(article(f) for f in figures)}</section>"
        for key, figures in sections.items()
    )
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,"><title>Thalweg: the papers\' experiments</title>'
        f"<style>{STYLE}</style></head><body><main>"
        "<h1>The papers' experiments, measured here</h1>"
        '<p class="soft">Parallel output of Earth-system models: what four papers found on their '
        "machines, and what Thalweg's bench finds on this one. Whether a finding holds is computed "
        "from the measured figures.</p>"
        f"<dl>{''.join(f'<dt>{escape(k)}</dt><dd>{escape(v)}</dd>' for k, v in facts)}</dl>"
        f"<h2>Findings</h2>{summary(sections)}{content}"
        f"<section><h2>All runs</h2><dl>{''.join(map(run_details, records))}</dl></section>"
        "<footer>Times are medians; seconds are those of the output steps with the close, on the "
        "slowest rank, or, in the overlap, of the whole run. "
        "Dashed lines and hatched bars are the papers' figures.</footer>"
        "</main></body></html>\n"
    )
