# SPDX-License-Identifier: Apache-2.0
"""Tests that this project's pnetcdf.h has all names of an installed one.

Usage: check_names.py INSTALLED OWN
"""

import re
import sys
from pathlib import Path

# They describe a build of PnetCDF.
NOT_INTERFACE = {
    "_pnetcdf", "_pnetcdf_h", "pnetcdf_enable_cxx", "pnetcdf_enable_fortran",
    "pnetcdf_release_date",
    # declared, but defined in no library
    "ncmpi_get_att_ubyte", "ncmpi_put_att_ubyte",
}  # fmt: skip


def names(path):
    text = Path(path).read_text(encoding="utf-8")
    found = re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)
    return {name.lower() for name in found + re.findall(r"\bncmpi_\w+(?=\s*\()", text)}


installed, own = map(names, sys.argv[1:3])
lacking = sorted(installed - own - NOT_INTERFACE)
assert len(installed) > 500 and not lacking, f"{sys.argv[2]} lacks {' '.join(lacking)}"
