# SPDX-License-Identifier: Apache-2.0
"""Keys such as `[0, :, 2:5]` as start, count and stride."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._arrays import UnusableError


@dataclass
class Section:
    """A section of a variable, along all its dimensions."""

    start: list[int]
    count: list[int]
    stride: list[int]
    reversed: list[int] = field(default_factory=list)  # dimensions whose slices run backwards
    dropped: list[int] = field(default_factory=list)  # dimensions with a single index

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(n for d, n in enumerate(self.count) if d not in self.dropped)

    def shaped(self, array: np.ndarray) -> np.ndarray:
        """Returns the array that was read, of shape `count`, in the form that the key asks for."""
        if self.reversed:
            array = np.flip(array, self.reversed)
        return array.reshape(self.shape)


def section_of(
    key: Any,
    shape: Sequence[int | None],
    dims: Sequence[str],
    part: Sequence[int] | None = None,
) -> Section:
    """Returns the section that a key of integers, slices and an ellipsis names.

    Args:
        shape: lengths of the variable; None of the record dimension of a file being written: its
            slice has an end unless `part` tells it
        part: shape of the array that is put
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if sum(k is Ellipsis for k in keys) > 1:
        raise UnusableError("TW_EARG", "a key has at most one '...'")
    missing = len(dims) - sum(k is not Ellipsis for k in keys)
    if missing < 0:
        raise UnusableError("TW_ESHAPE", f"{len(keys)} indices for {len(dims)} dimensions")
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * missing
    else:
        keys += [slice(None)] * missing
    section = Section([], [], [])
    free = list(part[::-1]) if part is not None else []  # lengths for slices, the fastest first
    for d in reversed(range(len(dims))):
        length = free.pop(0) if free and isinstance(keys[d], slice) else None
        _add(section, d, keys[d], shape[d], dims[d], length)
    for values in (section.start, section.count, section.stride):
        values.reverse()
    section.reversed.reverse()
    section.dropped.reverse()
    return section


def _add(
    section: Section, d: int, key: Any, length: int | None, dim: str, part: int | None
) -> None:
    if isinstance(key, slice):
        start, count, step = _slice(key, length, dim, part)
        if step < 0:
            section.reversed.append(d)
            start, step = start + (count - 1) * step if count else 0, -step
    else:
        try:
            if isinstance(key, bool | np.bool_):
                raise TypeError
            start, count, step = operator.index(key), 1, 1
        except TypeError:
            raise UnusableError(
                "TW_EARG", f"an index is an integer or a slice, not {key!r}"
            ) from None
        if start < 0 and length is not None:
            start += length
        if start < 0 or (length is not None and start >= length):
            raise UnusableError("TW_EBOUNDS", f"index {key} is out of bounds of dimension '{dim}'")
        section.dropped.append(d)
    section.start.append(start)
    section.count.append(count)
    section.stride.append(step)


def _slice(key: slice, length: int | None, dim: str, part: int | None) -> tuple[int, int, int]:
    if length is not None:
        indices = range(*key.indices(length))
        return indices.start if len(indices) else 0, len(indices), indices.step
    step = 1 if key.step is None else operator.index(key.step)
    if step == 0:
        raise UnusableError("TW_EARG", f"a slice of dimension '{dim}' has the step 0")
    ends = [None if end is None else operator.index(end) for end in (key.start, key.stop)]
    start = 0 if ends[0] is None and step > 0 else ends[0]
    stop = -1 if ends[1] is None and step < 0 else ends[1]  # down to the first element
    if start is not None and start >= 0 and (ends[1] is None or ends[1] >= 0):
        if stop is not None:
            return start, len(range(start, stop, step)), step
        if part is not None:
            return start, part, step
    raise UnusableError(
        "TW_EBOUNDS", f"a slice of the record dimension '{dim}' needs an end, such as 0:1"
    )
