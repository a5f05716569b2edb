# SPDX-License-Identifier: Apache-2.0
"""Figures of the papers with their findings, and the report on them in Markdown."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .runs import NO_FIGURES, Record, Results, command_of

HOLDS, IN_PART, NOT, UNMEASURED = "holds", "holds in part", "does not hold", "not measured"

PAPERS = {
    "cam": "CAM: Tseng and Ding 2008, Efficient parallel I/O in Community Atmosphere Model",
    "cmaq": "CMAQ: Wong et al. 2014, An approach to enhance pnetCDF performance in environmental "
    "modeling applications",
    "cfio": "CFIO: Huang et al. 2014, A fast I/O library for climate models",
    "mom5": "MOM5: Yang, Ward and Evans 2020, Parallel I/O in FMS and MOM5",
}

Values = dict[str, list[float | None]]


def judged(*findings: bool) -> str:
    """Judges several findings of the paper: all, some or none of them hold."""
    return HOLDS if all(findings) else IN_PART if any(findings) else NOT


def graded(value: float, whole: float, part: float = 1.1) -> str:
    """Judges a ratio: it holds from `whole` on, and in part above `part`."""
    return HOLDS if value >= whole else IN_PART if value > part else NOT


def times(ratio: float) -> str:
    """Formats a ratio: "2.3 times", "11 times"."""
    return f"{ratio:.0f} times" if ratio >= 9.95 else f"{ratio:.1f} times"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


@dataclass
class Figure:
    """A figure of a paper, with its finding, and whether the finding holds on this machine."""

    name: str
    source: str  # "CAM, figs. 4 and 5"
    title: str
    claim: str  # the finding of the paper
    reference: list[str]  # the paper's own numbers
    scaled: str
    finding: str = ""
    verdict: str = UNMEASURED
    missing: dict[str, str] = field(default_factory=dict)  # what was not measured, and why
    tables: list[list[list[str]]] = field(default_factory=list)  # the first row has the headings

    def add_table(self, heads: list[str], values: Values, form: str = "{:,.0f}") -> None:
        rows = [
            [label, *("-" if value is None else form.format(value) for value in row)]
            for label, row in values.items()
        ]
        self.tables.append([heads, *rows])

    def compare(
        self,
        results: Results,
        head: str,
        runs: dict[str, str],
        methods_of: Callable[[str], dict[str, str]],
        value: Callable[[dict], float],
        form: str = "{:,.0f}",
    ) -> Values:
        """Adds a table of methods by runs, and notes what was not measured.

        @param runs: names of runs by the heading of their column
        @param methods_of: returns the methods of a run by their labels
        @return the value of each method in each run; None where it was not measured
        """
        values: Values = {}
        for run in runs.values():
            for label, method in methods_of(run).items():
                row = results.rows(run).get(method)
                values.setdefault(label, []).append(value(row) if row else None)
                if not row:
                    self.missing.setdefault(label, results.reason(run, method))
        self.add_table([head, *runs], values, form)
        return values

    def sentence(self) -> str:
        """Says whether the finding holds, in one sentence."""
        why = next(iter(self.missing.values()), "")
        return self.finding or f"Nothing was measured{f': {why}' if why else ''}."


def table(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]) + "\n"


def section(figure: Figure) -> str:
    details = [("the paper", figure.claim), ("its figures", "; ".join(figure.reference))]
    details.append(("scaled", figure.scaled))
    details += [("not measured", f"{what}: {why}") for what, why in figure.missing.items()]
    return "\n".join(
        [
            f'### <a id="{figure.name}"></a>{figure.source}: {figure.title}\n',
            f"**{figure.verdict}**: {figure.sentence()}\n",
            *map(table, figure.tables),
            *(f"- {name}: {text}" for name, text in details if text),
            "",
        ]
    )


def run_text(record: Record) -> str:
    cut = record.report.get("workload", {}).get("cut", "")
    notes = [f"{record.seconds:.0f} s of measuring, data/{record.name}.json"]
    notes += [f"smaller than in the paper: {cut}"] if cut else []
    notes += [f"failed: {record.error}"] if record.error else []
    for row in record.report.get("results", []):
        reason = next((row[k] for k in NO_FIGURES if k in row), "")
        notes += [f"{row.get('name', row.get('method'))}: {reason[:160]}"] if reason else []
    return f"- {record.name}: `{command_of(record)}`; {'; '.join(notes)}"


def machine_text(machine: dict) -> dict[str, str]:
    return {
        "machine": f"{machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_bytes'] / 2**30:.0f} GiB, {machine['nodes']} node; "
        "ranks beyond the cores share them",
        "system": f"{machine['kernel']}, files on {machine['file_system']}, in the page cache",
        "versions": f"Thalweg {machine['thalweg']}, {machine['mpi']}, "
        f"PnetCDF {machine['pnetcdf']}, netCDF-C {machine['netcdf_c']}, HDF5 {machine['hdf5']}",
    }


def write_report(
    path: Path, sections: dict[str, list[Figure]], records: list[Record], facts: dict[str, str]
) -> None:
    machine = next((r.report["machine"] for r in records if r.report), None)
    facts = (machine_text(machine) if machine else {}) | facts
    summary = [["figure", "the paper", "here", "measured"]]
    for figures in sections.values():
        for f in figures:
            summary.append([f"[{f.source}](#{f.name})", f.claim, f.verdict, f.sentence()])
    text = (
        "# The papers' experiments, measured here\n\nWhat four papers found on their machines, and "
        "what thalweg-bench finds on this one. Whether a finding holds is computed from the "
        "measured figures. Times are medians; seconds are those of the output steps with the "
        "close, on the slowest rank, or, in the overlap, of the whole run.\n\n"
        + "".join(f"- {name}: {fact}\n" for name, fact in facts.items())
        + f"\n## Findings\n\n{table(summary)}\n"
    )
    for name, figures in sections.items():
        text += f"## {PAPERS[name]}\n\n" + "\n".join(map(section, figures)) + "\n"
    path.write_text(text + "## All runs\n\n" + "\n".join(map(run_text, records)) + "\n")
