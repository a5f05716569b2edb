#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the structure of the tree: sizes, classes, folders, and includes between folders.

    house.py            prints the figures beside their budgets and goals
    house.py --check    prints only faults, and fails if there is one (`./run lint`)

A folder may not include one that comes later in ORDER, and a figure may not exceed its budget. A
commit that makes the tree smaller lowers the budget; raising one is a commit of its own that says
why.
"""

import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# A folder includes its own headers and those of folders before it (docs/architecture.md).
ORDER = [
    *("base", "index", "comm", "decomposition", "layout", "definitions", "storage", "publish"),
    *("exchange", "telemetry", "service", "choose", "reading"),
    *("dataset", "restart", "session", "api", "history"),
]

# Figures that may not grow: name, budget, goal. Lines are those of source files in all languages.
BUDGETS = {
    "lines: src without history": (49_906, 45_000),
    "lines: src/history": (14_137, 9_000),
    "lines: bindings": (29_245, 26_000),
    "lines: bindings for netCDF and PnetCDF": (13_602, 12_500),
    "lines: apps and lab": (23_028, 22_000),
    "lines: apps": (8_721, 8_800),
    "lines: tests": (72_837, 70_000),
    "methods of the largest class, with its bases": (39, 25),
    "members of the largest class, with its bases": (31, 15),
    "guards against small allocation failures": (85, 60),
    "files directly in a folder": (20, 20),
    "circles of files": (0, 0),
    "words in docs": (28_141, 28_000),
}

SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".f90", ".F90", ".py"}
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^\s*from \.(\w*) import (.+)|^\s*from (\w+)\.(\w+) import", re.MULTILINE)
# A class or struct with its bases and body, as clang-format leaves it: it ends at a `};` in the
# same column.
CLASS = re.compile(
    r"^( *)(?:class|struct) (\w+)(?: final)?([^;{}]*)\{\n(.*?)^\1\};", re.MULTILINE | re.DOTALL
)
BASE = re.compile(r"\b(?:public|protected|private)\s+(?:\w+::)*(\w+)")
METHOD = re.compile(r"^[^=(]*?(\w+)\s*\(")
MEMBER = re.compile(r"[\w:<>,*&\s.\[\]]+[\s*&]\w+(\[\w+\])?(\s*[={].*)?", re.DOTALL)
NO_MEMBER = ("using", "friend", "static", "struct", "class", "enum", "public", "private")
GUARD = re.compile(r"(?<!Status )\bcatch_errors\(")
# Parts of the tree whose structure is measured.
HOUSE = ("src", "bindings", "apps", "lab")


@cache
def sources(*folders):
    """Returns the source files below folders of the tree."""
    found = (p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES)
    return sorted(p for p in found if "__pycache__" not in p.parts)


@cache
def text_of(path):
    return path.read_text()


def count_lines(*folders):
    return sum(text_of(p).count("\n") for p in sources(*folders))


# ---- folders ----------------------------------------------------------------------------------


def folder_of(path):
    """Returns the folder below src that holds a file; in a folder with subfolders, the
    subfolder."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def arrows():
    """Returns the includes between folders of src, by pairs (folder, folder that it includes)."""
    found = defaultdict(list)
    for file in sources("src"):
        inside = str(file.relative_to(SRC))
        for included in INCLUDE.findall(text_of(file)):
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


def round_trips(edges):
    """Returns the sets of nodes that reach each other; `edges` maps a node to its successors."""
    reach = {a: set(b) for a, b in edges.items()}
    for middle in list(reach):
        for a in reach:
            if middle in reach[a]:
                reach[a] |= reach[middle]
    return sorted(
        {
            tuple(sorted({a} | {b for b in reach[a] if a in reach.get(b, ())}))
            for a in reach
            if a in reach[a]
        }
    )


def circles_of_folders(found):
    """Returns the subfolders of one folder that include each other, directly or through others.
    Files directly in a folder do not count, because they may be below its subfolders (interfaces)
    or above them (code that creates their objects)."""
    edges = defaultdict(set)
    for a, b in found:
        if "/" in a and "/" in b and a.split("/")[0] == b.split("/")[0]:
            edges[a].add(b)
    return round_trips(edges)


def units():
    """Returns the units (file names without suffix) of the tree and those that each includes or,
    in Python, imports."""
    edges = defaultdict(set)
    roots = [
        p for p in (SRC, ROOT / "bindings", *(ROOT / "apps").glob("*"), *(ROOT / "lab").glob("*"))
    ]
    for file in sources(*HOUSE):
        unit = file.with_suffix("")
        if file.suffix == ".py":
            for near, names, package, far in IMPORT.findall(text_of(file)):
                wanted = [near] if near else [n.split()[0] for n in re.findall(r"\w[\w ]*", names)]
                if package:
                    wanted = [far] if package == file.parent.name else []
                edges[unit] |= {
                    file.parent / n for n in wanted if (file.parent / f"{n}.py").is_file()
                }
            continue
        for included in INCLUDE.findall(text_of(file)):
            for folder in (file.parent, *roots):
                if (folder / included).is_file():
                    edges[unit].add((folder / included).with_suffix(""))
                    break
    for unit in edges:
        edges[unit].discard(unit)
    return edges


def fullest_folder():
    counts = defaultdict(int)
    for file in sources(*HOUSE):
        counts[file.parent] += 1
    return max(counts.values())


# ---- classes ----------------------------------------------------------------------------------


def statements(body):
    """Returns the statements of a class, without comments and without the contents of braces."""
    level, text = 0, ""
    for c in re.sub(r"//.*", "", body):
        level -= c == "}"
        text += (c if level == 0 else "").replace("}", ";")
        level += c == "{"
    return [s.strip() for s in text.split(";")]


def classes():
    """Returns, by name and folder, the names of methods, number of members and bases of classes."""
    found = {}
    for file in sources("src", "bindings"):
        if file.suffix not in (".cpp", ".hpp"):
            continue
        for _, name, head, body in CLASS.findall(text_of(file)):
            # Function pointers, as in the table that netCDF prescribes, are neither of both.
            parts = [s for s in statements(body) if "(*" not in s]
            methods = [m[1] for m in map(METHOD.match, parts) if m]
            members = sum(bool(MEMBER.fullmatch(s)) and not s.startswith(NO_MEMBER) for s in parts)
            found[name, file.parent] = (methods, members, BASE.findall(head))
    return found


def with_bases(found, name, folder, overridden=frozenset()):
    """Returns the number of methods and members of a class, those of its bases included. A method
    that a derived class overrides is counted once."""
    methods, members, bases = found[name, folder]
    count = sum(m not in overridden for m in methods)
    overridden |= set(methods)
    for base in bases:
        places = [f for n, f in found if n == base and (n, f) != (name, folder)]
        near = [f for f in places if f == folder] or places
        if len(near) == 1:
            more, data = with_bases(found, base, near[0], overridden)
            count, members = count + more, members + data
    return count, members


def largest_classes():
    found = classes()
    sizes = [(*with_bases(found, name, folder), name) for name, folder in found]
    return sorted(sizes, reverse=True)


# ---- figures ----------------------------------------------------------------------------------


def settings():
    text = (SRC / "session/settings.cpp").read_text()
    return len(re.findall(r'^        \{"[a-z_0-9]+",', text, re.MULTILINE))


def functions():
    text = "".join(p.read_text() for p in (ROOT / "include/thalweg").glob("*.h"))
    return len(set(re.findall(r"^(?!static )[\w *]+\b(tw_\w+)\(", text, re.MULTILINE)))


def figures():
    """Returns the figures that have budgets, by name."""
    largest = largest_classes()
    history = count_lines("src/history")
    drop_ins = ("bindings/nc", "bindings/netcdf", "bindings/pnetcdf")
    code = [p for p in sources("src", "bindings") if p.suffix in (".cpp", ".hpp")]
    return {
        "lines: src without history": count_lines("src") - history,
        "lines: src/history": history,
        "lines: bindings": count_lines("bindings"),
        "lines: bindings for netCDF and PnetCDF": count_lines(*drop_ins),
        "lines: apps and lab": count_lines("apps", "lab"),
        "lines: apps": count_lines("apps"),
        "lines: tests": count_lines("tests"),
        "methods of the largest class, with its bases": largest[0][0],
        "members of the largest class, with its bases": max(m for _, m, _ in largest),
        "guards against small allocation failures": sum(
            len(GUARD.findall(re.sub(r"//.*", "", text_of(p)))) for p in code
        ),
        "files directly in a folder": fullest_folder(),
        "circles of files": len(round_trips(units())),
        "words in docs": sum(len(p.read_text().split()) for p in (ROOT / "docs").glob("*.md")),
    }


def main():
    found = arrows()
    faults = [f"upward include: {fault}" for fault in upward(found)]
    faults += [f"circle of folders: {', '.join(c)}" for c in circles_of_folders(found)]
    now = figures()
    for name, (budget, _) in BUDGETS.items():
        if now[name] > budget:
            faults.append(f"{name}: {now[name]}, more than the budget of {budget}")
    if "--check" in sys.argv:
        print("".join(f"{fault}\n" for fault in faults), end="")
        return 1 if faults else 0
    print(f"{'':46} {'now':>7} {'budget':>7} {'goal':>7}")
    for name, (budget, goal) in BUDGETS.items():
        print(f"{name:46} {now[name]:7} {budget:7} {goal:7}")
    print(f"{'functions in C':46} {functions():7}")
    print(f"{'settings':46} {settings():7}")
    for methods, members, name in largest_classes()[:4]:
        print(f"class {name}: {methods} methods, {members} members")
    for circle in round_trips(units()):
        print("circle of files: " + ", ".join(str(p.relative_to(ROOT)) for p in circle))
    return 0


if __name__ == "__main__":
    sys.exit(main())
