# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's names in Fortran 77: the functions nfmpi_ in C, and pnetcdf.inc."""

from table import (
    CONSTANTS,
    FORTRAN_FILLS,
    FORTRAN_NAMES,
    FORTRAN_TYPES,
    OPTIONS,
    OTHER_CODES,
    SECTIONS,
    TEXTS,
    TYPES,
    VERSION,
    codes,
    constants,
    data_functions,
    functions,
)  # fmt: skip

# How an argument arrives and is passed on: parameter, statements before the call, argument of the
# call, statements after it. {x}: its name; {n}: the name of the argument with its length.
PLAIN_IN = ("const MPI_Fint *{x}", "", "*{x}", "")
COUNTED_IN = ("const MPI_Fint *{x}", "", "*{x} - 1", "")
PASSED = ("MPI_Fint *{x}", "", "{x}", "")
COUNTED_OUT = (
    "MPI_Fint *{x}",
    "int c_{x} = *{x} - 1;",
    "&c_{x}",
    "*{x} = c_{x} < 0 ? c_{x} : c_{x} + 1;",
)
ARGUMENTS = {
    "ncid": PLAIN_IN,
    "int": PLAIN_IN,
    "type": PLAIN_IN,
    "varid": COUNTED_IN,
    "dimid": COUNTED_IN,
    "number": COUNTED_IN,
    "offset": ("const MPI_Offset *{x}", "", "*{x}", ""),
    "comm": ("const MPI_Fint *{x}", "", "MPI_Comm_f2c(*{x})", ""),
    "info": ("const MPI_Fint *{x}", "", "MPI_Info_f2c(*{x})", ""),
    "name": ("const char *{x}", "char *c_{x} = c_text({x}, l_{x});", "c_{x}", "free(c_{x});"),
    "dims": ("const MPI_Fint *{x}", "int *c_{x} = c_dims({x}, *{n});", "c_{x}", "free(c_{x});"),
    "value": ("const void *{x}", "", "{x}", ""),
    "ints": PASSED,
    # In Fortran, PnetCDF leaves the ids of requests as they are.
    "requests": (
        "const MPI_Fint *{x}",
        "int *c_{x} = copy_of({x}, *count);",
        "c_{x}",
        "free(c_{x});",
    ),
    "out_int": PASSED,
    "out_type": PASSED,
    "out_varid": COUNTED_OUT,
    "out_dimid": COUNTED_OUT,
    "out_number": COUNTED_OUT,
    "out_dims": (
        "MPI_Fint *{x}",
        "",
        "{x}",
        "if (code == 0) fortran_dims(*ncid, *varid - 1, {x});",
    ),
    "out_offset": ("MPI_Offset *{x}", "", "{x}", ""),
    "out_info": (
        "MPI_Fint *{x}",
        "MPI_Info c_{x} = MPI_INFO_NULL;",
        "&c_{x}",
        "*{x} = MPI_Info_c2f(c_{x});",
    ),
    "out_value": ("void *{x}", "", "{x}", ""),
    "out_name": (
        "char *{x}",
        "char c_{x}[NC_MAX_NAME + 1] = {{0}};",
        "c_{x}",
        "if (code == 0) fortran_text(c_{x}, {x}, l_{x});",
    ),
}
LENGTHS = ("name", "out_name")  # kinds with a hidden length
BY_HAND = {*TEXTS, "inq_path"}


def plain_function(name, arguments):
    """Returns a function nfmpi_ that calls the one of C with converted arguments."""
    length = "ndims" if any(x == "ndims" for _, x in arguments) else ""
    parts = {x: [part.format(x=x, n=length) for part in ARGUMENTS[kind]] for kind, x in arguments}
    hidden = [f"size_t l_{x}" for kind, x in arguments if kind in LENGTHS]
    given = ", ".join([part[0] for part in parts.values()] + hidden) or "void"
    call = f"ncmpi_{name}({', '.join(part[2] for part in parts.values())})"
    before = [part[1] for part in parts.values() if part[1]]
    after = [part[3] for part in parts.values() if part[3]]
    if not before and not after:
        return f"FUNCTION(nfmpi_{name}_, ({given})) {{ return {call}; }}"
    body = [*before, f"const int code = {call};", *after, "return code;"]
    return f"FUNCTION(nfmpi_{name}_, ({given})) {{\n    " + "\n    ".join(body) + "\n}"


def attribute_functions():
    """Yields the name and the arguments of each function for values of an attribute."""
    of_att = [("ncid", "ncid"), ("varid", "varid"), ("name", "name")]
    for memory, fortran in {None: None, **FORTRAN_NAMES}.items():
        of_type = [] if memory == "text" else [("type", "xtype")]
        suffix = (f"_{memory}" if memory else "", f"_{fortran}" if fortran else "")
        value = [("offset", "len"), ("value", "values")]
        yield f"put_att{suffix[0]}", f"put_att{suffix[1]}", of_att + of_type + value
        yield f"get_att{suffix[0]}", f"get_att{suffix[1]}", [*of_att, ("out_value", "values")]


def section_arguments(section):
    """Returns the parameters that describe a section, the C statement that makes the section,
    and its arguments in C."""
    if section == "varn":
        given = ["const MPI_Fint *num", "const MPI_Offset *starts", "const MPI_Offset *counts"]
        make = "struct section s = section_of_pieces(*ncid, *varid - 1, *num, starts, counts);"
        return given, make, ["*num", "s.starts", "s.counts"]
    if section == "vard":
        return ["const MPI_Fint *filetype"], "", ["MPI_Type_f2c(*filetype)"]
    names = SECTIONS[section]
    padded = [*names, "NULL", "NULL", "NULL", "NULL"][:4]
    make = (
        f"struct section s = section_of(*ncid, *varid - 1, {', '.join(padded)});" if names else ""
    )
    return [f"const MPI_Offset *{x}" for x in names], make, [f"s.{x}" for x in names]


def data_function(verb, section, memory, together):
    """Returns a function nfmpi_ for a put or get."""
    end = "_all" if together else ""
    given, make, passed = section_arguments(section)
    constant = "const " if verb.endswith("put") else ""
    given = ["const MPI_Fint *ncid", "const MPI_Fint *varid", *given]
    given.append(f"{constant}{TYPES[memory] if memory else 'void'} *values")
    passed = ["*ncid", "*varid - 1", *passed, "values"]
    if not memory:
        given += ["const MPI_Offset *bufcount", "const MPI_Fint *buftype"]
        passed += ["*bufcount", "MPI_Type_f2c(*buftype)"]
    if verb[0] in "ib":
        given.append("MPI_Fint *req")
        passed.append("req")
    suffix = f"_{FORTRAN_NAMES[memory]}" if memory else ""
    c_suffix = f"_{memory}" if memory else ""
    call = f"ncmpi_{verb}_{section}{c_suffix}{end}({', '.join(passed)})"
    head = f"FUNCTION(nfmpi_{verb}_{section}{suffix}{end}_, ({', '.join(given)}))"
    if not make:
        return f"{head} {{ return {call}; }}"
    return f"{head} {{\n    {make}\n    return done(&s, {call});\n}}"


def fortran_data_functions():
    for verb, section, memory, together in data_functions():
        if not verb.startswith("m") and (memory is None or memory in FORTRAN_NAMES):
            yield verb, section, memory, together


def c_source():
    """Returns the C source of the functions, which the file with the helpers includes."""
    lines = [plain_function(*f) for f in functions() if f[0] not in BY_HAND]
    for c_name, name, arguments in attribute_functions():
        text = plain_function(c_name, arguments)
        lines.append(text.replace(f"nfmpi_{c_name}_,", f"nfmpi_{name}_,", 1))
    return lines + [data_function(*f) for f in fortran_data_functions()]


def function_names():
    names = [name for name, _ in functions() if name not in TEXTS]
    names += [name for _, name, _ in attribute_functions()]
    for verb, section, memory, together in fortran_data_functions():
        suffix = f"_{FORTRAN_NAMES[memory]}" if memory else ""
        names.append(f"{verb}_{section}{suffix}{'_all' if together else ''}")
    return names


def fortran_constants(prefix):
    """Yields type, name and value of each constant."""
    values = dict(constants(CONSTANTS)) | {"GLOBAL": "0", "CDF2": "512", "ALIGN_CHUNK": "-1"}
    values |= {"FATAL": "1", "VERBOSE": "2"}
    values |= dict(FORTRAN_TYPES)
    for name, value in values.items():
        yield "integer", f"{prefix}_{name}", str(int(value, 0))
    for number, name, _ in codes():
        yield "integer", f"{prefix}_{name}", number
    for name, value in constants(OTHER_CODES):
        yield "integer", f"{prefix}_{name}", value
    for kind, name, value in FORTRAN_FILLS:
        yield kind, f"{prefix}_{name}", value


def build_constants():
    """Yields type, name and value of the constants that describe the build of the library."""
    for part, number in zip(("MAJOR", "MINOR", "SUB"), VERSION.split("."), strict=True):
        yield "integer", f"PNETCDF_VERSION_{part}", number
    for name, value in OPTIONS.items():
        yield "integer", f"PNETCDF_{name}", value


def include():
    """Returns pnetcdf.inc, whose lines are valid in both fixed and free source form."""
    lines = ["! PnetCDF's interface to Thalweg."]
    all_constants = [*build_constants(), ("integer*8", "NFMPI_UNLIMITED", "0")]
    all_constants += list(fortran_constants("NF"))
    for kind, name, value in all_constants:
        lines += [f"      {kind} {name}", f"      parameter ({name} = {value})"]
    kinds = [("character*80", sorted(TEXTS)), ("logical", ["issyserr"]),
             ("integer", function_names())]  # fmt: skip
    for kind, names in kinds:
        for name in names:
            lines += [f"      {kind} nfmpi_{name}", f"      external nfmpi_{name}"]
    return lines
