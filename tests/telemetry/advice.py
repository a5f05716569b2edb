# SPDX-License-Identifier: Apache-2.0
"""Tests the advice on summaries, and the page that holds it."""

import json
import re

import pytest
from thalweg.report import advice_on, page_of

SECONDS = ("open", "put", "step", "close", "remap", "wait", "drain")


def run(service):
    """Returns the summary of a run of 100 s with one file, whose writers worked for 20 s."""
    file = {"path": "a.nc", "method": "record", "storage": "posix", "steps": 10, "bytes": 40000000}
    file |= {"writes": 10, "write_bytes_mean": 4000000, "queue_room_bytes": 2000000}
    file |= {"queue_waits": 0, "queue_wait_seconds": 0, "service": service}
    file["seconds"] = dict.fromkeys(SECONDS, 0) | {"write": 1, "busy": 20}
    return {"ranks": 4, "elapsed_seconds": 100, "rank_seconds": [], "files": [file]}


def expect_said(summary, words):
    assert words in "\n".join(advice_on(summary)), advice_on(summary)


def test_it_is_silent_on_what_costs_little():
    summary = run("background")
    assert advice_on(summary) == []
    summary["files"][0]["queue_wait_seconds"] = 4.9
    summary["files"][0]["seconds"]["drain"] = 4.9
    assert advice_on(summary) == []
    summary = run("inline")
    summary["files"][0]["seconds"] |= dict.fromkeys(("open", "put", "step", "wait"), 4.9)
    assert advice_on(summary) == []


def test_a_full_queue():
    summary = run("background")
    f = summary["files"][0]
    f |= {"queue_wait_seconds": 12, "queue_waits": 76}
    # A rank has 1 MB per step.
    expect_said(
        summary,
        "a.nc: the queue was full 76 times, and a rank waited up to 12.0 s (12 % of the run) for "
        "room. The writers had time left, so a longer queue helps: set queue=4MiB.",
    )
    f["seconds"]["busy"] = 90
    expect_said(
        summary,
        "at work for 90 % of the run), so a longer queue does not help: use more writers",
    )
    f["service"] = "servers"
    expect_said(summary, "use more servers")


def test_calls_that_write():
    summary = run("inline")
    f = summary["files"][0]
    f["seconds"] |= {"step": 30, "put": 20, "wait": 10}
    for words in ("service=background", "deferred put", "load imbalance"):
        expect_said(summary, words)
    assert "tw_end_step" in advice_on(summary)[0], "the largest cost comes first"
    f["storage"] = "pnetcdf"
    assert "service=background" not in "\n".join(advice_on(summary))


def test_costs_of_files_are_added_up():
    summary = run("inline")
    summary["files"][0]["seconds"]["open"] = 3
    assert advice_on(summary) == []
    summary["files"].append(run("inline")["files"][0] | {"path": "b.nc"})
    summary["files"][1]["seconds"]["open"] = 4
    expect_said(summary, "b.nc: creating the file")
    expect_said(summary, "With 1 more file: 7.00 s (7 % of the run).")
    summary["other_files"] = {"files": 12, "seconds": {"open": 9}}
    expect_said(summary, "12 more files: creating the file")


def test_small_writes_and_reading():
    summary = run("servers")
    f = summary["files"][0]
    f["seconds"]["write"] = 15
    f["write_bytes_mean"] = 1000
    expect_said(summary, "use fewer writers")
    f["queue_room_bytes"] = 1000000
    expect_said(summary, "set queue=4MiB")
    f["method"] = "tiles"
    expect_said(summary, "use method=record")
    read = {"path": "in.nc", "reads": 5, "bytes": 10, "ahead_bytes": 0, "unused_bytes": 0}
    summary["inputs"] = [read | {"seconds": {"read": 8, "file": 8}}]
    expect_said(summary, "in.nc: reading took up to 8.00 s")
    summary["inputs"][0] |= {"ahead_bytes": 10, "unused_bytes": 5}
    expect_said(summary, "in.nc: 5 B that were read ahead were never asked for")


def test_ranks():
    summary = run("background")
    summary["rank_seconds"] = [
        {"outside": 90, "other": 1, "history": 12},
        {"outside": 50, "other": 20, "history": 2},
    ]
    expect_said(summary, "Histories took up to 12.0 s (12 % of the run)")
    expect_said(summary, "between 50.0 s and 90.0 s outside the library")
    expect_said(summary, "took up to 20.0 s (20 % of the run): make decompositions once")


def test_without_time_or_with_odd_types_it_says_nothing():
    summary = run("background")
    summary["elapsed_seconds"] = 0
    summary["files"][0]["queue_wait_seconds"] = 5
    assert advice_on(summary) == []
    odd = {"elapsed_seconds": 1, "files": {"a": 1}, "inputs": [[], 3], "rank_seconds": ["x"]}
    assert advice_on(odd | {"other_files": 3}) == []


def held_by(summary, title="t"):
    page = page_of(json.dumps(summary), title)
    return json.loads(re.search(r'id="run">(.*?)</script>', page, re.DOTALL)[1])


def test_paths_are_relative_to_the_run():
    files = [{"path": "/run/a/b.nc"}, {"path": "/runs/c.nc"}]
    held = held_by({"ranks": 1, "folder": "/run", "files": files})
    assert [f["path"] for f in held["summary"]["files"]] == ["a/b.nc", "/runs/c.nc"]


def test_the_page_holds_the_summary_and_the_advice():
    summary = {"ranks": 1, "files": [{"path": "</script><!-- é \u0001"}], "a": "{}"}
    held = held_by(summary, "a <b>")
    assert held["summary"] == summary and held["title"] == "a <b>"
    assert isinstance(held["advice"], list)


def test_what_is_no_summary_is_refused():
    wrong = ("", "[]", "{}", "3", '{"ranks": 1}', '{"ranks": 1, "files": 2}')
    for text in (*wrong, '{"ranks": 1, "files": {}}'):
        with pytest.raises(ValueError):
            page_of(text, "t")
    page_of('{"ranks": 1, "files": []}', "t")
