# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents claim: check_docs.py ROOT.

- Programs in C, Fortran, Python and CMake are lines of those in examples/; README.md shows hello in
  each.
- Lists are written as MkDocs wants them: after a blank line, what is in them indented by four.
- Links to files, and to headings in them, lead somewhere.
- Every page is in README.md's list and in the navigation of the site (mkdocs.yml).
- Every public function of C and Fortran has a comment, from which its reference is made.
- Options that docs/building.md names are those of the build.
- Packages that ./run installs are those of docs/dependencies.md.
"""

import re
import sys
import textwrap
from pathlib import Path

SUFFIXES = {"fortran": ".f90", "c": ".c", "python": ".py", "cmake": ".txt"}


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]


def check_programs(root: Path) -> list[str]:
    problems = []
    examples = {
        language: {f: f.read_text() for f in sorted((root / "examples").glob(f"*/*{suffix}"))}
        for language, suffix in SUFFIXES.items()
    }
    hello = {language: False for language in SUFFIXES if language != "cmake"}
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
            if language in hello:
                hello[language] |= page.name == "README.md" and any(
                    f.stem == "hello" for f in found
                )
    problems += [f"README.md shows no hello in {k}" for k, shown in hello.items() if not shown]
    return problems


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def check_lists(root: Path) -> list[str]:
    problems = []
    for page in pages(root):
        name = page.relative_to(root)
        text = re.sub(r"^(```+).*?^\1", "\n", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for line in re.findall(r"^ {1,3}(?:[-*] |\d+\. |```).*", text, re.MULTILINE):
            problems.append(f"{name}: indent by four what is in a list: {line.strip()}")
        for line in re.findall(r"^(?![-*|#\s]|\d+\. ).+\n((?:[-*]|1\.) .*)", text, re.MULTILINE):
            problems.append(f"{name}: a blank line is missing before the list: {line}")
    return problems


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    names = set()
    for heading in re.findall(r"^#+ +(.*)$", without_code(page), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        names.add(re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-"))
    return names


def check_links(root: Path) -> list[str]:
    problems = []
    for page in pages(root):
        for link in re.findall(r"\]\(([^)\s]+)", without_code(page)):
            file, _, heading = link.partition("#")
            target = page.parent / file if file else page
            if "://" in link or link.startswith("mailto:"):
                continue
            if not target.exists():
                problems.append(f"{page.relative_to(root)}: no {file}")
            elif heading and (target.suffix != ".md" or heading not in headings(target)):
                problems.append(f"{page.relative_to(root)}: no heading for {link}")
    return problems


def check_navigation(root: Path) -> list[str]:
    problems = []
    listed = (root / "README.md").read_text()
    navigation = (root / "mkdocs.yml").read_text().split("\nnav:")[1]
    for page in sorted((root / "docs").glob("*.md")):
        if f"](docs/{page.name})" not in listed:
            problems.append(f"docs/{page.name} is not in README.md's list of documents")
        if not re.search(rf"[ :]{re.escape(page.name)}$", navigation, re.MULTILINE):
            problems.append(f"docs/{page.name} is not in the navigation of mkdocs.yml")
    return problems


def check_comments(root: Path) -> list[str]:
    sys.path.insert(0, str(root / "docs/site"))
    sys.dont_write_bytecode = True
    from c_reference import c_page, undocumented_c
    from fortran_reference import fortran_page, undocumented_fortran

    include, modules = root / "include/thalweg", root / "bindings/fortran"
    names = undocumented_c(include, c_page(include))
    names += undocumented_fortran(modules, fortran_page(modules))
    return [f"{name} is public and has no comment" for name in names]


def check_options(root: Path) -> list[str]:
    files = [root / "CMakeLists.txt", root / "tests/CMakeLists.txt", *root.glob("cmake/*.cmake")]
    cmake = "".join(file.read_text() for file in files)
    there = set(re.findall(r"option(?:al)?\((THALWEG_\w+)", cmake))
    there |= set(re.findall(r"set\((THALWEG_\w+)[^()]*CACHE", cmake))
    named = set(re.findall(r"^\| `(THALWEG_\w+)`", (root / "docs/building.md").read_text(), re.M))
    return [f"docs/building.md: {name} is not in both it and the build" for name in named ^ there]


def check_packages(root: Path) -> list[str]:
    lists = re.findall(
        r"^\w*packages=\((.*?)^\)", (root / "tools/packages.bash").read_text(), re.DOTALL | re.M
    )
    installed = set(" ".join(lists).split())
    page = (root / "docs/dependencies.md").read_text()
    named = set()
    for row in re.findall(r"^\|.*\|$", page, re.M):
        named |= set(re.findall(r"`([^`]+)`", row.split("|")[3]))
    named -= {
        "tests/requirements.txt",
        "build/venv",
        "docs/site/requirements.txt",
        "build/site-venv",
    }
    return [f"docs/dependencies.md: {p} is not in both it and run" for p in named ^ installed]


def main() -> int:
    root = Path(sys.argv[1])
    problems = []
    for check in (
        check_programs,
        check_lists,
        check_links,
        check_navigation,
        check_comments,
        check_options,
        check_packages,
    ):
        problems += check(root)
    print("\n".join(problems) or "documents: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
