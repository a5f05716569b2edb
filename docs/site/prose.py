# SPDX-License-Identifier: Apache-2.0
"""Comments of the sources as Markdown: lists, indented definitions, names of calls as links."""

import re
import textwrap
from collections.abc import Collection

# Parts of the text that are left unchanged: code, bold labels, calls, status codes, constants and
# names of documents.
TOKEN = re.compile(r"(`[^`]*`|\*\*\w+:\*\*|\btw_\w+|\bTW_\w+|\bdocs/[\w-]+\.md)")
# "name  meaning", "start, count  meaning"
NAMED = re.compile(r"([A-Za-z]\w*(?:, \w+)*) {2,}")
# The reference includes declarations that the headers leave out for programs without MPI.
CONDITION = re.compile(r"^#(?:ifndef THALWEG_SERIAL|endif).*\n", re.MULTILINE)
SPECIAL = re.compile(r"([\\*_<>\[\]#|])")


def inline(text: str, anchors: Collection[str] = (), up: str = "../") -> str:
    """One paragraph: what Markdown would take for marks is escaped, what is known is linked."""
    parts = []
    for part in TOKEN.split(text):
        if part.startswith(("`", "**")):
            parts.append(part)
        elif part.startswith("docs/"):
            name = part.removeprefix("docs/")
            parts.append(f"[{name.removesuffix('.md')}]({up}{name})")
        elif re.fullmatch(r"tw_\w+|TW_\w+", part):
            linked = part.lower() if part.startswith("tw_") else part
            parts.append(f"[`{part}`](#{linked})" if linked in anchors else f"`{part}`")
        else:
            parts.append(SPECIAL.sub(r"\\\1", part))
    return "".join(parts)


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Paragraphs ("text"), list items ("item") and indented definitions ("definition")."""
    found: list[tuple[str, str]] = []
    open_block = False
    for line in textwrap.dedent(text).split("\n"):
        indent = len(line) - len(line.lstrip())
        words = line.strip()
        if not words:
            open_block = False
        elif words.startswith("- "):
            found.append(("item", words[2:]))
            open_block = True
        elif 0 < indent <= 4 and NAMED.match(words):
            found.append(("definition", words))
            open_block = True
        elif open_block and (indent > 0 or found[-1][0] == "text"):
            found[-1] = (found[-1][0], f"{found[-1][1]} {words}")
        else:
            found.append(("text", words))
            open_block = True
    return found


def markdown(text: str, anchors: Collection[str] = ()) -> str:
    """A comment's text as Markdown."""
    lines: list[str] = []
    before = ""
    blocks = blocks_of(text)
    for at, (kind, words) in enumerate(blocks):
        if kind != before or kind == "text":
            lines.append("")
        if kind == "definition":
            named = NAMED.match(words)
            lines.append(f"- {definition(named[1], words[named.end() :], anchors)}")
        elif kind == "item":
            lines.append(f"- {inline(words, anchors)}")
        elif len(words.split()) < 3 and blocks[at + 1 : at + 2] and blocks[at + 1][0] == "item":
            lines.append(f"**{words}**")
        else:
            lines.append(inline(words, anchors))
        before = kind
    return "\n".join(lines).strip()


def definition(name: str, meaning: str, anchors: Collection[str] = ()) -> str:
    names = ", ".join(f"`{n.strip()}`" for n in name.split(","))
    return f"{names}: {inline(' '.join(meaning.split()), anchors)}"
