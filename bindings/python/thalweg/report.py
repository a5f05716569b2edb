# SPDX-License-Identifier: Apache-2.0
"""The page of a run, made from the summary that the library writes: docs/report.md."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ADVISED = 0.05  # fraction of the run's time below which a cost gets no advice
PLACE = 'id="run">{}'  # the summary replaces the braces
COST = "\0"  # stands for the cost in advice; no path contains it


def write_report(summary: str, output: str | None = None) -> str | None:
    """Writes an HTML page for a summary. Returns its path; None: standard output.

    Args:
        summary: path of the JSON file that the setting `summary` named; "-": standard input
        output: path of the page, "-" for standard output; the summary's with .html by default
    """
    text = sys.stdin.read() if summary == "-" else Path(summary).read_text(encoding="utf-8")
    if output is None:
        output = "-" if summary == "-" else str(Path(summary).with_suffix(".html"))
    title = "Thalweg run" if summary == "-" else f"Thalweg: {summary}"
    try:
        page = page_of(text, title)
    except ValueError as problem:
        raise ValueError(f"{summary}: not a summary: {problem}") from None
    if output == "-":
        sys.stdout.write(page)
        return None
    if os.path.exists(output) and summary != "-" and os.path.samefile(output, summary):
        raise ValueError(f"{output}: the page would replace the summary: give another name with -o")
    Path(output).write_text(page, encoding="utf-8")
    return output


def page_of(text: str, title: str) -> str:
    """Returns the page, which loads nothing from the network."""
    summary = json.loads(text)
    if not (isinstance(summary, dict) and "ranks" in summary and "files" in summary):
        raise ValueError("it has no 'ranks' and no list 'files'")
    if not isinstance(summary["files"], list):
        raise ValueError("'files' is no list")
    folder = f"{text_in(summary, 'folder')}/"
    for file in [*rows_in(summary, "files"), *rows_in(summary, "inputs")]:
        if folder != "/" and text_in(file, "path").startswith(folder):
            file["path"] = file["path"].removeprefix(folder)
    run = {"title": title, "advice": advice_on(summary), "summary": summary}
    held = json.dumps(run, ensure_ascii=False).replace("<", "\\u003c")  # ends no element
    page = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    return page.replace(PLACE, PLACE.replace("{}", held), 1)


# Values that a summary lacks, or has with another type, are 0 or empty.
def number_in(row: Any, name: str) -> float:
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, int | float) else 0


def text_in(row: Any, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, str) else ""


def rows_in(row: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = row.get(name)
    return [r for r in value if isinstance(r, dict)] if isinstance(value, list) else []


def seconds_text(value: float) -> str:
    if value >= 1:
        return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} s"
    if value >= 1e-3:
        return f"{value * 1e3:.3g} ms"
    return f"{value * 1e6:.3g} µs" if value else "0"


def bytes_text(value: float) -> str:
    if value < 1000:
        return f"{value:.0f} B"
    power = min(5, int(math.log10(value) / 3))
    return f"{value / 1000**power:.3g} {' kMGTP'[power]}B"


def share_text(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def advice_on(summary: dict[str, Any]) -> list[str]:
    """Returns sentences in plain text, beginning with the largest cost. Each describes a kind of
    cost that takes more than 5 % of the time, summed over all files: the file on which it is
    highest, and the setting or call to change."""
    elapsed = number_in(summary, "elapsed_seconds")
    if elapsed <= 0:
        return []
    costs: dict[str, list[tuple[float, str]]] = {}
    for kind, seconds, text in Advisor(summary, elapsed).costs():
        if seconds > 0:
            cost = f"{seconds_text(seconds)} ({share_text(seconds / elapsed)} of the run)"
            costs.setdefault(kind, []).append((seconds, text.replace(COST, cost)))
    said = []
    for files in costs.values():
        total, more = sum(seconds for seconds, _ in files), len(files) - 1
        text = max(files, key=lambda cost: cost[0])[1]
        if more:
            text += f" With {more} more file{'s' * (more > 1)}: {seconds_text(total)} "
            text += f"({share_text(total / elapsed)} of the run)."
        if total > ADVISED * elapsed:
            said.append((total, text))
    return [text for _, text in sorted(said, key=lambda cost: -cost[0])]


Costs = Iterator[tuple[str, float, str]]  # kind, seconds, advice


class Advisor:
    """Finds the costs of a run and what to say about them."""

    def __init__(self, summary: dict[str, Any], elapsed: float) -> None:
        self.summary, self.elapsed = summary, elapsed
        self.ranks = max(1, number_in(summary, "ranks"))
        files = rows_in(summary, "files")
        self.busy = sum(number_in(f.get("seconds"), "busy") for f in files)

    def costs(self) -> Costs:
        for f, path in self.rows("files", "other_files"):
            yield from self.of_file(f, f.get("seconds"), path)
        for f, path in self.rows("inputs", "other_inputs"):
            yield from self.of_input(f, f.get("seconds"), path)
        yield from self.of_ranks(rows_in(self.summary, "rank_seconds"))

    def rows(self, name: str, others: str) -> Iterator[tuple[dict[str, Any], str]]:
        for f in rows_in(self.summary, name):
            yield f, text_in(f, "path")
        rest = self.summary.get(others)
        if isinstance(rest, dict):
            yield rest, f"{number_in(rest, 'files'):.0f} more files"

    def of_file(self, f: dict[str, Any], s: Any, path: str) -> Costs:
        service = text_in(f, "service")
        if service == "inline":
            yield from self.of_calls(f, s, path)
        else:
            yield "queue", number_in(f, "queue_wait_seconds"), self.full_queue(f, path)
            yield (
                "drain",
                number_in(s, "drain"),
                f"{path}: tw_sync and tw_close waited up to {COST} for the writers: set "
                "close=later, or call tw_sync less often.",
            )
        writes, mean = number_in(f, "writes"), number_in(f, "write_bytes_mean")
        if service and mean < 64 * 1024 and writes >= 2:
            yield (
                "writes",
                number_in(s, "write"),
                f"{path}: {writes:.0f} writes of {bytes_text(mean)} on average took up to {COST}. "
                f"Small writes are slow: {self.larger_writes(f)}.",
            )
        yield (
            "open",
            number_in(s, "open"),
            f"{path}: creating the file and planning its exchange took up to {COST}: write more "
            "records per file.",
        )

    def of_calls(self, f: dict[str, Any], s: Any, path: str) -> Costs:
        # With storage=pnetcdf and method=direct, data are written during the calls, whatever the
        # service.
        if text_in(f, "storage") != "pnetcdf" and text_in(f, "method") != "direct":
            yield (
                "step",
                number_in(s, "step"),
                f"{path}: tw_end_step and tw_sync took up to {COST}: with service=background (and "
                "a core that is free for each writer) or servers, files are written while the "
                "model computes.",
            )
        if number_in(s, "wait") > 2 * (number_in(s, "write") + number_in(s, "remap")):
            yield (
                "wait",
                number_in(s, "wait"),
                f"{path}: ranks waited up to {COST} for each other, far longer than packing and "
                "writing took: they reach the collective calls at different times. Look for load "
                "imbalance in the model.",
            )
        yield (
            "put",
            number_in(s, "put"),
            f"{path}: tw_put took up to {COST} to copy: a deferred put makes no copy; or set "
            "threads, if a rank has several cores.",
        )

    def of_input(self, f: dict[str, Any], s: Any, path: str) -> Costs:
        ahead, unused = number_in(f, "ahead_bytes"), number_in(f, "unused_bytes")
        if ahead <= 0 and number_in(f, "reads") > 1:
            yield (
                "read",
                number_in(s, "read"),
                f"{path}: reading took up to {COST}: with read_ahead=yes the next record is read "
                "while the model computes.",
            )
        if ahead > 0 and unused > ADVISED * number_in(f, "bytes"):
            yield (
                "unused",
                number_in(s, "file"),
                f"{path}: {bytes_text(unused)} that were read ahead were never asked for: set "
                "read_ahead=no where records are not read in order.",
            )

    def of_ranks(self, rows: list[dict[str, Any]]) -> Costs:
        if not rows:
            return
        outside = [number_in(row, "outside") for row in rows]
        yield (
            "imbalance",
            max(outside) - min(outside),
            f"The ranks spent between {seconds_text(min(outside))} and "
            f"{seconds_text(max(outside))} outside the library: load imbalance of the model, for "
            "which ranks wait in collective calls.",
        )
        yield (
            "history",
            max(number_in(row, "history") for row in rows),
            f"Histories took up to {COST} to compute statistics and to wait for other ranks, "
            "without their files: take fewer samples of fields that change slowly (key sample of a "
            "stream), and look for load imbalance in the model.",
        )
        yield (
            "other",
            max(number_in(row, "other") for row in rows),
            "Calls other than those that write and read (decompositions, restarts, tw_inq) took "
            f"up to {COST}: make decompositions once and keep them.",
        )

    def step_bytes(self, f: dict[str, Any]) -> float:
        """Returns the number of bytes that one rank puts in one step."""
        return number_in(f, "bytes") / max(1, number_in(f, "steps")) / self.ranks

    def longer_queue(self, f: dict[str, Any]) -> str:
        """Returns a better setting: twice the present one, and long enough for four steps."""
        room = max(2 * number_in(f, "queue_room_bytes"), 4 * self.step_bytes(f))
        return f"set queue={math.ceil(room / (1 << 20))}MiB"

    def full_queue(self, f: dict[str, Any], path: str) -> str:
        waits = number_in(f, "queue_waits")
        text = f"{path}: the queue was full {waits:.0f} times, and a rank waited up to {COST} for "
        if self.busy <= 0.8 * self.elapsed:
            return (
                text + "room. The writers had time left, so a longer queue helps: "
                f"{self.longer_queue(f)}."
            )
        busy = share_text(min(1, self.busy / self.elapsed))
        more = "servers" if text_in(f, "service") == "servers" else "writers"
        return (
            text + "room. Writing takes longer than computing (the writers were at work for "
            f"{busy} of the run), so a longer queue does not help: use more {more} "
            f"(setting {more})."
        )

    def larger_writes(self, f: dict[str, Any]) -> str:
        if text_in(f, "method") != "record":
            return "use method=record"
        if 0 < number_in(f, "queue_room_bytes") < 2 * self.step_bytes(f):
            return (
                "the queue does not hold two steps, so steps are written in parts: "
                f"{self.longer_queue(f)}"
            )
        return "put all variables of a record in one step, and use fewer writers"
