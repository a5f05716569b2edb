#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of PnetCDF's interface: generate.py KIND FILE"""

import sys
from pathlib import Path

from table import (
    SECTIONS,
    TYPES,
    VERSION,
    codes,
    data_functions,
    data_name,
    functions,
)  # fmt: skip

FIRST_OWN_CODE = -201  # of PnetCDF; netCDF has those above
OF_SEVERAL = {"start": "starts", "count": "counts", "stride": "strides", "imap": "imaps"}


def data_arguments(verb, section, memory):
    c = TYPES[memory] if memory else "void"
    constant = "const " if verb.endswith("put") else ""
    lists = "MPI_Offset *const *"
    if verb.startswith("m"):
        arguments = ["int ncid", "int num", "int *varids"]
        arguments += [lists + OF_SEVERAL[name] for name in SECTIONS[section]]
        arguments.append(f"{c} *const *buf" if constant else f"{c} *bufs[]")
        if not memory:
            arguments += ["const MPI_Offset *bufcounts", "const MPI_Datatype *datatypes"]
        return arguments
    arguments = ["int ncid", "int varid"]
    if section == "varn":
        arguments += ["int num", f"{lists}starts", f"{lists}counts"]
    elif section == "vard":
        arguments.append("MPI_Datatype filetype")
    else:
        arguments += [f"const MPI_Offset *{name}" for name in SECTIONS[section]]
    arguments.append(f"{constant}{c} *{'op' if constant else 'ip'}")
    if not memory:
        arguments += ["MPI_Offset bufcount", "MPI_Datatype buftype"]
    return arguments + (["int *req"] if verb[0] in "ib" else [])


def prototypes():
    for _, result, name, arguments in functions():
        yield f"{result}ncmpi_{name}({arguments});"
    for function in data_functions():
        yield f"int ncmpi_{data_name(*function)}({', '.join(data_arguments(*function[:3]))});"


def names():
    """Returns the functions as macro calls, one a line, with their arguments as machine words:

    PLAIN(name, (word a, ...), (a, ...))            concerns no open file
    OPENING(name, (word a, ...), (a, ...))          makes or opens a file
    FILES(name, (word a, ...), (a, ...))            ends a file, or concerns several
    OF_FILE(name, (word a, ...), (a, ...))          the first argument is a file's id
    DATA(name, ..., verb, kind, type, all)          the same, for data of a variable

    or, where NAME is defined, as calls of that alone."""
    macros = ("PLAIN", "OPENING", "FILES", "OF_FILE", "DATA")
    calls = []

    def add(macro, name, count, more=""):
        values = "abcdefghijkl"[:count]
        types = ", ".join(f"word {value}" for value in values) or "void"
        calls.append((name, f"{macro}(ncmpi_{name}, ({types}), ({', '.join(values)}){more})"))

    for kind, _, name, arguments in functions():
        add(kind, name, 0 if arguments == "void" else arguments.count(",") + 1)
    for verb, section, memory, together in data_functions():
        more = f", {verb}, {section}, of_{memory or 'variable'}, {'true' if together else 'false'}"
        count = len(data_arguments(verb, section, memory))
        add("DATA", data_name(verb, section, memory, together), count, more)
    return [
        "#ifdef NAME",
        *[f"#define {macro} NAME" for macro in macros],
        "#endif",
        *[call for _, call in sorted(calls)],
        *[f"#undef {macro}" for macro in (*macros, "NAME")],
    ]


def header():
    """Returns a pnetcdf.h with what the front needs beside what netcdf.h has."""
    return [
        "#ifndef _PNETCDF_H",
        "#define _PNETCDF_H",
        "#include <mpi.h>",
        "#include <netcdf.h>",
        f'#define PNETCDF_VERSION "{VERSION}"',
        "#define NC_FORMAT_UNKNOWN (-1)",
        *[f"#define NC_{name} ({number})" for number, name in codes() if number <= FIRST_OWN_CODE],
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        *prototypes(),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
    ]


def texts():
    """Returns the codes as macro calls CODE(number, name)."""
    return [f'CODE({number}, "NC_{name}")' for number, name in codes()]


def check():
    """Returns a program that is compiled if another pnetcdf.h has the same interface."""
    lines = [f'_Static_assert(NC_{name} == {number}, "NC_{name}");' for number, name in codes()]
    return ["#include <pnetcdf.h>", *lines, *prototypes()]


def main():
    kind, target = sys.argv[1:]
    lines = {"names": names, "header": header, "codes": texts, "check": check}[kind]()
    text = "\n".join(["/* SPDX-License-Identifier: Apache-2.0 */", *lines]) + "\n"
    file = Path(target)
    if not file.exists() or file.read_text(encoding="utf-8") != text:  # compile no more than needed
        file.write_text(text, encoding="utf-8")


main()
