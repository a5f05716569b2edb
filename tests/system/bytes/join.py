"""Joins sets of tiles using only FMS's attributes, and compares the result with the file that was
written as one.

Usage: join.py SET.tiles.nc.0000...   (SET.one.nc is in the same folder)
"""

# SPDX-License-Identifier: Apache-2.0
import sys

import netCDF4
import numpy as np


def check(first: str) -> bool:
    """Tests if a set can be joined, and checks that the result has the right values."""
    name = first[: -len(".0000")]
    whole = netCDF4.Dataset(name.replace(".tiles.nc", ".one.nc"))
    whole.set_auto_maskandscale(False)
    joined = {v: np.zeros(whole[v].shape, whole[v].dtype) for v in whole.variables}
    seen = {v: np.zeros(whole[v].shape, bool) for v in whole.variables}
    tiles = netCDF4.Dataset(first)
    if not all(d in tiles.variables for d in ("x", "y", "xu")):
        return False  # without axes, mppnccombine could not join them either
    for k in range(int(tiles.NumFilesInSet)):
        tile = netCDF4.Dataset(f"{name}.{k:04d}")
        tile.set_auto_maskandscale(False)
        assert tile.NumFilesInSet == tiles.NumFilesInSet
        place = {}
        for d in tile.dimensions:
            if d in tile.variables and "domain_decomposition" in tile[d].ncattrs():
                low, high, begin, end = (int(i) for i in tile[d].domain_decomposition)
                assert low == 1 and high == len(whole.dimensions[d])
                assert end - begin + 1 == len(tile.dimensions[d])
                place[d] = slice(begin - 1, end)
        for v, variable in tile.variables.items():
            at = tuple(place.get(d, slice(None)) for d in variable.dimensions)
            joined[v][at] = variable[:]
            seen[v][at] = True
    for v, variable in whole.variables.items():
        assert seen[v].all(), f"{name}: {v} is not in the tiles"
        assert np.array_equal(joined[v], variable[:]), f"{name}: {v} differs"
    return True


def main() -> int:
    """Checks all named sets."""
    joined = sum(check(first) for first in sys.argv[1:])
    print(f"{joined} sets joined")
    return 0 if joined > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
