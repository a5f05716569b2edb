# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's module of Fortran 90, and the functions in C that it calls."""

from pathlib import Path

from fortran77 import (
    attribute_functions,
    build_constants,
    fortran_constants,
    fortran_data_functions,
)
from fortran90_data import (
    OFFSET,
    TYPES_90,
    c_data_functions,
    c_interface,
    c_source,
    data_procedures,
    function,
    wrapped,
)
from table import FORTRAN_NAMES, SECTIONS, TEXTS, TYPES, functions

# Functions that pass their arguments on. i, o: integer in, out; f, F: offset in, out; t, T: text
# in, out; I, O: integers inout, out.
PASSED = """
create i:mpi_comm t:path i:cmode i:mpi_info o:ncid
open i:mpi_comm t:path i:omode i:mpi_info o:ncid
set_fill i:ncid i:fillmode o:old_mode
redef i:ncid
sync i:ncid
flush i:ncid
sync_numrecs i:ncid
abort i:ncid
close i:ncid
begin_indep_data i:ncid
end_indep_data i:ncid
delete t:name i:mpi_info
inq_striping i:ncid o:striping_size o:striping_count
inq_put_size i:ncid F:put_size
inq_get_size i:ncid F:get_size
inq_header_size i:ncid F:h_size
inq_header_extent i:ncid F:h_extent
inq_varoffset i:ncid i:varid F:offset
inq_nreqs i:ncid o:nreqs
inq_file_info i:ncid o:mpi_info
get_file_info i:ncid o:mpi_info
inq_malloc_size F:size
inq_malloc_max_size F:size
inq_malloc_list
inq_files_opened o:nfiles O:ncids
inq_num_rec_vars i:ncid o:nvars
inq_num_fix_vars i:ncid o:nvars
inq_recsize i:ncid F:recsize
set_default_format i:new_format o:old_format
inq_default_format o:default_format
inq_path i:ncid o:pathlen T:path
inq_file_format t:path o:format
def_dim i:ncid t:name f:len o:dimid
inq_dimid i:ncid t:name o:dimid
rename_dim i:ncid i:dimid t:name
copy_att i:ncid_in i:varid_in t:name i:ncid_out i:varid_out
rename_att i:ncid i:varid t:curname t:newname
del_att i:ncid i:varid t:name
inq_attname i:ncid i:varid i:attnum T:name
inq_varid i:ncid t:name o:varid
rename_var i:ncid i:varid t:newname
fill_var_rec i:ncid i:varid f:recno
wait i:ncid i:num I:req O:st
wait_all i:ncid i:num I:req O:st
cancel i:ncid i:num I:req O:st
buffer_attach i:ncid f:bufsize
inq_buffer_usage i:ncid F:usage
inq_buffer_size i:ncid F:buf_size
buffer_detach i:ncid
"""
KINDS_90 = {
    "i": "integer, intent(in) :: {}",
    "o": "integer, intent(out) :: {}",
    "f": f"{OFFSET}, intent(in) :: {{}}",
    "F": f"{OFFSET}, intent(out) :: {{}}",
    "t": "character(len=*), intent(in) :: {}",
    "T": "character(len=*), intent(out) :: {}",
    "I": "integer, intent(inout) :: {}(:)",
    "O": "integer, intent(out) :: {}(:)",
}
# The kinds of arguments in Fortran 77, where a declaration is possible.
KINDS_77 = {
    **dict.fromkeys(
        ("ncid", "varid", "dimid", "number", "int", "type", "comm", "info"), KINDS_90["i"]
    ),
    **dict.fromkeys(
        ("out_int", "out_type", "out_varid", "out_dimid", "out_number", "out_info"),
        "integer, intent(inout) :: {}",
    ),
    "offset": KINDS_90["f"],
    "out_offset": KINDS_90["F"],
    "name": KINDS_90["t"],
    "out_name": KINDS_90["T"],
    "dims": "integer, intent(in) :: {}(*)",
    **dict.fromkeys(("ints", "requests"), "integer, intent(inout) :: {}(*)"),
    "out_dims": "integer, intent(inout) :: {}(*)",
}


def passed_functions():
    for line in PASSED.strip().splitlines():
        name, *arguments = line.split()
        pairs = [argument.split(":") for argument in arguments]
        names = [x for _, x in pairs]
        declared = [KINDS_90[kind].format(x) for kind, x in pairs]
        call = wrapped(f"code = nfmpi_{name}({', '.join(names)})")
        yield name, function(f"nf90mpi_{name}", names, declared, [call])


def data_names(verb, section, memory, together):
    suffix = f"_{FORTRAN_NAMES[memory]}" if memory else ""
    return f"nfmpi_{verb}_{section}{suffix}{together}"


def interface(name, declarations):
    """Returns the interface of a function of Fortran 77; `declarations` has the declaration of
    each argument."""
    return "\n".join(
        [
            wrapped(f"integer function {name}({', '.join(declarations)})"),
            "    import :: MPI_OFFSET_KIND, OneByteInt, TwoByteInt, FourByteInt, EightByteInt",
            "    import :: FourByteReal, EightByteReal",
            *[f"    {declared}" for declared in declarations.values()],
            f"end function {name}",
        ]
    )


def interfaces_77():
    """Returns interfaces of the functions whose arguments have a type, and the names of others."""
    known, others = [], []
    for name, arguments in functions():
        if name in TEXTS:
            continue
        if all(kind in KINDS_77 for kind, _ in arguments):
            declared = {x: KINDS_77[kind].format(x) for kind, x in arguments}
            known.append((f"nfmpi_{name}", declared))
        else:
            others.append(f"nfmpi_{name}")
    others += [f"nfmpi_{name}" for _, name, _ in attribute_functions()]
    for verb, section, memory, together in fortran_data_functions():
        name = data_names(verb, section, memory, "_all" if together else "")
        if memory is None:
            others.append(name)
            continue
        intent = "in" if verb.endswith("put") else "inout"
        declared = {"ncid": KINDS_90["i"].format("ncid"), "varid": KINDS_90["i"].format("varid")}
        if section == "varn":
            declared["num"] = KINDS_90["i"].format("num")
            for x in ("starts", "counts"):
                declared[x] = f"{OFFSET}, intent(in) :: {x}(*)"
        else:
            for x in SECTIONS[section]:
                declared[x] = f"{OFFSET}, intent(in) :: {x}(*)"
        size = "" if section == "var1" or memory == "text" else "(*)"
        declared["values"] = f"{TYPES_90[memory][1]}, intent({intent}) :: values{size}"
        if verb[0] in "ib":
            declared["req"] = "integer, intent(inout) :: req"
        known.append((name, declared))
    return known, others


def overload(name, members):
    inside = "\n".join(f"    procedure {member}" for member in members)
    return f"interface {name}\n{inside}\nend interface {name}"


def fill_interfaces():
    """Returns interfaces of the C functions for fill values of each type."""
    texts = []
    for memory, (_, declared, _) in TYPES_90.items():
        scalar = "character(kind=c_char)" if memory == "text" else declared
        for verb, intent in (("def", "in"), ("inq", "out")):
            name = f"{verb}_var_fill_{FORTRAN_NAMES[memory]}"
            no_fill = "integer, value" if verb == "def" else "integer, intent(out)"
            texts.append(
                "\n".join(
                    [
                        f"function c_{name}(ncid, varid, no_fill, value) &",
                        f"        bind(c, name='thalweg_nf90_{name}') result(code)",
                        "    import :: OneByteInt, TwoByteInt, FourByteInt, EightByteInt",
                        "    import :: FourByteReal, EightByteReal, c_char",
                        "    integer, value :: ncid, varid",
                        f"    {no_fill} :: no_fill",
                        f"    {scalar}, intent({intent}) :: value",
                        "    integer :: code",
                        f"end function c_{name}",
                    ]
                )
            )
    return texts


def fill_functions():
    """Returns the C functions for fill values of each type."""
    lines = []
    for memory, fortran in FORTRAN_NAMES.items():
        c = TYPES[memory]
        lines += [
            f"FUNCTION(thalweg_nf90_def_var_fill_{fortran}, "
            f"(int ncid, int varid, int no_fill, const {c} *value)) {{\n"
            "    return ncmpi_def_var_fill(ncid, varid - 1, no_fill, value);\n}",
            f"FUNCTION(thalweg_nf90_inq_var_fill_{fortran}, "
            f"(int ncid, int varid, int *no_fill, {c} *value)) {{\n"
            "    return ncmpi_inq_var_fill(ncid, varid - 1, no_fill, value);\n}",
        ]
    return lines


def fill_procedures():
    """Yields generic name, name and text of procedures for fill values."""
    for memory, (title, declared, _) in TYPES_90.items():
        for verb, intent in (("def", "in"), ("inq", "out")):
            name = f"nf90mpi_{verb}_var_fill_{title}"
            lines = [
                "integer, intent(in) :: ncid, varid",
                f"integer, intent({intent}) :: no_fill",
                f"{declared.replace('(len=*)', '')}, intent({intent}) :: fill_value",
            ]
            called = f"c_{verb}_var_fill_{FORTRAN_NAMES[memory]}"
            call = f"    code = {called}(ncid, varid, no_fill, fill_value)"
            arguments = ["ncid", "varid", "no_fill", "fill_value"]
            yield f"nf90mpi_{verb}_var_fill", name, function(name, arguments, lines, [call])


def attribute_procedures():
    """Yields generic name, name and text of procedures for attributes of numbers."""
    for memory, (title, declared, nc_type) in TYPES_90.items():
        if memory == "text":
            continue
        for verb, intent in (("put", "in"), ("get", "inout")):
            called = f"nfmpi_{verb}_att_{FORTRAN_NAMES[memory]}"
            known = f"{nc_type}, size(array, kind=MPI_OFFSET_KIND), " if verb == "put" else ""
            call = f"code = {called}(ncid, varid, name, {known}array)"
            for one in ("", "one_"):
                name = f"nf90mpi_{verb}_att_{one}{title}"
                lines = [
                    "integer, intent(in) :: ncid, varid",
                    "character(len=*), intent(in) :: name",
                    f"{declared}, intent({intent}) :: values{'' if one else '(:)'}",
                ]
                body = [wrapped(f"    {call.replace('array', 'values')}")]
                if one:
                    lines.append(f"{declared} :: array(1)")
                    body = ["    array = values", wrapped(f"    {call}")]
                    body += ["    values = array(1)"] if verb == "get" else []
                arguments = ["ncid", "varid", "name", "values"]
                yield f"nf90mpi_{verb}_att", name, function(name, arguments, lines, body)


def module():
    """Returns the module, made from its template."""
    passed = list(passed_functions())
    procedures = [*fill_procedures(), *attribute_procedures(), *data_procedures()]
    generic = {}
    for name, member, _ in procedures:
        generic.setdefault(name, []).append(member)
    generic["nf90mpi_put_att"].insert(0, "nf90mpi_put_att_text")
    generic["nf90mpi_get_att"].insert(0, "nf90mpi_get_att_text")
    values = [*build_constants(), *fortran_constants("NF"), *fortran_constants("NF90")]
    constants = [f"{kind}, parameter, public :: {name} = {value}" for kind, name, value in values]
    known, others = interfaces_77()
    c_interfaces = fill_interfaces()
    for section, verb, together, memory in c_data_functions():
        for one in (False, True):
            c_interfaces.append(c_interface(section, verb, together, memory, one))
    parts = {
        "constants": "\n".join(constants),
        "interfaces": "\n".join([interface(*f) for f in known] + c_interfaces),
        "external": "\n".join(f"integer, external, public :: {name}" for name in others),
        "public": "\n".join(
            [f"public :: nf90mpi_{name}" for name, _ in passed]
            + [f"public :: {name}" for name in [*generic, *(name for name, _ in known)]]
        ),
        "overloads": "\n".join(overload(*pair) for pair in generic.items()),
        "procedures": "\n\n".join(
            [text for _, text in passed] + [text for _, _, text in procedures]
        ),
    }
    template = Path(__file__).parent.parent / "fortran" / "pnetcdf.f90.in"
    lines = []
    for line in template.read_text(encoding="utf-8").splitlines():
        mark = line.strip()
        lines.append(parts[mark[1:-1]] if mark.startswith("@") and mark.endswith("@") else line)
    return lines[2:] if lines[0].startswith("! SPDX") else lines


def c_functions():
    return fill_functions() + c_source()
