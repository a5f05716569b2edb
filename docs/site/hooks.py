# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs: pages that are made from other files than those in docs/.

- reference/*.md come from the comments of the headers and of the Fortran module;
- files outside docs/ that a page links to become pages of their own in sources/.
"""

import posixpath
import re
from pathlib import Path

from c_reference import c_page, undocumented_c
from cpp_reference import cpp_page
from fortran_reference import fortran_page, undocumented_fortran
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
LANGUAGES = {
    ".f90": "fortran",
    ".F90": "fortran",
    ".c": "c",
    ".cpp": "cpp",
    ".py": "python",
    ".ipynb": "json",
    ".txt": "cmake",  # CMakeLists.txt
}
PYTHON = """# Python reference

`import thalweg`. [The guide](../python.md) shows how it is used.

::: thalweg
    options: {members: [Session, Decomposition, File, Variable, Restart, Error, recover]}

## xarray

::: thalweg.xarray
"""


def root_of(config) -> Path:
    return Path(config.config_file_path).parent


def rewritten(text: str, folder: str, place: str = "docs") -> tuple[str, set[str]]:
    """Text of the file in this folder of the project, with its links as the site has them, where
    its page is in the folder `place`; and the files and folders outside docs/ that it links to."""
    outside: set[str] = set()

    def replaced(match: re.Match) -> str:
        target = match[2]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if not path.startswith("docs/"):
            outside.add(path)
            path = f"docs/sources/{path}.md"
        return f"{match[1]}{posixpath.relpath(path, place)}{match[3]}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [LINK.sub(replaced, part) for part in parts[::2]]
    return "".join(parts), outside


def source_page(root: Path, path: str) -> tuple[str, set[str]]:
    """A page that shows a file, or lists the files of a folder; and the files and folders outside
    docs/ that it links to."""
    whole = root / path
    if whole.is_dir():
        shown = [f.name for f in sorted(whole.iterdir()) if f.suffix in LANGUAGES]
        base = posixpath.basename(path)
        links = "\n".join(f"- [{name}]({base}/{name}.md)" for name in shown)
        return f"# {path}\n\n{links}", {f"{path}/{name}" for name in shown}
    text = whole.read_text()
    if whole.suffix == ".md":
        folder = posixpath.dirname(path)
        return rewritten(text, folder, f"docs/sources/{folder}")
    fence = "````" if "```" in text else "```"
    return f"# {path}\n\n{fence}{LANGUAGES.get(whole.suffix, 'text')}\n{text}{fence}\n", set()


def source_pages(root: Path, paths: set[str]) -> dict[str, str]:
    pages: dict[str, str] = {}
    left = set(paths)
    while left:
        path = left.pop()
        if not (root / path).exists():
            raise PluginError(f"a page links to {path}, which is not there")
        name = f"sources/{path}.md"
        if name not in pages:
            pages[name], linked = source_page(root, path)
            left |= linked
    return pages


def references(root: Path) -> dict[str, str]:
    c = c_page(root / "include/thalweg")
    names = set(re.findall(r"^### `(\w+)`$", c, re.MULTILINE))
    fortran = fortran_page(root / "bindings/fortran")
    missing = undocumented_c(root / "include/thalweg", c)
    missing += undocumented_fortran(root / "bindings/fortran", fortran)
    if missing:
        raise PluginError(f"public, but without a comment: {', '.join(missing)}")
    return {
        "reference/c.md": c,
        "reference/cpp.md": cpp_page(root / "include/thalweg", names),
        "reference/fortran.md": fortran,
        "reference/python.md": PYTHON,
    }


def on_files(files, config):
    root = root_of(config)
    outside: set[str] = set()
    for page in (root / "docs").glob("*.md"):
        outside |= rewritten(page.read_text(), "docs")[1]
    pages = {**references(root), **source_pages(root, outside)}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    if "```mermaid" in markdown:
        raise PluginError(
            f"{page.file.src_uri}: a Mermaid diagram; it needs a script from elsewhere"
        )
    inside = "/" not in page.file.src_uri
    return rewritten(markdown, "docs")[0] if inside else markdown
