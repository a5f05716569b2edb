#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/settings.md from the table in src/session/settings.cpp.

settings_page.py [--check]: with --check it changes nothing, and fails if the page is out of date.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/session/settings.cpp"
PAGE = ROOT / "docs/settings.md"
BEGIN, END = "<!-- table: tools/settings_page.py -->\n", "<!-- end of the table -->\n"

# The page of each setting, to which its name links.
SEE = {
    "mode": "appending.md",
    "method": "methods.md",
    "format": "netcdf4.md",
    "packing": "netcdf4.md#cmip7",
    "writers": "methods.md#writers-and-file-systems",
    "tiles": "methods.md#a-file-for-each-tile",
    "files": "files.md#a-file-for-each-variable",
    "read_ahead": "reading.md#reading-ahead-in-the-background",
    "common_records": "reading.md#sets-of-tiles",
    "service": "services.md",
    "servers": "services.md#a-model-with-servers",
    "queue": "services.md#memory",
    "watchdog": "#where-a-run-stands",
    "publish": "recovery.md",
    "close": "services.md#closing-without-waiting",
    "checksums": "recovery.md#checksums",
    "manifest": "recovery.md#a-list-of-complete-files",
    "summary": "report.md",
    "trace": "report.md#a-timeline",
}
TOKEN = re.compile(r'\s*(?:((?:"(?:[^"\\]|\\.)*"\s*)+)|([\w:]+)|([{},]))')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"'(\w+)'|\b((?:tw_|OMP_)\w+|(?!auto\b)[a-z]\w*=\w+|NAME[.\w]*)")


def constants(text: str) -> dict[str, str]:
    """Returns the named texts of the source, such as `sizes`."""
    return dict(re.findall(r'const char\* const (\w+) = "([^"]*)";', text))


def rows(text: str) -> list[list[str]]:
    """Returns the rows of the table: name, default, values, meaning, per_file and limits."""
    named = constants(text)
    start = text.index("std::vector<SettingRow> table{") + len("std::vector<SettingRow> table{")
    found, row, place = [], None, start
    while text[place:].lstrip()[:2] != "};":
        token = TOKEN.match(text, place)
        strings, word, mark = token.groups()
        place = token.end()
        if mark == "{":
            row = []
        elif mark == "}":
            found.append(row)
        elif strings is not None:
            row.append("".join(LITERAL.findall(strings)))
        elif word:
            row.append(named.get(word, word))
    return found


def line(row: list[str]) -> str:
    """Returns the row of the page for a row of the source."""
    name, standard, values, meaning, per_file = row[:5]
    text = CODE.sub(lambda m: f"`{m[1] or m[2]}`", meaning)
    text += "" if per_file == "true" else ". Session"
    allowed = re.sub(r"(\d)(?:\|\d)+\|(\d)", r"\1 to \2", values).replace("|", ", ")
    allowed = re.sub(r"a size in (bytes[a-z ]*) \(.*\)", r"\1", allowed)
    default = f"`{standard}`" if standard else ""
    linked = f"[`{name}`]({SEE[name]})" if name in SEE else f"`{name}`"
    return f"| {linked} | {default} | {allowed} | {text} |"


def main() -> int:
    table = "| setting | default | values | meaning |\n|---|---|---|---|\n"
    table += "".join(line(row) + "\n" for row in rows(SOURCE.read_text()))
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    made = f"{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}"
    if made != page and "--check" in sys.argv:
        print("docs/settings.md is not made of src/session/settings.cpp: tools/settings_page.py")
        return 1
    if made != page:
        PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
