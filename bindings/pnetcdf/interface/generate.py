#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of PnetCDF's interface: generate.py KIND FILE"""

import sys
from pathlib import Path

import declarations
import fortran77
import fortran90

WRITERS = {
    "names": declarations.names,
    "header": declarations.header,
    "codes": declarations.texts,
    "check": declarations.check,
    "nfmpi": fortran77.c_source,
    "inc": fortran77.include,
    "nf90": fortran90.c_functions,
    "module": fortran90.module,
}


def main():
    kind, target = sys.argv[1:]
    lines = WRITERS[kind]()
    mark = "! {}" if target.endswith(("pnetcdf.inc", ".f90")) else "/* {} */"
    text = "\n".join([mark.format("SPDX-License-Identifier: Apache-2.0"), *lines]) + "\n"
    file = Path(target)
    if not file.exists() or file.read_text(encoding="utf-8") != text:  # compile no more than needed
        file.write_text(text, encoding="utf-8")


main()
