# SPDX-License-Identifier: Apache-2.0
"""Compares the report of real runs, read by Python's HTML parser, with the summary.

The page holds the summary; its script makes HTML of it, here by Node.js. Without Node.js, only the
contents of the page are compared.

Usage: check_report.py MODEL THALWEG -- LAUNCHER...
"""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

from runs import FILES, KINDS, STEPS, Runs, check_data

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """The parts of a page: tables by the heading before them, texts, and whether the tags match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.tags, self.attributes = [], [], [], []
        self.tables, self.heading = {}, ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.heading = dict(attrs).get("id", "")
        if tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self.heading][-1].append([dict(attrs).get("data-value"), ""])

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[self.heading][-1][-1][1] += data


# The functions of a browser that the page's script uses.
BROWSER = """
const summaryText = require("fs").readFileSync(0, "utf8");
const document = {
  getElementById: () => ({textContent: summaryText}),
  body: {insertAdjacentHTML: (where, html) => process.stdout.write(html)},
};
"""


def held_by(text):
    """Returns the contents of a page: its title, the advice and the summary."""
    return json.loads(re.search(r'id="run">(.*?)</script>', text, re.DOTALL)[1])


def page_of(text):
    """Returns the page as a browser shows it; None without Node.js."""
    Page(text)
    if shutil.which("node") is None:
        return None
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    done = subprocess.run(
        ["node", "-e", BROWSER + script],
        input=json.dumps(held_by(text)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return Page(done.stdout)


def check_self_contained(text, page):
    for name, value in page.attributes:
        assert name not in ("src", "href", "srcset", "onload", "onerror", "onclick"), (name, value)
    assert "url(" not in text and "@import" not in text
    assert "http" not in text, "an address"


def check_files(page, summary):
    head, *rows = page.tables["files"]
    titles = [c[1] for c in head]
    of_files = rows[: len(summary["files"])]
    for file, row in zip(summary["files"], of_files, strict=True):
        at = dict(zip(titles, row, strict=True))
        assert at["file"][1] == file["path"]
        for title, name in [
            ("bytes", "bytes"),
            ("writes", "writes"),
            ("mean write", "write_bytes_mean"),
            ("messages", "messages"),
            ("steps", "steps"),
            ("writers", "writers"),
        ]:
            assert float(at[title][0]) == file[name], (title, at[title], file[name])
        for title, name in [
            ("create, enddef", "open"),
            ("put", "put"),
            ("end_step, sync", "step"),
            ("close", "close"),
            ("pack and move", "remap"),
            ("wait for ranks", "wait"),
            ("write", "write"),
        ]:
            assert float(at[title][0]) == file["seconds"][name], (title, at[title])
        for name in ("method", "storage", "service", "format"):
            assert at[name][1] == file[name]
        for chosen in file["settings"]:
            assert [chosen["name"], chosen["asked"], chosen["value"], chosen["reason"]] in [
                [c[1] for c in r] for r in rows
            ], chosen


PHASES = ("outside", "open", "put", "step", "close", "read", "history", "other")


def check_ranks(page, summary, ranks):
    rows = summary["rank_seconds"]
    assert [(r["first"], r["last"]) for r in rows] == [(i, i) for i in range(ranks)]
    for row in rows:
        parts = [row[k] for k in PHASES]
        assert all(v >= 0 for v in row.values())
        # Ranks finish tw_init at slightly different times.
        assert abs(sum(parts) - summary["elapsed_seconds"]) < 0.25, (
            parts,
            summary["elapsed_seconds"],
        )
    shown = page.tables["ranks"][1 : 1 + ranks]
    for row, cells in zip(rows, shown, strict=True):
        assert cells[0][1] == f"rank {row['first']}"
        assert [float(c[0]) for c in cells[1:]] == [row[k] for k in PHASES]


def check_summary(kind, summary):
    assert [f["path"].rsplit("/", 1)[1] for f in summary["files"]] == FILES
    for f in summary["files"]:
        assert sum(s["writes"] for s in f["write_sizes"]) == f["writes"] > 0, f
        least = sum(s["writes"] * s["from"] for s in f["write_sizes"])
        assert least <= f["bytes"] < 2 * least + 2 * f["writes"], f
        assert f["steps"] == STEPS
        chosen = {s["name"]: s for s in f["settings"]}
        assert (
            chosen["method"]["value"] == f["method"] and chosen["storage"]["value"] == f["storage"]
        )
        assert chosen["format"]["value"] == f["format"] == "cdf2"
        for s in f["settings"]:
            assert (s["reason"] == "") == (s["asked"] == s["value"]), s
        if kind in ("inline", "direct", "nodes"):
            assert f["service"] == "inline" and f["seconds"]["busy"] == f["seconds"]["drain"] == 0
        else:
            assert f["seconds"]["busy"] >= f["seconds"]["write"] > 0
            assert 0 < f["queue_bytes_mean"] <= f["queue_bytes"] <= f["queue_room_bytes"]
            assert chosen["queue"]["value"] == str(f["queue_room_bytes"])


def check_kind(runs, kind):
    folder, summary, ranks = runs.run_kind(kind)
    check_data(folder)
    check_summary(kind, summary)
    text = report(runs, "summary.json", "-o", "-", cwd=folder).stdout
    held = held_by(text)
    for f in summary["files"] + summary["inputs"]:
        f["path"] = f["path"].removeprefix(f"{folder}/")
        assert "/" not in f["path"], f
    assert held["summary"] == summary
    advice = " ".join(held["advice"])
    if kind == "crowded":
        worst = max(summary["files"], key=lambda f: f["queue_wait_seconds"])
        said = f"{worst['path']}: the queue was full {worst['queue_waits']} times"
        assert said in advice, advice
        assert "With 2 more files" in advice, advice
        assert "more writers (setting writers)" in advice or "set queue=" in advice
    page = page_of(text)
    if page is None:
        return folder
    check_self_contained(text, page)
    check_files(page, summary)
    check_ranks(page, summary, ranks)
    shown = "".join(page.texts)
    for name in [*FILES, "telemetry_run", summary["date"]]:
        assert name in shown, name
    assert all(said in shown for said in held["advice"]), held["advice"]
    return folder


def report(runs, *arguments, cwd):
    return subprocess.run(
        [runs.programs[1], "report", *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )


def check_program(runs, folder):
    """Checks the files that `thalweg report` writes, and its errors."""
    done = report(runs, "summary.json", cwd=folder)
    assert done.returncode == 0 and done.stdout == "summary.html\n", done
    made = (folder / "summary.html").read_text()
    done = report(runs, "summary.json", "-o", "-", cwd=folder)
    assert done.stdout == made
    for name, content, words in [
        ("empty.json", "", "not a summary"),
        ("list.json", "[1, 2]", "not a summary"),
        ("other.json", '{"a": 1}', "not a summary"),
    ]:
        (folder / name).write_text(content)
        done = report(runs, name, cwd=folder)
        assert done.returncode == 1 and name in done.stderr and words in done.stderr, done
    assert "nothing.json" in report(runs, "nothing.json", cwd=folder).stderr
    done = report(runs, "summary.json", "-o", "none/page.html", cwd=folder)
    assert done.returncode == 1 and "none/page.html" in done.stderr, done
    done = report(runs, "summary.json", "-o", "summary.json", cwd=folder)
    assert done.returncode == 1 and "would replace" in done.stderr, done
    json.loads((folder / "summary.json").read_text())
    # Values of wrong types are left out; the page is still valid.
    (folder / "odd.json").write_text('{"ranks": "x", "files": [1, {"path": 7, "seconds": []}]}')
    done = report(runs, "odd.json", cwd=folder)
    assert done.returncode == 0, done
    page_of((folder / "odd.html").read_text())


def check_empty(runs):
    done, folder = runs.run("empty", 2, {"summary": "summary.json"}, files=[])
    assert done.returncode == 0, done.stderr
    page = page_of(report(runs, "summary.json", "-o", "-", cwd=folder).stdout)
    assert page is None or "no files" in "".join(page.texts)


def check_unwritable(runs):
    """Tests that the files are complete, and that the error names the path."""
    settings = {"summary": "none/summary.json", "trace": "trace.json"}
    done, folder = runs.run("unwritable", 2, settings)
    assert done.returncode == 1 and "none/summary.json" in done.stderr, done.stderr
    check_data(folder)
    json.loads((folder / "trace.json").read_text())
    assert "setting summary: cannot write to the directory of" in done.stderr, "at the beginning"
    # Data are not overwritten.
    done, folder = runs.run("data", 2, {"trace": "./plain.nc", "summary": "summary.json"})
    assert done.returncode == 1 and "a file that the run has written or read" in done.stderr, (
        done.stderr
    )
    check_data(folder)
    json.loads((folder / "summary.json").read_text())
    done, folder = runs.run("unwritable", 2, {"trace": "same", "summary": "./same"})
    assert done.returncode == 1 and "name the same file" in done.stderr, done.stderr
    done, folder = runs.run("unwritable", 2, {"summary": "page.html"})
    assert done.returncode == 1 and "thalweg report" in done.stderr, done.stderr


def main():
    runs = Runs(sys.argv[1:])
    for kind in KINDS:
        folder = check_kind(runs, kind)
    check_program(runs, folder)
    check_empty(runs)
    check_unwritable(runs)


if __name__ == "__main__":
    main()
