# SPDX-License-Identifier: Apache-2.0
"""Puts and gets of PnetCDF's module of Fortran 90: procedures for types and ranks, and the
functions in C that they call, with their interfaces."""

from table import FORTRAN_NAMES, TYPES

OFFSET = "integer(MPI_OFFSET_KIND)"
# Types by their names in C: the module's name, declaration, netCDF's type.
TYPES_90 = {
    "text": ("text", "character(len=*)", "NF_CHAR"),
    "schar": ("OneByteInt", "integer(OneByteInt)", "NF_INT1"),
    "short": ("TwoByteInt", "integer(TwoByteInt)", "NF_INT2"),
    "int": ("FourByteInt", "integer(FourByteInt)", "NF_INT"),
    "float": ("FourByteReal", "real(FourByteReal)", "NF_REAL"),
    "double": ("EightByteReal", "real(EightByteReal)", "NF_DOUBLE"),
    "longlong": ("EightByteInt", "integer(EightByteInt)", "NF_INT64"),
}
RANKS = range(8)
VERBS = [(v, a) for v in ("put", "get") for a in ("", "_all")] + [
    ("iput", ""),
    ("iget", ""),
    ("bput", ""),
]


def wrapped(line):
    """Breaks a statement into continued lines of limited length."""
    lines = []
    while len(line) > 110:
        cut = line.rindex(" ", 0, 108)
        lines.append(line[:cut] + " &")
        line = "        " + line[cut + 1 :]
    return "\n".join([*lines, line])


def function(name, arguments, declarations, body):
    head = wrapped(f"function {name}({', '.join(arguments)}) result(code)")
    lines = [head, *declarations, "    integer :: code", *body, f"end function {name}"]
    return "\n".join(
        [
            lines[0],
            *(line if line.startswith("    ") else f"    {line}" for line in lines[1:-1]),
            lines[-1],
        ]
    )


FORMS = {"var": "section", "varn": "pieces", "vard": "view"}


def c_data_functions():
    """Yields section, verb, together and type of each C function that the module calls."""
    for section in FORMS:
        for verb, together in VERBS:
            if section == "vard" and verb not in ("put", "get"):
                continue
            for memory in TYPES_90:
                yield section, verb, together, memory


def c_name(section, verb, together, memory):
    return f"thalweg_nf90_{verb}_{section}_{FORTRAN_NAMES[memory]}{together}"


def is_flexible(section, memory):
    """Tests if the procedures have an optional count and MPI datatype that describe the memory."""
    return section == "var" and memory != "text"


def c_source():
    """Returns the C functions: for arrays, and, with the suffix _one, for single elements."""
    lines = []
    for section, verb, together, memory in c_data_functions():
        constant = "const " if verb.endswith("put") else ""
        given = ["int ncid", "int varid"]
        end = ", req" if verb[0] in "ib" else ""
        if section == "var":
            given += ["int n", "const MPI_Offset *shape"]
            given += [f"const MPI_Offset *{x}" for x in ("start", "count", "stride", "map")]
            make = "section_of_array(ncid, varid - 1, n, shape, start, count, stride, map)"
            where = "s.start, s.count, s.stride, s.imap"
            c_section = "varm"
        elif section == "varn":
            given += ["int num", "const MPI_Offset *starts", "const MPI_Offset *counts"]
            make = "section_of_pieces(ncid, varid - 1, num, starts, counts)"
            where = "num, s.starts, s.counts"
            c_section = "varn"
        else:
            given += ["int filetype"]
            where, c_section = "MPI_Type_f2c(filetype)", "vard"
        given.append(f"{constant}{TYPES[memory]} *values")
        call = f"ncmpi_{verb}_{c_section}_{memory}{together}(ncid, varid - 1, {where}, values{end})"
        of_type = (
            f"ncmpi_{verb}_{c_section}{together}(ncid, varid - 1, {where}, values, *bufcount, "
            f"MPI_Type_f2c(*buftype){end})"
        )
        if is_flexible(section, memory):
            call = f"buftype != NULL ? {of_type} : {call}"
        elif section == "vard":
            call = of_type
        if is_flexible(section, memory) or section == "vard":
            given += ["const MPI_Offset *bufcount", "const int *buftype"]
        given += ["int *req"] if end else []
        body = f"return {call};"
        if section != "vard":
            body = f"struct section s = {make};\n    return done(&s, {call});"
        for suffix in ("", "_one"):
            name = c_name(section, verb, together, memory) + suffix
            lines.append(f"FUNCTION({name}, ({', '.join(given)})) {{\n    {body}\n}}")
    return lines


def c_interface(section, verb, together, memory, one):
    """Returns the interface of a C function."""
    name = c_name(section, verb, together, memory)
    intent = "in" if verb.endswith("put") else "inout"
    _, declared, _ = TYPES_90[memory]
    if memory == "text":
        values = f"character(kind=c_char), intent({intent}) :: values(*)"
    else:
        values = f"{declared}, intent({intent}) :: values{'' if one else '(*)'}"
    arguments = {"ncid": "integer, value :: ncid", "varid": "integer, value :: varid"}
    if section == "var":
        arguments["n"] = "integer, value :: n"
        arguments["shape"] = f"{OFFSET}, intent(in) :: shape(*)"
        for x in ("start", "count", "stride", "map"):
            arguments[x] = f"{OFFSET}, intent(in), optional :: {x}(*)"
    elif section == "varn":
        arguments["num"] = "integer, value :: num"
        arguments["start"] = f"{OFFSET}, intent(in) :: start(*)"
        arguments["count"] = f"{OFFSET}, intent(in), optional :: count(*)"
    else:
        arguments["filetype"] = "integer, value :: filetype"
    arguments["values"] = values
    if is_flexible(section, memory) or section == "vard":
        optional = ", optional" if section == "var" else ""
        arguments["bufcount"] = f"{OFFSET}, intent(in){optional} :: bufcount"
        arguments["buftype"] = f"integer, intent(in){optional} :: buftype"
    if verb[0] in "ib":
        arguments["req"] = "integer, intent(out) :: req"
    suffix = "_one" if one else ""
    return "\n".join(
        [
            wrapped(f"function {short_name(name)}{suffix}({', '.join(arguments)}) &"),
            f"        bind(c, name='{name}{suffix}') result(code)",
            "    import :: MPI_OFFSET_KIND, OneByteInt, TwoByteInt, FourByteInt, EightByteInt",
            "    import :: FourByteReal, EightByteReal, c_char",
            *[f"    {declaration}" for declaration in arguments.values()],
            "    integer :: code",
            f"end function {short_name(name)}{suffix}",
        ]
    )


def short_name(name):
    return name.replace("thalweg_nf90_", "c_")


def procedure(section, verb, together, memory, rank):
    """Returns name and text of a procedure for arrays of a rank; rank 0: for single elements."""
    title, declared, _ = TYPES_90[memory]
    of_rank = f"_{rank}D" if rank else ""
    name = f"nf90mpi_{verb}_{section}{of_rank}_{title}{together}"
    intent = "in" if verb.endswith("put") else "inout"
    nonblocking = verb[0] in "ib"
    values = {
        "var": "values" if rank or memory == "text" else "buf",
        "vard": "buf",
        "varn": "values" if rank else "value",
    }[section]
    colons = f"({', '.join(':' * rank)})" if rank else ""
    arguments = ["ncid", "varid"] + ([] if section == "vard" else [values])
    arguments += ["req"] if nonblocking else []
    lines = [
        "integer, intent(in) :: ncid, varid",
        f"{declared}, intent({intent}) :: {values}{colons}",
    ]
    lines += ["integer, intent(out) :: req"] if nonblocking else []
    call = ["ncid", "varid"]
    if section == "var":
        full = rank or memory == "text"
        sections = ["start", "count", "stride", "map"] if full else ["start"]
        arguments += sections
        lines += [f"{OFFSET}, optional, intent(in) :: {x}(:)" for x in sections]
        text = memory == "text"
        lengths = f"shape({values}, MPI_OFFSET_KIND)" if rank else f"[{OFFSET} ::]"
        if text:
            lengths = f"[int(len({values}), MPI_OFFSET_KIND)" + (f", {lengths}]" if rank else "]")
        call += [str(rank + text), lengths] + [f"{x}={x}" for x in sections]
    elif section == "varn":
        sections = ["num", "start", "count"] if rank else ["start"]
        arguments += sections
        lines += ["integer, intent(in) :: num"] if rank else []
        lines.append(f"{OFFSET}, intent(in) :: start(:, :)")
        lines += [f"{OFFSET}, optional, intent(in) :: count(:, :)"] if rank else []
        call += ["num" if rank else "1", "start=start"] + (["count=count"] if rank else [])
    else:
        arguments += ["filetype", "buf"]
        lines.append("integer, intent(in) :: filetype")
        call.append("filetype")
    call.append(f"values={values}")
    if is_flexible(section, memory) or section == "vard":
        optional = "optional, " if section == "var" else ""
        arguments += ["bufcount", "buftype"]
        lines.append(f"{OFFSET}, {optional}intent(in) :: bufcount")
        lines.append(f"integer, {optional}intent(in) :: buftype")
        call += ["bufcount=bufcount", "buftype=buftype"]
    call += ["req=req"] if nonblocking else []
    one = "" if rank else "_one"
    called = f"{short_name(c_name(section, verb, together, memory))}{one}"
    body = wrapped(f"    code = {called}({', '.join(call)})")
    return name, function(name, arguments, lines, [body])


def overload(name, members):
    inside = "\n".join(f"    procedure {member}" for member in members)
    return f"interface {name}\n{inside}\nend interface {name}"


def data_procedures():
    """Yields generic name, name and text of each procedure that puts or gets."""
    for section, verb, together, memory in c_data_functions():
        for rank in RANKS:
            generic = f"nf90mpi_{verb}_{section}{together}"
            yield generic, *procedure(section, verb, together, memory, rank)
