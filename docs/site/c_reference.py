# SPDX-License-Identifier: Apache-2.0
"""The reference of C, from the comments of include/thalweg/*.h."""

import re
from dataclasses import dataclass
from pathlib import Path

from prose import CONDITION, definition, inline, markdown

PARTS = (
    "array",
    "session",
    "decomposition",
    "definitions",
    "writing",
    "alone",
    "reading",
    "restart",
    "history",
)


@dataclass
class Entry:
    """A function or type: its comment, and the declarations that follow it."""

    name: str
    comment: str
    code: str


def without_marks(comment: str) -> str:
    """The text of a comment of any form."""
    lines = []
    for line in comment.strip().split("\n"):
        text = re.sub(r"^\s*(/\*\*?|///<?|//|\*(?!/))", "", line)
        text = re.sub(r"\*/\s*$", "", text)
        lines.append(text.removeprefix(" ").rstrip())
    return "\n".join(lines).strip("\n")


def name_of(code: str) -> str:
    found = re.search(r"\benum (\w+)|\bstruct (\w+) \{|#define (\w+)|\b(\w+)\(", code)
    return next(name for name in found.groups() if name)


def c_blocks(text: str) -> list[str]:
    """The parts of a header between blank lines, where they end a declaration or a comment."""
    blocks, block, inside = [], [], False
    for line in text.split("\n"):
        inside = inside or line.lstrip().startswith("/*")
        if not line.strip() and not inside and block:
            blocks.append("\n".join(block))
            block = []
        elif line.strip():
            block.append(line)
        if "*/" in line:
            inside = False
    return [*blocks, "\n".join(block)] if block else blocks


def c_entries(header: Path) -> list[Entry | str]:
    """Functions and types of a header, and what it says between them."""
    text = header.read_text()
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.DOTALL)
    text = CONDITION.sub("", text.replace(" TW_ENUM", ""))
    found: list[Entry | str] = []
    for block in c_blocks(text):
        comment = re.match(r"(?:/\*.*?\*/\s*)", block, re.DOTALL)
        code = block[comment.end() :] if comment else block
        if comment and "SPDX" not in comment[0] and not code.strip():
            found.append(without_marks(comment[0]))
        elif comment and comment[0].startswith("/**"):
            found.append(Entry(name_of(code), without_marks(comment[0]), code.strip()))
    return found


def conventions(header: Path) -> str:
    """The comment at the beginning of thalweg.h, without its first lines."""
    text = without_marks(header.read_text().split("*/")[0])
    return text[text.index("The C interface.") :].replace("@note ", "")


def status_table(header: Path) -> str:
    rows = re.findall(r'X\((TW_\w+), (-?\d+), "([^"]*)"\)', header.read_text())
    lines = ["| code | value | meaning |", "|---|---|---|"]
    lines += [f'| <span id="{name}">`{name}`</span> | {n} | {text} |' for name, n, text in rows]
    return "\n".join(lines)


def tags_of(comment: str) -> list[tuple[str, str]]:
    """The parts of a comment that begin with @param, @return or @note; first its text."""
    parts = re.split(r"@(param|return|note)\b", comment)
    return [("text", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def described(comment: str, anchors: set[str]) -> str:
    lines: list[str] = []
    before = ""
    for tag, text in tags_of(comment):
        flat = " ".join(text.split())
        if tag == "param":
            name, _, meaning = re.sub(r"^(\S+(?:, \S+)*) ", r"\1\0", flat).partition("\0")
            lines += [""] if before != "param" else []
            lines.append(f"- {definition(name, meaning, anchors)}")
        elif tag == "return":
            lines += ["", f"**Returns** {inline(flat, anchors)}"]
        elif tag == "note":
            lines += ["", f"**{flat.split(' ')[0].rstrip(',;.')}**"]
            rest = flat[len(flat.split(" ")[0].rstrip(",;.")) :]
            lines[-1] += inline(rest, anchors)
        elif text.strip():
            body = re.sub(r"\s*\bLocal\.\s*$", "", text.replace("@p ", ""))
            lines += [markdown(body, anchors)]
            if body != text.replace("@p ", ""):
                lines += ["", "**Local**"]
        before = tag
    return "\n".join(lines).strip()


def shown(entry: Entry, anchors: set[str]) -> list[str]:
    code = ["", "```c", entry.code, "```", ""]
    return ["", f"### `{entry.name}`", *code, described(entry.comment, anchors)]


def c_page(include: Path) -> str:
    headers = [include / f"{part}.h" for part in ("base", *PARTS)]
    parts = {h: c_entries(h) for h in headers}
    entries = [e for part in parts.values() for e in part if isinstance(e, Entry)]
    anchors = {e.name.lower() for e in entries}
    anchors |= set(re.findall(r"X\((TW_\w+)", headers[0].read_text()))
    lines = ["# C reference", "", markdown(conventions(include / "thalweg.h"), anchors)]
    included = (include / "thalweg.h").read_text()
    for header, part in parts.items():
        title = "Types and status codes" if header.stem == "base" else header.stem.capitalize()
        lines += [
            "",
            f"## {title}",
            "",
            f"`#include <thalweg/{header.name}>`"
            + (", a part of `thalweg.h`" if f"/{header.name}" in included else ""),
        ]
        for entry in part:
            if isinstance(entry, str):
                lines += ["", markdown(entry, anchors)]
            elif entry.name == "TW_STATUS_TABLE":
                lines += ["", "### Status codes", "", status_table(header)]
            else:
                lines += shown(entry, anchors)
    return "\n".join(lines) + "\n"


def undocumented_c(include: Path, page: str) -> list[str]:
    """Functions that the headers declare and the page does not show."""
    headers = "".join(header.read_text() for header in include.glob("*.h"))
    declared = set(re.findall(r"^(?:tw_status|const char\*) (tw_\w+)\(", headers, re.MULTILINE))
    code = "".join(re.findall(r"```c\n.*?```", page, re.DOTALL))
    return sorted(declared - set(re.findall(r"\b(tw_\w+)\(", code)))
