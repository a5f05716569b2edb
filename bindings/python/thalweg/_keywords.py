# SPDX-License-Identifier: Apache-2.0
"""Divides keywords into settings and attributes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from ._arrays import UnusableError

VARIABLE_SETTINGS = ("fill", "deflate", "shuffle", "zstd", "quantize", "chunks")
_OTHERS = """alignment attributes bandwidth checksums close common_records durable format header_pad
manifest method mode packing piece publish queue read_ahead readers service staging storage stripes
files tiles writers"""
# Settings of docs/settings.md that a single file can have.
FILE_SETTINGS = (*VARIABLE_SETTINGS[1:], *_OTHERS.split())
# Names of these settings in other libraries.
OTHER_NAMES = {
    "zlib": "deflate",
    "complevel": "deflate",
    "compression": "deflate or zstd",
    "chunksizes": "chunks",
    "fill_value": "fill, or _FillValue for the attribute",
}


def split_keywords(
    keywords: Mapping[str, Any], known: Sequence[str] = FILE_SETTINGS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns settings and attributes. Raises an error for a name that looks like a misspelt
    setting."""
    settings = {name: value for name, value in keywords.items() if name in known}
    attributes = {name: value for name, value in keywords.items() if name not in known}
    for name in attributes:
        near = OTHER_NAMES.get(name) or next(
            iter(difflib.get_close_matches(name, known, n=1, cutoff=0.82)), None
        )
        if near:
            raise UnusableError(
                "TW_ESETTING",
                f"there is no setting '{name}': is {near} meant? For an attribute of that name use "
                f"attrs={{'{name}': ...}}",
            )
    return settings, attributes
