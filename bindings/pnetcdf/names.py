# SPDX-License-Identifier: Apache-2.0
"""Lists the functions of an installed pnetcdf.h as macro calls, one a line:

PLAIN(name, arguments)                            without a file, or with one to be made
OF_FILE(name, arguments)                             the first argument is a file's id
DATA(name, arguments, verb, kind, type, all)      the same, for data of a variable
"""

import re
import sys

WITHOUT_FILE = {
    "ncmpi_strerror", "ncmpi_strerrno", "ncmpi_inq_libvers", "ncmpi_delete",
    "ncmpi_inq_file_format", "ncmpi_set_default_format", "ncmpi_inq_default_format",
    "ncmpi_inq_files_opened", "ncmpi_inq_malloc_size", "ncmpi_inq_malloc_max_size",
    "ncmpi_inq_malloc_list", "ncmpi_copy_att", "ncmpi_close", "ncmpi_abort",
}  # fmt: skip
OPENING = {"ncmpi_create", "ncmpi_open"}
TYPES = "text|schar|uchar|short|ushort|int|uint|long|float|double|longlong|ulonglong"
DATA = re.compile(rf"ncmpi_([ibm]?)(put|get)_(var[1asmnd]?)(?:_({TYPES}))?(_all)?")


def functions(header):
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for name, arguments in re.findall(r"\b(ncmpi_\w+)\s*\(([^()]*)\)\s*;", text):
        yield name, 0 if arguments.strip() == "void" else arguments.count(",") + 1


def line(name, count):
    data = DATA.fullmatch(name)
    if data:
        prefix, verb, kind, of_type, together = data.groups()
        return f"DATA({name}, {count}, {prefix}{verb}, {kind}, of_{of_type or 'variable'}, " + (
            "true)" if together else "false)"
        )
    kind = "OPENING" if name in OPENING else "PLAIN" if name in WITHOUT_FILE else "OF_FILE"
    return f"{kind}({name}, {count})"


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8", errors="replace") as file:
        found = dict(functions(file.read()))
    with open(target, "w", encoding="utf-8") as file:
        for name, count in sorted(found.items()):
            # Functions that are only declared, and functions that concern no file.
            if not name.endswith("_ubyte") and not name.startswith("ncmpi_cdl"):
                file.write(line(name, count) + "\n")


main()
