# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's names in C: the list from which the build makes a function for each, pnetcdf.h, and
a check of both against another pnetcdf.h."""

from table import (
    C_CONSTANTS,
    CONSTANTS,
    FILES,
    KINDS,
    OPENING,
    OPTIONS,
    OTHER_C_CONSTANTS,
    OTHER_CODES,
    SECTIONS,
    TEXTS,
    TYPES,
    VERSION,
    WITHOUT_FILE,
    codes,
    constants,
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


# Macros that have no prefix NC_, or are texts.
OTHER_TEXTS = [
    ("NC2_ERR", "(-1)"),
    ("NC4_FIRST_ERROR", "(-100)"),
    ("NC4_LAST_ERROR", "(-142)"),
    ("NC_FILL_STRING", '((char *)"")'),
    ("NC_QUANTIZE_BITGROOM_ATT_NAME", '"_QuantizeBitgroomNumberOfSignificantDigits"'),
    ("NC_QUANTIZE_GRANULARBR_ATT_NAME", '"_QuantizeGranularBitRoundNumberOfSignificantDigits"'),
    ("DIM_WITHOUT_VARIABLE", '"This is a netCDF dimension but not a netCDF variable."'),
]


def others():
    return constants(OTHER_CODES) + constants(OTHER_C_CONSTANTS)


def define(name, value):
    return f"#define NC_{name} {f'({value})' if value.startswith('-') else value}"


def header():
    """Returns pnetcdf.h."""
    # netcdf.h has the constants that both have, but for limits.
    own = [c for c in codes() if int(c[0]) <= -201]
    shared = [c for c in codes() if int(c[0]) > -201]
    of_own = ("REQ_", "GET_REQ", "PUT_REQ", "MAX_NFILES", "FORMAT_UNKNOWN", "FORMAT_CDF",
              "FORMAT_BP", "BP", "32BIT")  # fmt: skip
    both = [c for c in constants(CONSTANTS) if not c[0].startswith(of_own)]
    extra = [c for c in constants(CONSTANTS) if c[0].startswith(of_own)]
    return [
        "/* PnetCDF's interface to Thalweg. */",
        "#ifndef _PNETCDF_H",
        "#define _PNETCDF_H",
        "",
        "#include <mpi.h>",
        "",
        "/* The version whose interface this is. */",
        f'#define PNETCDF_VERSION "{VERSION}"',
        *[
            f"#define PNETCDF_VERSION_{part} {number}"
            for part, number in zip(("MAJOR", "MINOR", "SUB"), VERSION.split("."), strict=True)
        ],
        "#define PNETCDF_THALWEG 1",
        *[f"#define PNETCDF_{name} {value}" for name, value in OPTIONS.items()],
        "",
        "#ifndef _NETCDF_ /* of netcdf.h */",
        "typedef int nc_type;",
        '#define _FillValue "_FillValue"',
        *[define(*c) for c in both + constants(C_CONSTANTS)],
        *[define(name, number) for number, name, _ in shared],
        "#define NC_ISSYSERR(err) ((err) > 0)",
        "#endif",
        "",
        *[f"#ifndef NC_{c[0]}\n{define(*c)}\n#endif" for c in extra],
        *[define(name, number) for number, name, _ in own],
        *[f"#ifndef NC_{c[0]}\n{define(*c)}\n#endif" for c in others()],
        *[f"#ifndef {name}\n#define {name} {value}\n#endif" for name, value in OTHER_TEXTS],
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *prototypes(),
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
    ]


def texts():
    """Returns the codes as macro calls CODE(number, name, text)."""
    return [f'CODE({number}, "NC_{name}", "{text}")' for number, name, text in codes()]


def check():
    """Returns a program that is compiled if another pnetcdf.h has the same interface."""
    values = constants(CONSTANTS) + others() + [(name, number) for number, name, _ in codes()]
    lines = ["#include <pnetcdf.h>"]
    lines += [f'_Static_assert(NC_{name} == {value}, "NC_{name}");' for name, value in values]
    for name, value in constants(C_CONSTANTS):
        lines.append(f'_Static_assert(NC_{name} == {value}, "NC_{name}");')
    return lines + prototypes()
