#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the structure of src/, and fails if a folder includes one that comes later in the order.

`./run lint` calls it twice: with --check it prints only faults, otherwise the figures.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# A folder includes its own headers and those of folders before it (docs/architecture.md).
ORDER = [
    *("base", "index", "comm", "decomposition", "layout", "definitions", "storage", "publish"),
    *("zarr", "exchange", "telemetry", "service", "choose", "reading"),
    *("dataset", "restart", "session", "api", "history"),
]

INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
# A class or struct with its body, as clang-format leaves it: it ends at a `};` in the same column.
CLASS = re.compile(r"^( *)(?:class|struct) (\w+)[^;{}]*\{\n(.*?)^\1\};", re.MULTILINE | re.DOTALL)
# Names that only this project's history explains; docs/architecture.md has the words of the field.
PRIVATE_WORDS = (
    r"\b(Parcel|Desk|Outbox|Crew|Board|Shelf|Glimpse|Standstill|Turns|Wish|Looks|Laid|Told|Placed)"
)


def sources():
    return sorted(p for p in SRC.rglob("*.?pp") if p.suffix in (".cpp", ".hpp"))


def folder_of(path):
    """Returns the folder below src that holds a file; in a folder with subfolders, the
    subfolder."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def arrows():
    """Returns the includes between folders, by pairs (folder, folder that it includes)."""
    found = defaultdict(list)
    for file in sources():
        inside = str(file.relative_to(SRC))
        for included in INCLUDE.findall(file.read_text()):
            if not (SRC / included).is_file():
                continue
            a, b = folder_of(inside), folder_of(included)
            if a != b:
                found[a, b].append(f"{inside} includes {included}")
    return found


def upward(found):
    """Returns the includes of a folder that comes later in the order."""
    faults = []
    for (a, b), where in found.items():
        a, b = a.split("/")[0], b.split("/")[0]
        if a != b and (a not in ORDER or b not in ORDER or ORDER.index(b) > ORDER.index(a)):
            faults += where
    return sorted(faults)


def circles(found):
    """Returns pairs of subfolders of one folder that include each other, directly or through
    others. Files directly in a folder do not count, because they may be below its subfolders
    (interfaces) or above them (code that creates their objects)."""
    reach = defaultdict(set)
    for a, b in found:
        if "/" in a and "/" in b and a.split("/")[0] == b.split("/")[0]:
            reach[a].add(b)
    for middle in list(reach):
        for a in list(reach):
            if middle in reach[a]:
                reach[a] |= reach[middle]
    return sorted({tuple(sorted((a, b))) for a in reach for b in reach[a] if a in reach.get(b, ())})


def statements(body):
    """Returns the statements of a class, without comments and without the contents of braces."""
    level, text = 0, ""
    for c in re.sub(r"//.*", "", body):
        level -= c == "}"
        text += (c if level == 0 else "").replace("}", ";")
        level += c == "{"
    return [s.strip() for s in text.split(";")]


METHOD = re.compile(r"^[^=(]*\w\s*\(")
MEMBER = re.compile(r"[\w:<>,*&\s.\[\]]+[\s*&]\w+(\[\w+\])?(\s*[={].*)?", re.DOTALL)
NO_MEMBER = ("using", "friend", "static", "struct", "class", "enum", "public", "private")


def classes():
    """Yields the number of methods, the number of data members and the name of each class."""
    for file in sources():
        for match in CLASS.finditer(file.read_text()):
            found = statements(match.group(3))
            methods = sum(bool(METHOD.match(s)) for s in found)
            members = sum(bool(MEMBER.fullmatch(s)) and not s.startswith(NO_MEMBER) for s in found)
            yield methods, members, match.group(2)


def count_lines(folder):
    return sum(len(p.read_text().splitlines()) for p in sources() if p.is_relative_to(SRC / folder))


def settings():
    text = (SRC / "session/settings.cpp").read_text()
    return len(re.findall(r'^        \{"[a-z_0-9]+",', text, re.MULTILINE))


def functions():
    text = "".join(p.read_text() for p in (ROOT / "include/thalweg").glob("*.h"))
    return len(set(re.findall(r"^(?!static )[\w *]+\b(tw_\w+)\(", text, re.MULTILINE)))


def service_methods():
    text = (SRC / "service/service.hpp").read_text().split("class Service ")[1].split("\n};")[0]
    return len(re.findall(r"\bvirtual (?!~)", text))


def main():
    found = arrows()
    bad, round_trips = upward(found), circles(found)
    if "--check" in sys.argv:
        for fault in bad:
            print(f"upward include: {fault}")
        for a, b in round_trips:
            print(f"circle: src/{a} and src/{b} include each other")
        return 1 if bad or round_trips else 0
    text = "".join(p.read_text() for p in sources())
    largest = sorted(classes(), reverse=True)[:3]
    rows = [
        ("lines in src", count_lines(".")),
        ("lines in src/service", count_lines("service")),
        ("files in src", len(sources())),
        ("circles between folders", len(round_trips)),
        ("includes of a higher folder", len(bad)),
        ("virtual functions of Service", service_methods()),
        ("functions in C", functions()),
        ("settings", settings()),
        ("private words", len(set(re.findall(PRIVATE_WORDS, text)))),
        ("largest classes (methods/members)", ", ".join(f"{n} {m}/{d}" for m, d, n in largest)),
    ]
    for name, value in rows:
        print(f"{name:36} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
