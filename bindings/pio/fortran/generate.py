#!/usr/bin/env python3
"""Writes a Fortran source from a template: one procedure becomes one for each type and rank.

A template is Fortran with lines of these kinds more:

    @for T in int real     repeats the lines up to its @end; ${T} is the word, ${T.decl} a property
    @for D in 0..7         the same with numbers
    @end
    @c NAME ...            interfaces of the C functions PIOc_NAME
    @call H NAME ARG ...   a procedure of the generic pio_NAME that only calls PIOc_NAME, for a
                           handle H and with these names of arguments (c_interface.caller_of)
    @generic NAME          the next procedure belongs to this public generic
    @interfaces            the interfaces of all generics of the template

The properties are in the tables below.

    generate.py TEMPLATE SOURCE
"""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

from c_interface import caller_of, interface_of

# decl: the Fortran type; c: the suffix of the C functions; xtype: netCDF's type; zero: a value;
# cast: the conversion; local: the type of a local variable; whole, part: an argument that says
# whether the whole variable is meant, for types that need it; at: the routine that computes start
# and count from an index
TYPES = {
    "text": {
        "decl": "character(len=*)",
        "c": "text",
        "local": "character(len=len(ival))",
        "whole": ".true., ",
        "part": ".false., ",
        "at": "element",
    }
}
for word, decl, c, zero, cast in (
    ("int", "integer(i4)", "int", "0_i4", "int"),
    ("short", "integer(i2)", "short", "0_i2", "int"),
    ("real", "real(r4)", "float", "0.0_r4", "real"),
    ("double", "real(r8)", "double", "0.0_r8", "real"),
):
    TYPES[word] = {"decl": decl, "c": c, "xtype": f"pio_{word}", "zero": zero, "cast": cast}
    TYPES[word] |= {"local": decl, "whole": "", "part": "", "at": "one"}

# The ways in which a call names the file and the variable. args, decl: dummy arguments and their
# declarations; ncid, varid: the numbers; value: PIO's keyword of attributes; system: the iosystem,
# which errors need. of, ofdecl: the file alone; var, new, set: a variable that the call finds or
# defines. none: the call concerns no file.
HANDLES = {
    "none": {"args": "", "decl": "", "ncid": "", "system": ""},
    "file": {
        "args": "file",
        "decl": "type(file_desc_t), intent(in) :: file",
        "ncid": "file%fh",
        "system": ", file%iosystem",
    },
    "ncid": {"args": "ncid", "decl": "integer, intent(in) :: ncid", "ncid": "ncid", "system": ""},
}
for word, of, var, kind, value in (
    ("desc", "file", "vardesc", "type(var_desc_t)", "values"),
    ("vid", "file", "varid", "integer", "value"),
    ("id", "ncid", "varid", "integer", "values"),
):
    file = HANDLES[of]
    HANDLES[word] = file | {
        "args": f"{of}, {var}",
        "decl": f"{file['decl']}\n    {kind}, intent(in) :: {var}",
        "varid": "vardesc%varid" if word == "desc" else var,
        "value": value,
        "of": of,
        "ofdecl": file["decl"],
        "var": var,
        "new": f"{kind}, intent(inout) :: {var}",
        "set": "vardesc%ncid = file%fh" if word == "desc" else "",
    }

# Kinds of a decomposition's list. map: the list in the kind that the library takes; readonly: the
# ending of the names for reading only
KINDS = {
    "i4": {"decl": "integer(i4)", "map": "int(compdof, pio_offset_kind)", "readonly": ""},
    "i8": {"decl": "integer(pio_offset_kind)", "map": "compdof", "readonly": ""},
    "readonly": {"decl": "integer(pio_offset_kind)", "map": "compdof", "readonly": "_readonly"},
}

# How a call names a part of a variable. args, decl: dummy arguments and their declarations; find:
# the routine that computes start and count from them; a rank of 0: a single element
PARTS = {
    "var": {"args": "", "decl": "", "find": "whole"},
    "vara": {
        "args": "start, count, ",
        "decl": "integer, intent(in) :: start(:), count(:)",
        "find": "section",
    },
}

# Functions that make or open a file. mode: PIO's keyword
FILES = {"createfile": {"mode": "amode_in"}, "openfile": {"mode": "mode"}}


def rank_properties(rank: int) -> dict[str, str]:
    """Returns properties of a rank. shape: that of a declaration; flat, length: expressions that
    pass ival as an array of one dimension, and its length."""
    if rank == 0:
        return {"shape": "", "flat": "[ival]", "length": "1_pio_offset_kind"}
    shape = "(" + ", ".join([":"] * rank) + ")"
    return {"shape": shape, "flat": "ival", "length": "size(ival, kind=pio_offset_kind)"}


def properties(word: str) -> dict[str, str]:
    if word.isdigit():
        return rank_properties(int(word))
    tables = (TYPES, HANDLES, KINDS, PARTS, FILES)
    return next((table[word] for table in tables if word in table), {})


def words_of(text: str) -> list[str]:
    numbers = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if numbers:
        return [str(n) for n in range(int(numbers[1]), int(numbers[2]) + 1)]
    return text.split()


def substitute(line: str, values: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, _, key = match[1].partition(".")
        return properties(values[name])[key] if key else values[name]

    return re.sub(r"\$\{(\w+(?:\.\w+)?)\}", value, line)


def block_end(lines: list[str], start: int) -> int:
    """Returns the line of the @end that belongs to the @for in the line before start."""
    depth = 1
    for i in range(start, len(lines)):
        if lines[i].startswith("@for "):
            depth += 1
        elif lines[i].strip() == "@end":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"line {start}: @for without @end")


def expand(lines: list[str], values: dict[str, str]) -> list[str]:
    result: list[str] = []
    i = 0
    while i < len(lines):
        loop = re.fullmatch(r"@for (\w+) in (.+)", lines[i])
        if loop:
            end = block_end(lines, i + 1)
            for word in words_of(loop[2]):
                result += expand(lines[i + 1 : end], values | {loop[1]: word})
            i = end
        elif lines[i].startswith("@c "):
            for name in substitute(lines[i], values).split()[1:]:
                result += interface_of(name)
        elif lines[i].startswith("@call "):
            handle, name, *names = substitute(lines[i], values).split()[1:]
            result += caller_of(name, handle, HANDLES[handle], names)
        else:
            line = substitute(lines[i], values)
            if line.strip() or not lines[i].strip():
                result.append(line)
        i += 1
    return result


def collect_generics(lines: list[str]) -> list[str]:
    """Replaces @interfaces by the interfaces of the procedures that follow a @generic."""
    generics: dict[str, list[str]] = {}
    result = []
    for i, line in enumerate(lines):
        if not line.startswith("@generic "):
            result.append(line)
            continue
        name = re.search(r"(?:function|subroutine) (\w+)", lines[i + 1])
        assert name, lines[i + 1]
        generics.setdefault(line.split()[1], []).append(name[1])
    interfaces = []
    for generic, procedures in generics.items():
        interfaces += [f"  public :: {generic}", f"  interface {generic}"]
        interfaces += [f"    module procedure {name}" for name in procedures]
        interfaces += [f"  end interface {generic}", ""]
    at = result.index("@interfaces") if generics else len(result)
    return result[:at] + interfaces + result[at + 1 :]


def main() -> None:
    template, source = (Path(argument) for argument in sys.argv[1:3])
    lines = collect_generics(expand(template.read_text(encoding="utf-8").splitlines(), {}))
    note = f"! Generated from {template.name} by generate.py: change that file instead."
    source.write_text("\n".join([note, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
