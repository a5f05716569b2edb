# SPDX-License-Identifier: Apache-2.0
"""Compares the trace of real runs, read by Python's JSON parser, with the summary.

Usage: check_trace.py MODEL -- LAUNCHER...
"""

import json
import os
import sys
from collections import Counter, defaultdict

from runs import FILES, KINDS, STEPS, Runs, check_data

# In builds without PnetCDF, this variable is set to posix.
STORAGE = os.environ.get("THALWEG_TEST_STORAGE", "pnetcdf")
BLOCKING = os.environ.get("THALWEG_TEST_STORAGE", "pnetcdf-blocking")
MORE = {
    "pnetcdf": (3, 0, {"storage": STORAGE}),
    "pnetcdf_blocking": (3, 0, {"storage": BLOCKING}),
    "netcdf4": (3, 0, {"format": "netcdf4", "deflate": "1"}),
    "tile_files": (4, 0, {"method": "tiles", "tiles": "2x2", "files": "tiles"}),
}


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def check_spans(spans):
    """Checks that spans of a thread nest, and that none ends before it begins."""
    spans = sorted(spans, key=lambda e: (nanoseconds(e["ts"]), -nanoseconds(e["dur"])))
    ends = []
    for e in spans:
        begin, duration = nanoseconds(e["ts"]), nanoseconds(e["dur"])
        assert begin >= 0 and duration >= 0, e
        while ends and ends[-1][0] <= begin:
            ends.pop()
        assert not ends or begin + duration <= ends[-1][0], (e, ends[-1][1])
        ends.append((begin + duration, e))


class Trace:
    """The spans by thread, and the names of processes and threads."""

    def __init__(self, path, ranks):
        data = json.loads(path.read_text())
        assert data["otherData"]["ranks"] == ranks, data["otherData"]
        self.left_out = data["otherData"]["left_out"]
        self.processes, self.threads, self.spans = {}, {}, defaultdict(list)
        for e in data["traceEvents"]:
            if e["ph"] == "M" and e["name"] == "process_name":
                self.processes[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "M" and e["name"] == "thread_name":
                self.threads[e["pid"], e["tid"]] = e["args"]["name"]
            elif e["ph"] == "X":
                self.spans[e["pid"], e["tid"]].append(e)
        assert sorted(self.processes) == list(range(1, ranks + 1)), self.processes
        assert set(self.spans) <= set(self.threads), self.threads
        for spans in self.spans.values():
            check_spans(spans)
        self.all = [e for spans in self.spans.values() for e in spans]

    def of_file(self, path, name):
        return [e for e in self.all if e["name"] == name and e["args"].get("file") == path]


def check_writes(trace, summary):
    """Checks that the traced writes, their bytes and places agree with the summary."""
    for f in summary["files"]:
        writes = trace.of_file(f["path"], "write")
        assert sum(e["args"]["bytes"] for e in writes) == f["bytes"] > 0, f["path"]
        assert len(writes) == f["writes"], (len(writes), f["writes"])
        sizes = Counter((max(1, e["args"]["bytes"]).bit_length() - 1) for e in writes)
        assert {s["from"]: s["writes"] for s in f["write_sizes"]} == {
            (1 << k if k else 0): n for k, n in sizes.items()
        }
        spent = max(
            sum(e["dur"] for e in writes if (e["pid"], e["tid"]) == t) for t in trace.threads
        )
        assert spent * 1e-6 <= f["seconds"]["write"] * 1.01 + 1e-3, (spent, f["seconds"])


def check_calls(trace, summary, ranks, servers):
    for f in summary["files"]:
        puts = trace.of_file(f["path"], "put")
        assert len(puts) == 2 * STEPS * ranks
        assert {e["args"]["variable"] for e in puts} == {"T", 'wind "speed"'}
        assert {e["args"]["record"] for e in puts} == set(range(STEPS))
        # 60 x 500 elements of 4 and 8 bytes.
        assert sum(e["args"]["bytes"] for e in puts) == 60 * 500 * 12 * STEPS
        assert len(trace.of_file(f["path"], "step")) == STEPS * ranks
        for name in ("open", "close"):
            assert {e["pid"] for e in trace.of_file(f["path"], name)} >= set(trace.models), name
    calls = Counter(e["name"] for e in trace.all if e["cat"] == "call")
    assert calls["tw_put"] == calls["tw_end_step"] == len(FILES) * STEPS * ranks
    reads = trace.of_file(summary["files"][0]["path"], "read")
    assert sum(e["args"]["bytes"] for e in reads) == summary["inputs"][0]["bytes"]
    names = sorted(trace.processes.values())
    assert sum(n.startswith("server rank") for n in names) == servers, names


def check_kind(runs, kind):
    ranks_and_servers, servers, settings = {**KINDS, **MORE}[kind]
    settings = {**settings, "servers": str(servers)}
    settings |= {"trace": "trace.json", "summary": "summary.json"}
    done, folder = runs.run(kind, ranks_and_servers, settings)
    assert done.returncode == 0, done.stderr
    summary = json.loads((folder / "summary.json").read_text())
    trace = Trace(folder / "trace.json", ranks_and_servers)
    trace.models = [p for p, n in trace.processes.items() if not n.startswith("server")]
    assert trace.left_out == 0
    check_writes(trace, summary)
    check_calls(trace, summary, ranks_and_servers - servers, servers)
    writers = {trace.threads[e["pid"], e["tid"]] for e in trace.all if e["name"] == "write unit"}
    if kind in KINDS and settings.get("service") == "background":
        assert "background writer" in writers, writers
    elif settings.get("service") == "servers":
        assert writers == {"server"}, writers
    else:
        assert writers == set(), writers
    if "tile" not in kind:
        check_data(folder)


def check_empty(runs):
    """Tests a run without files, and one without calls, whose ranks have no events."""
    settings = {"trace": "trace.json"}
    for name, more in [("empty", {}), ("no_room", {"test_trace_memory": "0"})]:
        done, folder = runs.run(name, 3, {**settings, **more}, files=[])
        assert done.returncode == 0, done.stderr
        trace = Trace(folder / "trace.json", 3)
        assert (trace.left_out > 0) == (name == "no_room") == (trace.all == [])


def check_full(runs):
    """Tests a run with little memory: events for which there is no space are counted, in the
    file and on standard error."""
    settings = {"trace": "trace.json", "test_trace_memory": "4KiB", "service": "background"}
    done, folder = runs.run("full", 3, settings)
    assert done.returncode == 0, done.stderr
    trace = Trace(folder / "trace.json", 3)
    assert trace.left_out > 0 and len(trace.all) > 0
    assert f"{trace.left_out} events found no room" in done.stderr, done.stderr
    text = (folder / "trace.json").read_text()
    marks = [e for e in json.loads(text)["traceEvents"] if e["ph"] == "i"]
    assert sum(int(e["name"].split()[3]) for e in marks) == trace.left_out
    check_data(folder)
    done, folder = runs.run("room", 3, settings | {"test_trace_memory": "1MiB"})
    whole = Trace(folder / "trace.json", 3)
    assert whole.left_out == 0 and len(whole.all) > len(trace.all)
    assert "no room" not in done.stderr


def check_long(runs):
    """Tests more events than ranks send at a time."""
    settings = {"trace": "trace.json", "summary": "summary.json", "storage": "memory"}
    done, folder = runs.run("long", 3, settings, steps=900, files=FILES[:1], pause=0)
    assert done.returncode == 0, done.stderr
    trace = Trace(folder / "trace.json", 3)
    assert trace.left_out == 0
    check_writes(trace, json.loads((folder / "summary.json").read_text()))
    by_rank = Counter(e["pid"] for e in trace.all)
    assert min(by_rank.values()) > 900 * 7, by_rank
    assert (folder / "trace.json").stat().st_size > 3.5 * 2**20


def check_unwritable(runs):
    """Tests that the files are complete, and that the error names the path."""
    for servers in ("0", "1"):
        settings = {"trace": "none/trace.json", "summary": "summary.json", "servers": servers}
        done, folder = runs.run("unwritable", 3, settings)
        assert done.returncode == 1 and "none/trace.json" in done.stderr, done.stderr
        assert "No such file or directory" in done.stderr
        check_data(folder)
        json.loads((folder / "summary.json").read_text())
        done, folder = runs.run("data", 3, {"trace": "plain.nc", "servers": servers})
        assert done.returncode == 1 and "a file that the run has written or read" in done.stderr
        check_data(folder)
    done, folder = runs.run("unwritable", 3, {"trace": "/dev/full"})
    assert done.returncode == 1 and "'/dev/full': No space left" in done.stderr, done.stderr
    check_data(folder)


def main():
    runs = Runs(sys.argv[1:])
    for kind in [*KINDS, *MORE]:
        check_kind(runs, kind)
    check_empty(runs)
    check_full(runs)
    check_long(runs)
    check_unwritable(runs)


if __name__ == "__main__":
    main()
