# SPDX-License-Identifier: Apache-2.0
"""Opens references as readers do, and compares the contents with those that netCDF4 reads."""

import json
import os
import sys
from pathlib import Path

import netCDF4
import numpy as np
import zarr
from kerchunk.utils import refs_as_store

sys.path.append(str(Path(__file__).parent.parent.parent / "examples/python"))

from references import open_references  # noqa: F401


def load(path):
    """Loads references with absolute paths, so that they can be opened in any working folder."""
    with open(path) as file:
        references = json.load(file)
    assert references["version"] == 1
    folder = os.path.dirname(os.path.abspath(path))
    for place in references["refs"].values():
        if isinstance(place, list):
            place[0] = os.path.join(folder, place[0])
    return references


def open_group(path):
    return zarr.open_group(refs_as_store(load(path)), mode="r", zarr_format=2)


def same_bits(a, b):
    """Tests for equal values, with NaNs of the same bits."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("="), (a, b)
    native = b.dtype.newbyteorder("=")
    return a.astype(native).tobytes() == b.astype(native).tobytes()


def attribute(value):
    """Returns an attribute's value in JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value.replace("\0", "") if isinstance(value, str) else value


def compare(references, path):
    """Compares all variables, attributes and dimension names with those that netCDF4 reads."""
    group = open_group(references)
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        f.set_auto_chartostring(False)
        assert set(group.array_keys()) == set(f.variables)
        own = {name: attribute(f.getncattr(name)) for name in f.ncattrs()}
        assert repr(dict(group.attrs)) == repr(own)
        for name, v in f.variables.items():
            compare_variable(group[name], v)


def compare_variable(array, v):
    assert same_bits(array[...], v[...]), (v.name, array[...], v[...])
    own = {name: attribute(v.getncattr(name)) for name in v.ncattrs()}
    found = dict(array.attrs)
    assert found.pop("_ARRAY_DIMENSIONS") == list(v.dimensions)
    fill = own.pop("_FillValue", None)
    assert repr(found) == repr(own), (v.name, found, own)
    if fill is not None:
        expected = v.getncattr("_FillValue")
        if isinstance(expected, str):
            expected = expected.encode()
        assert same_bits(array.fill_value, np.asarray(expected, array.dtype)), v.name
