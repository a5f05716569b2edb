#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the options of a program from its sources, so that nobody waits for a compiler.

    option_help.py SOURCE[:FUNCTION]...

Options are calls of CLI11's add_option and add_flag, in FUNCTION only. If the function returns its
help as text, the lines of the text are printed.
"""

import re
import sys
import textwrap

CALL = re.compile(r"app\.add_(?:option|flag)\w*(?:<[^(]*>)?\(\s*\"([^\"]+)\"")
STRINGS = re.compile(r'(?:"((?:[^"\\]|\\.)*)"\s*)+')
PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"')


def body(text: str, function: str) -> str:
    """Returns a function's text; functions end at a brace in the first column."""
    start = re.search(rf"^\w.*\b{function}\(", text, re.M)
    if not start:
        sys.exit(f"option_help.py: no function {function}")
    return text[start.start() : text.index("\n}", start.start())]


def call_end(text: str, start: int) -> int:
    """Returns where the arguments of a call end that begin at `start`."""
    depth, place = 1, start
    while depth:
        if text[place] == '"':
            place = PIECE.match(text, place).end()
            continue
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return place


def options(text: str) -> list[tuple[str, str]]:
    """Returns names and descriptions: the first string of a call, and the last."""
    found = []
    for call in CALL.finditer(text):
        arguments = text[call.end() : call_end(text, call.end())]
        strings = list(STRINGS.finditer(arguments))
        words = "".join(PIECE.findall(strings[-1].group(0))) if strings else ""
        found.append((call.group(1), words.replace('\\"', '"')))
    return found


def main() -> None:
    for argument in sys.argv[1:]:
        source, _, function = argument.partition(":")
        with open(source) as file:
            text = file.read()
        text = body(text, function) if function else text
        if not CALL.search(text):
            print("\n".join(p[:-2] for p in PIECE.findall(text) if p.startswith("  --")))
        for name, words in options(text):
            print(
                textwrap.fill(
                    words, 100, initial_indent=f"  {name:<30}  ", subsequent_indent=34 * " "
                )
            )


if __name__ == "__main__":
    main()
