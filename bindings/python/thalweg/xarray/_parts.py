# SPDX-License-Identifier: Apache-2.0
"""The part of each dimension that a rank holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._arrays import integers
from .._decomposition import Decomposition


@dataclass(frozen=True)
class Part:
    """A part of a dimension: first index, number of indices, and the global length if it is
    known."""

    start: int
    count: int
    length: int | None = None


def parts_of(decomposition: Decomposition | Mapping[str, Any] | None) -> dict[str, Part]:
    """Returns this rank's part of each dimension.

    Args:
        decomposition: a Decomposition of at most one box a rank, or for each divided dimension a
            slice or (start, count)
    Raises:
        ValueError: it is neither
    """
    if decomposition is None:
        return {}
    if isinstance(decomposition, Mapping):
        return {str(name): _part(name, value) for name, value in decomposition.items()}
    if not isinstance(decomposition, Decomposition):
        raise ValueError(
            f"decomposition must be a thalweg.Decomposition or a dictionary, not {decomposition!r}"
        )
    if decomposition.listed is not None or len(decomposition.boxes) > 1:
        raise ValueError(
            "xarray needs a decomposition of one box on each rank; for lists and several boxes use "
            "thalweg.File"
        )
    zeros = (0,) * len(decomposition.dims)
    start, count = decomposition.boxes[0] if decomposition.boxes else (zeros, zeros)
    return {
        name: Part(first, n, length)
        for name, first, n, length in zip(
            decomposition.dims, start, count, decomposition.shape, strict=True
        )
    }


def _part(name: Any, value: Any) -> Part:
    if isinstance(value, slice):
        if value.start is None or value.stop is None or value.step not in (None, 1):
            raise ValueError(f"the slice of dimension '{name}' needs a start, an end and step 1")
        first, end = integers((value.start, value.stop))
        pair = first, max(0, end - first)
    else:
        pair = tuple(integers(value))
    if len(pair) != 2 or min(pair) < 0:
        raise ValueError(f"dimension '{name}': {value!r} is neither a slice nor (start, count)")
    return Part(*pair)
