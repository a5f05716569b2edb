# SPDX-License-Identifier: Apache-2.0
"""Tests that this project knows all functions of an installed pnetcdf.h.

Usage: check_names.py INSTALLED OWN
"""

import re
import sys
from pathlib import Path

# Declared, but defined in no library.
NOT_INTERFACE = {"ncmpi_get_att_ubyte", "ncmpi_put_att_ubyte"}


def names(path):
    text = Path(path).read_text(encoding="utf-8")
    return set(re.findall(r"\bncmpi_\w+(?=\s*\()", text))


installed, own = map(names, sys.argv[1:3])
lacking = sorted(installed - own - NOT_INTERFACE)
assert len(installed) > 300 and not lacking, f"{sys.argv[2]} lacks {' '.join(lacking)}"
