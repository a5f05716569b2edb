# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents claim: check_docs.py ROOT.

- Programs in C, Fortran, Python and CMake are lines of those in examples/.
- Shell blocks are valid for bash, and the commands and options of ./run and thalweg in them exist.
- Names that begin with tw_, TW_ and THALWEG_ are in the sources, and so are files in backquotes.
- README.md has at most 700 words.
- Lists are written as MkDocs wants them: after a blank line, and their contents are indented by
  four.
- Links to files, and to headings in them, lead somewhere.
- Every page is in docs/index.md and in the navigation of the site (mkdocs.yml).
- Every public function of C and Fortran has a comment, from which its reference is made.
- Options that docs/building.md names are those of the build.
- Packages that ./run installs are those of docs/dependencies.md.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import settings_page  # noqa: E402

SUFFIXES = {"fortran": ".f90", "c": ".c", "python": ".py", "cmake": ".txt"}


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("**/*.md")), *root.glob("lab/*/*.md")]


def check_programs(root: Path) -> list[str]:
    problems = []
    examples = {
        language: [f.read_text() for f in sorted((root / "examples").glob(f"*/*{suffix}"))]
        for language, suffix in SUFFIXES.items()
    }
    for page in pages(root):
        for language, text in re.findall(r"```(\w+)\n(.*?)```", page.read_text(), re.DOTALL):
            if language not in SUFFIXES:
                continue
            text = textwrap.dedent(text)
            indented = [textwrap.indent(text, " " * n) for n in range(9)]
            if not any(i in source for source in examples[language] for i in indented):
                first = text.strip().split("\n")[0]
                problems.append(f"{page.relative_to(root)}: in no example: {first} ...")
    return problems


def sources(root: Path, *folders: str) -> str:
    """Returns the text of all files of these folders in which names are defined."""
    kinds = (".h", ".hpp", ".c", ".cpp", ".f90", ".py", ".sh", ".bash", ".cmake", ".txt", ".in")
    files = [f for folder in folders for f in sorted((root / folder).rglob("*"))]
    return "".join(f.read_text() for f in files if f.suffix in kinds)


def commands(text: str) -> list[list[str]]:
    """Returns the words of each command of a shell block, without the words before the program."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"(^|\s)#.*", "", text)
    lines = [part.split() for part in re.split(r"[;\n|]|&&|\bdo\b", text)]
    return [words for words in lines if words]


def check_shell(root: Path) -> list[str]:
    run = (root / "run").read_text()
    known = {
        "./run": set(re.findall(r"^cmd_(\w+)\(", run, re.M)) | {"--help"},
        "thalweg": set(re.findall(r"add_subcommand\(\s*\"(\w+)", sources(root, "apps/thalweg"))),
    }
    options = run + sources(root, "apps", "lab", "tools", "tests", "bindings/python")
    problems = []
    for page in pages(root):
        name = page.relative_to(root)
        for text in re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(), re.DOTALL | re.M):
            text = textwrap.dedent(text)
            shell = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
            if shell.returncode:
                problems.append(f"{name}: {shell.stderr.strip()}")
            for words in commands(text):
                at = next((i for i, word in enumerate(words) if word in known), None)
                if at is None:
                    continue
                program, rest = words[at], [*words[at + 1 :], ""]
                if rest[0] and rest[0] not in known[program]:
                    problems.append(f"{name}: {program} has no command {rest[0]}")
                for option in (w.split("=")[0] for w in rest if w.startswith("--")):
                    if not re.search(rf"{option}\b", options):
                        problems.append(f"{name}: {program} {rest[0]} has no option {option}")
    return problems


def check_names(root: Path) -> list[str]:
    """Returns the problems with functions, codes and environment variables that pages name."""
    there = (root / "run").read_text() + (root / "CMakeLists.txt").read_text()
    there += sources(root, "include", "bindings", "src", "tests", "apps", "lab", "cmake", "tools")
    there += "".join(f.read_text() for f in (root / ".ci").iterdir() if f.is_file())
    defined = set(re.findall(r"\b(?:tw_|TW_|THALWEG_)\w+", there))
    defined |= {
        f"THALWEG_{row[0].upper()}" for row in settings_page.rows(settings_page.SOURCE.read_text())
    }
    problems = []
    for page in pages(root):
        if page.name == "changes.md":  # this page also contains former names
            continue
        for name in sorted(set(re.findall(r"\b(?:tw_|TW_|THALWEG_)\w*\w", page.read_text()))):
            if not name.endswith("_") and name not in defined:
                problems.append(f"{page.relative_to(root)}: {name} is not in the sources")
    return problems


def check_paths(root: Path) -> list[str]:
    """Returns the problems with source files that pages name in backquotes; names of files in
    src/ may lack src/."""
    folders = "apps|bindings|cmake|docs|examples|include|lab|packaging|src|tests|tools"
    inside = "|".join(f.name for f in (root / "src").iterdir() if f.is_dir())
    path = re.compile(rf"`((?:{folders}|{inside})/(?!X)[\w./*-]+)`")
    problems = []
    for page in pages(root):
        for name in path.findall(page.read_text()):
            places = [root, root / "src", root / "tests", root / "src/service"]
            if not any(
                any(p.glob(f"{name.rstrip('/')}{end}")) for p in places for end in ("", ".*")
            ):
                problems.append(f"{page.relative_to(root)}: no {name}")
    return problems


def check_length(root: Path) -> list[str]:
    words = len((root / "README.md").read_text().split())
    return [f"README.md has {words} words"] if words > 700 else []


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
    """Returns the anchors of a page's headings."""
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
    listed = (root / "docs/index.md").read_text()
    navigation = (root / "mkdocs.yml").read_text().split("\nnav:")[1]
    for page in sorted((root / "docs").glob("*.md")):
        if f"]({page.name})" not in listed and page.name != "index.md":
            problems.append(f"docs/{page.name} is not in docs/index.md")
        if not re.search(rf"[ :]{re.escape(page.name)}$", navigation, re.MULTILINE):
            problems.append(f"docs/{page.name} is not in the navigation of mkdocs.yml")
    return problems


def check_comments(root: Path) -> list[str]:
    sys.path.insert(0, str(root / "docs/site"))
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
        "build/cf-venv",
    }
    return [f"docs/dependencies.md: {p} is not in both it and run" for p in named ^ installed]


def main() -> int:
    root = Path(sys.argv[1])
    problems = []
    for check in (
        check_programs,
        check_shell,
        check_names,
        check_paths,
        check_length,
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
