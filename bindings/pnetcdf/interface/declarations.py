# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's names in C: the list from which the build makes a function for each, pnetcdf.h, and
a check of both against another pnetcdf.h."""

from table import (
    FILES,
    KINDS,
    OPENING,
    SECTIONS,
    TEXTS,
    TYPES,
    VERSION,
    WITHOUT_FILE,
    codes,
    data_functions,
    data_name,
    functions,
)  # fmt: skip

OF_SEVERAL = {"start": "starts", "count": "counts", "stride": "strides", "imap": "imaps"}


def plain_prototypes():
    """Yields name and prototype of each function that is no put or get of a variable."""
    for name, arguments in functions():
        declared = [f"{KINDS[kind]} {argument}".replace("* ", "*") for kind, argument in arguments]
        result = "const char *" if name in TEXTS else "int "
        yield name, f"{result}ncmpi_{name}({', '.join(declared) or 'void'});"
    of_att = "int ncid, int varid, const char *name"
    for memory, c in {"": "void", **TYPES}.items():
        suffix = f"_{memory}" if memory else ""
        of_type = "" if memory == "text" else "nc_type xtype, "
        put = f"{of_att}, {of_type}MPI_Offset len, const {c} *op"
        yield f"put_att{suffix}", f"int ncmpi_put_att{suffix}({put});"
        yield f"get_att{suffix}", f"int ncmpi_get_att{suffix}({of_att}, {c} *ip);"


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


def data_prototypes():
    for verb, section, memory, together in data_functions():
        name = data_name(verb, section, memory, together)
        yield f"int ncmpi_{name}({', '.join(data_arguments(verb, section, memory))});"


def prototypes():
    return [prototype for _, prototype in plain_prototypes()] + list(data_prototypes())


def names():
    """Returns the functions as macro calls, one a line:

    PLAIN(name, arguments)                            concerns no open file
    OPENING(name, arguments)                          makes or opens a file
    FILES(name, arguments)                            ends a file, or concerns several
    OF_FILE(name, arguments)                          the first argument is a file's id
    DATA(name, arguments, verb, kind, type, all)      the same, for data of a variable

    or, where NAME is defined, as calls of that alone."""
    lines = ["#ifdef NAME"]
    macros = ("PLAIN", "OPENING", "FILES", "OF_FILE", "DATA")
    lines += [f"#define {macro} NAME" for macro in macros] + ["#endif"]
    calls = []
    for name, prototype in plain_prototypes():
        count = 0 if "(void)" in prototype else prototype.count(",") + 1
        groups = (("OPENING", OPENING), ("FILES", FILES), ("PLAIN", WITHOUT_FILE))
        kind = next((group for group, members in groups if name in members), "OF_FILE")
        calls.append((name, f"{kind}(ncmpi_{name}, {count})"))
    for verb, section, memory, together in data_functions():
        name = data_name(verb, section, memory, together)
        count = len(data_arguments(verb, section, memory))
        of_type = f"of_{memory or 'variable'}, {'true' if together else 'false'}"
        calls.append((name, f"DATA(ncmpi_{name}, {count}, {verb}, {section}, {of_type})"))
    lines += [call for _, call in sorted(calls)]
    return lines + [f"#undef {macro}" for macro in (*macros, "NAME")]


def header():
    """Returns a pnetcdf.h with what the front needs beside what netcdf.h has."""
    own = [(name, number) for number, name, _ in codes() if int(number) <= -201]
    return [
        "#ifndef _PNETCDF_H",
        "#define _PNETCDF_H",
        "#include <mpi.h>",
        "#include <netcdf.h>",
        f'#define PNETCDF_VERSION "{VERSION}"',
        "#define NC_FORMAT_UNKNOWN (-1)",
        *[f"#define NC_{name} ({number})" for name, number in own],
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
    """Returns the codes as macro calls CODE(number, name, text)."""
    return [f'CODE({number}, "NC_{name}", "{text}")' for number, name, text in codes()]


def check():
    """Returns a program that is compiled if another pnetcdf.h has the same interface."""
    lines = ["#include <pnetcdf.h>"]
    lines += [f'_Static_assert(NC_{name} == {number}, "NC_{name}");' for number, name, _ in codes()]
    return lines + prototypes()
