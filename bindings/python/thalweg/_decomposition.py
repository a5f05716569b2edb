# SPDX-License-Identifier: Apache-2.0
"""The elements of an index space that a rank holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._arguments import explains_arguments
from ._arrays import UnusableError, integers, normal_form

EDGES = {"keep": 0, "clip": 1, "periodic": 2}


@explains_arguments
class Decomposition:
    """What this rank holds: boxes or a list. Made by Session.decompose or Session.decompose_list.

    Attributes:
        dims: names of the dimensions in the order of the array in memory, slowest first
        shape: their global lengths
        boxes: (start, count) of each box of this rank; empty for a list
        halo: (before, after) of each dimension, in elements
        listed: number of this rank's positions, or None for boxes
    """

    def __init__(
        self,
        session: Any,
        core: Any,
        dims: Sequence[str],
        shape: Sequence[int],
        *,
        boxes: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
        halo: Sequence[tuple[int, int]] | None = None,
        listed: tuple[int, Sequence[str]] | None = None,
    ) -> None:
        self._session = session
        self._core = core
        self._with_halo: dict[Any, Decomposition] = {}
        dims = tuple(normal_form(name) for name in dims)
        self._edges = dict.fromkeys(dims, "keep")
        self._freed = False
        self._padded: tuple[tuple[int, ...], int] | None = None
        self.dims = dims
        self.shape = tuple(shape)
        self.boxes = [(tuple(start), tuple(count)) for start, count in boxes]
        self.halo = tuple(halo or [(0, 0)] * len(dims))
        self.listed = listed[0] if listed else None
        self._listed_dims = tuple(normal_form(name) for name in listed[1]) if listed else ()

    def __repr__(self) -> str:
        space = ", ".join(f"{d}={n}" for d, n in zip(self.dims, self.shape, strict=True))
        held = f"{self.listed} listed" if self.listed is not None else f"boxes={self.boxes}"
        return f"<Decomposition {space}: {held}>"

    def _usable(self) -> Any:
        """Returns the core's decomposition for a collective call."""
        if self._freed or not self._session.is_open:
            why = "was freed" if self._freed else "belongs to a session that has ended"
            raise UnusableError("TW_EHANDLE", f"the decomposition {why}")
        return self._core

    def array_shape(self, halo: bool = True) -> tuple[int, ...]:
        """Returns the shape of an array of this rank's part.

        One box: its lengths, with its halo. Several boxes, or padded ones: one more dimension, the
        slowest, counts them; the others are those of the largest. A list: its length in place of
        the listed dimensions.
        """
        if self.listed is not None:
            first = self.dims.index(self._listed_dims[0])
            whole = [n if d not in self._listed_dims else None for d, n in self._lengths()]
            kept = [n for n in whole if n is not None]
            return (*kept[:first], self.listed, *kept[first:])
        around = [a + b if halo else 0 for a, b in self.halo]
        if self._padded is not None:
            extent, room = self._padded
            less = [0 if halo else a + b for a, b in self.halo]
            return (room, *(n - m for n, m in zip(extent, less, strict=True)))
        if not self.boxes:
            return (0,) * len(self.dims)
        largest = [
            max(count[d] for _, count in self.boxes) + around[d] for d in range(len(self.dims))
        ]
        return tuple(largest) if len(self.boxes) == 1 else (len(self.boxes), *largest)

    def _lengths(self) -> list[tuple[str, int]]:
        return list(zip(self.dims, self.shape, strict=True))

    def with_halo(self, halo: Any, edges: Any = "clip") -> Decomposition:
        """Returns the same boxes with a halo, for reading; made once for each halo.

        Args:
            halo: as for Session.decompose
            edges: as for fill_halo, or one for all dimensions
        Raises:
            Error: TW_EARG (a list)
        Note: Collective.
        """

        def prepare() -> tuple[Any, ...]:
            if self.listed is not None:
                raise UnusableError("TW_EARG", "a list of indices has no halo")
            return self.dims, self.shape, self.boxes, halos(halo, self.dims)

        key = (repr(halo), repr(edges))
        if key not in self._with_halo:
            self._with_halo[key] = self._session._decompose(prepare, edges)
        return self._with_halo[key]

    def fill_halo(self, edges: Any = None, /, **by_name: str) -> None:
        """Sets what reads do with halos: "keep" (leave them unchanged, the default), "clip" (read
        what is within the global shape) or "periodic".

        Args:
            edges: one for all dimensions, or a dictionary by name
            by_name: for single dimensions; those that are not named stay as they are
        Raises:
            Error: TW_EARG, TW_EMISMATCH
        Note: Collective.
        """

        def prepare() -> dict[str, str]:
            wanted = dict(edges) if isinstance(edges, Mapping) else {}
            if isinstance(edges, str):
                wanted = dict.fromkeys(self.dims, edges)
            return self._edges | _checked_edges(wanted | by_name, self.dims)

        def call(wanted: dict[str, str]) -> None:
            self._core.fill_halo([EDGES[wanted[name]] for name in self.dims])
            self._edges = wanted

        self._session._together(prepare, call, lambda: self._core.fill_halo([]))

    def pad(self, extent: Sequence[int], boxes: int) -> None:
        """Declares that the boxes are parts of larger arrays, all of the same extent.

        Args:
            extent: length of the array of one box along each dimension, halo included
            boxes: number of boxes that this rank's arrays have room for
        Raises:
            Error: TW_EARG (a list), TW_ESHAPE (a box does not fit), TW_EMISMATCH
        Note: Collective.
        """

        def prepare() -> tuple[list[int], int]:
            lengths, room = integers(extent), integers(boxes)[0]
            if len(lengths) != len(self.dims):
                raise UnusableError("TW_ESHAPE", f"extent {extent} is not one of {len(self.dims)}")
            return lengths, room

        self._session._together(
            prepare, lambda args: self._core.pad(*args), lambda: self._core.pad([], 0)
        )
        self._padded = (tuple(integers(extent)), integers(boxes)[0])

    def free(self) -> None:
        """Frees the library's decomposition; variables that use it keep what they need."""
        self._core.free()
        self._freed = True


def _checked_edges(edges: Mapping[str, str], dims: Sequence[str]) -> dict[str, str]:
    for name, value in edges.items():
        if name not in dims:
            raise UnusableError(
                "TW_EARG", f"edges: no dimension {name!r} (there are {' '.join(dims)})"
            )
        if value not in EDGES:
            raise UnusableError("TW_EARG", f"an edge is one of {', '.join(EDGES)}, not {value!r}")
    return dict(edges)


def halos(halo: Any, dims: Sequence[str]) -> list[tuple[int, int]]:
    """Returns (before, after) of each dimension, from a number, a pair, a dictionary or a
    sequence."""
    if isinstance(halo, Mapping):
        unknown = set(halo) - set(dims)
        if unknown:
            raise UnusableError("TW_EARG", f"halo: no dimension {', '.join(sorted(unknown))}")
        values = [halo.get(name, 0) for name in dims]
    elif isinstance(halo, Sequence):
        values = list(halo)
        if len(values) != len(dims):
            raise UnusableError("TW_EARG", f"halo {halo!r} is not one for each of {' '.join(dims)}")
    else:
        values = [halo] * len(dims)
    pairs = []
    for value in values:
        ends = integers(value)
        pairs.append((ends[0], ends[-1]))
    return pairs


def parse_boxes(
    dims: Sequence[str], shape: Sequence[int], start: Any, count: Any, boxes: Any
) -> list[tuple[list[int], list[int]]]:
    """Returns the boxes that the arguments of decompose describe."""
    if boxes is not None:
        if start is not None or count is not None:
            raise UnusableError("TW_EARG", "give either boxes, or start and count")
    elif start is None and count is None:
        boxes = [([0] * len(dims), shape)]
    elif start is None or count is None:
        raise UnusableError("TW_EARG", "start and count belong together")
    else:
        boxes = [(start, count)]
    parsed = []
    for box in boxes:
        first, lengths = (integers(values) for values in box)
        if len(first) != len(dims) or len(lengths) != len(dims):
            raise UnusableError(
                "TW_ESHAPE",
                f"start {first} and count {lengths} are not one for each dimension "
                f"({' '.join(dims)})",
            )
        parsed.append((first, lengths))
    return parsed


def parse_dims(
    space: Mapping[str, int] | Sequence[tuple[str, int]] | None, keywords: Mapping[str, int]
) -> tuple[list[str], list[int]]:
    """Returns names and lengths, from a dictionary, pairs, or keywords."""
    pairs = list(space.items() if isinstance(space, Mapping) else space or [])
    pairs += list(keywords.items())
    if not pairs:
        raise UnusableError(
            "TW_EARG", "the dimensions are missing: decompose(lat=180, lon=360, ...)"
        )
    return [str(name) for name, _ in pairs], [integers(n)[0] for _, n in pairs]
