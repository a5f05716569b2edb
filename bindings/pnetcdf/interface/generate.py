#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of PnetCDF's interface: generate.py KIND FILE"""

import sys
from pathlib import Path

import declarations

WRITERS = {
    "names": declarations.names,
    "header": declarations.header,
    "codes": declarations.texts,
    "check": declarations.check,
}


def main():
    kind, target = sys.argv[1:]
    lines = WRITERS[kind]()
    text = "\n".join(["/* SPDX-License-Identifier: Apache-2.0 */", *lines]) + "\n"
    file = Path(target)
    if not file.exists() or file.read_text(encoding="utf-8") != text:  # compile no more than needed
        file.write_text(text, encoding="utf-8")


main()
