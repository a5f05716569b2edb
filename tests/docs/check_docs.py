# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents claim: check_docs.py ROOT.

- Programs in C, Fortran and Python are lines of those in examples/; README.md shows hello in each.
- Links to files lead somewhere.
- Options that docs/building.md names are those of the build.
- Packages that ./run installs are those of docs/dependencies.md.
"""

import re
import sys
import textwrap
from pathlib import Path

SUFFIXES = {"fortran": ".f90", "c": ".c", "python": ".py"}


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]


def check_programs(root: Path) -> list[str]:
    problems = []
    examples = {
        language: {f: f.read_text() for f in sorted((root / "examples").glob(f"*/*{suffix}"))}
        for language, suffix in SUFFIXES.items()
    }
    hello = {language: False for language in SUFFIXES}
    for page in pages(root):
        for language, text in re.findall(r"```(\w+)\n(.*?)```", page.read_text(), re.DOTALL):
            if language not in SUFFIXES:
                continue
            text = textwrap.dedent(text)
            indented = [textwrap.indent(text, " " * n) for n in range(9)]
            found = [
                f for f, source in examples[language].items() if any(i in source for i in indented)
            ]
            if not found:
                first = text.strip().split("\n")[0]
                problems.append(f"{page.relative_to(root)}: in no example: {first} ...")
            hello[language] |= page.name == "README.md" and any(f.stem == "hello" for f in found)
    problems += [f"README.md shows no hello in {k}" for k, shown in hello.items() if not shown]
    return problems


def check_links(root: Path) -> list[str]:
    problems = []
    for page in pages(root):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in link and not (page.parent / link).exists():
                problems.append(f"{page.relative_to(root)}: no {link}")
    return problems


def check_options(root: Path) -> list[str]:
    files = [root / "CMakeLists.txt", root / "tests/CMakeLists.txt", *root.glob("cmake/*.cmake")]
    cmake = "".join(file.read_text() for file in files)
    there = set(re.findall(r"option(?:al)?\((THALWEG_\w+)", cmake))
    there |= set(re.findall(r"set\((THALWEG_\w+)[^()]*CACHE", cmake))
    named = set(re.findall(r"^\| `(THALWEG_\w+)`", (root / "docs/building.md").read_text(), re.M))
    return [f"docs/building.md: {name} is not in both it and the build" for name in named ^ there]


def check_packages(root: Path) -> list[str]:
    lists = re.findall(r"^\w*packages=\((.*?)^\)", (root / "run").read_text(), re.DOTALL | re.M)
    installed = set(" ".join(lists).split())
    page = (root / "docs/dependencies.md").read_text()
    named = set()
    for row in re.findall(r"^\|.*\|$", page, re.M):
        named |= set(re.findall(r"`([^`]+)`", row.split("|")[3]))
    named -= {"tests/requirements.txt", "build/venv"}
    return [f"docs/dependencies.md: {p} is not in both it and run" for p in named ^ installed]


def main() -> int:
    root = Path(sys.argv[1])
    problems = []
    for check in (check_programs, check_links, check_options, check_packages):
        problems += check(root)
    print("\n".join(problems) or "documents: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
