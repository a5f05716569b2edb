# SPDX-License-Identifier: Apache-2.0
"""Fortran interfaces of the functions in pio.h, and functions of PIO's modules that only call one.

In pio.h, `T* name` is one number, `T name[]` are several, and `const T* name` may be NULL.
"""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

HEADER = Path(__file__).parent.parent / "pio.h"
SUFFIXES = ("text", "short", "int", "float", "double")  # of the typed functions that modules call
TYPES = {
    "int": "integer(c_int)",
    "nc_type": "integer(c_int)",
    "unsigned int": "integer(c_int)",
    "PIO_Offset": "integer(c_int64_t)",
    "long int": "integer(c_long)",
    "float": "real(c_float)",
    "bool": "logical(c_bool)",
    "char": "character(kind=c_char)",
}


class Argument(NamedTuple):
    name: str
    type: str  # C type without const and *
    constant: bool
    pointers: str
    array: bool

    def declaration(self) -> str:
        if self.pointers == "**":
            return f"type(c_ptr), intent(inout) :: {self.name}"
        several = self.array or (self.type == "char" and self.pointers == "*")
        if self.pointers and (self.constant or self.type not in TYPES) and not several:
            return f"type(c_ptr), value :: {self.name}"
        attribute = "intent(inout)" if several or self.pointers else "value"
        if several and self.constant:
            attribute = "intent(in)"
        return f"{TYPES[self.type]}, {attribute} :: {self.name}{'(*)' * several}"


def argument(text: str) -> Argument:
    found = re.fullmatch(r"(const )?([\w ]+?) ?(\**) ?(?:const )?(\w+)(\[\])?", text.strip())
    assert found, text
    return Argument(found[4], found[2], bool(found[1]), found[3], bool(found[5]))


def prototypes() -> dict[str, tuple[str, list[Argument]]]:
    """Returns the result and the arguments of each function, by its name without PIOc_."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = text.replace("\\\n", " ")
    for body in re.findall(r"#define PIO_DECLARE_\w+\(suffix, type\)(.*)", text):
        for suffix in SUFFIXES:
            typed = re.sub(r"_?##suffix", f"_{suffix}", body)
            text = re.sub(r"\btype\b", "void", typed) + text
    found = re.findall(r"\b(int|PIO_Offset) PIOc_(\w+)\(([^()#]*)\);", text)
    return {
        name: (result, [argument(a) for a in arguments.split(",") if "MPI_Comm" not in a])
        for result, name, arguments in found
    }


PROTOTYPES = prototypes()


def interface_of(name: str) -> list[str]:
    """Returns the interface of a C function."""
    result, arguments = PROTOTYPES[name]
    lines = textwrap.wrap(", ".join(a.name for a in arguments), 80)
    return [
        f"    {TYPES[result]} function PIOc_{name}( &",
        *(f"        {line} &" for line in lines),
        f"        ) bind(c, name='PIOc_{name}')",
        "      import",
        *(f"      {a.declaration()}" for a in arguments),
        f"    end function PIOc_{name}",
        "",
    ]


FORTRAN = {"float": "real", "PIO_Offset": "integer(pio_offset_kind)"}


def caller_of(name: str, suffix: str, handle: dict[str, str], names: list[str]) -> list[str]:
    """Returns a function with PIO's names of arguments that only calls a C function.

    NAME# counts from 1 in Fortran. If a result is NAME#, nothing is stored after an error; if it is
    NAME#?, then -1 is stored if there is none."""
    passed = [handle["ncid"]] if handle["args"] else []
    if "varid" in handle:
        passed.append(f"{handle['varid']} - 1")
    declared, local, before, after = [], [], [], []
    arguments = PROTOTYPES[name][1][len(passed) :]
    assert len(arguments) == len(names), name
    for i, a in enumerate(arguments):
        given = names[i]
        dummy = given.rstrip("#?")
        actual = dummy
        kind = FORTRAN.get(a.type, "integer")
        if a.type == "char" and a.constant:
            kind, intent, actual = "character(len=*)", "in", f"to_c({dummy})"
        elif a.type == "char":
            kind, intent, actual = "character(len=*)", "inout", "buffer"
            local.append("character(kind=c_char) :: buffer(longest_name)")
            before.append("buffer = c_null_char")
            after.append(
                f"if (ierr == pio_noerr) ierr = take_name(buffer, {dummy}, 'PIO_{name}'"
                f"{handle['system']})"
            )
        elif not a.pointers:
            intent = "in"
            actual += " - 1" * given.endswith("#")
        elif given.endswith("#"):
            intent, actual = "inout", "id"
            local.append("integer :: id")
            before.append("id = 0")
            after.append(f"if (ierr == pio_noerr) {dummy} = id + 1")
        else:
            intent = "out"
            before.append(f"{dummy} = {'-1' if given.endswith('?') else '0'}")
            if given.endswith("?"):
                after.append(f"if ({dummy} >= 0) {dummy} = {dummy} + 1")
        declared.append(f"{kind}, intent({intent}) :: {dummy}")
        passed.append(actual)
    dummies = ", ".join(filter(None, [handle["args"], *(n.rstrip("#?") for n in names)]))
    return [
        f"@generic pio_{name}",
        f"  integer function {name}_{suffix}({dummies}) &",
        "    result(ierr)",
        *(f"    {line}" for line in [*handle["decl"].split("\n    "), *declared, *local] if line),
        "",
        *(f"    {line}" for line in before),
        f"    ierr = PIOc_{name}({', '.join(passed)})",
        *(f"    {line}" for line in after),
        f"  end function {name}_{suffix}",
        "",
    ]
