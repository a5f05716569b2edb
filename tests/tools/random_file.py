# SPDX-License-Identifier: Apache-2.0
"""Random netCDF files, written by netCDF-C, and a comparison of two files by netCDF-C."""

import netCDF4
import numpy as np

FORMATS = {
    "cdf1": "NETCDF3_CLASSIC",
    "cdf2": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
    "netcdf4-classic": "NETCDF4_CLASSIC",
}
OLD_TYPES = ["i1", "S1", "i2", "i4", "f4", "f8"]
NEW_TYPES = ["u1", "u2", "u4", "i8", "u8"]


def types_of(form):
    return OLD_TYPES + (NEW_TYPES if form in ("cdf5", "netcdf4") else [])


def values(rng, kind, shape):
    """Returns random bits as floating-point numbers: NaNs of all kinds, infinities, zeros of
    both signs."""
    kind = np.dtype(kind)
    if kind == "S1":
        return rng.integers(32, 127, size=shape, dtype="u1").view("S1").reshape(shape)
    bits = rng.integers(0, 256, size=(*shape, kind.itemsize), dtype="u1")
    array = bits.view(kind).reshape(shape)
    if kind.kind == "f":
        few = rng.random(shape) < 0.7  # mostly ordinary numbers
        array = np.where(few, rng.normal(size=shape).astype(kind), array)
        # netCDF-C converts nothing, but NumPy may set a bit of a signaling NaN.
        array = np.where(np.isnan(array), np.array(np.nan, kind), array)
    return array.astype(kind)


def attribute(rng, kind):
    if kind == "S1":
        return "".join(rng.choice(list("abc xyzäß\n"), size=rng.integers(1, 20)))
    return values(rng, kind, (int(rng.integers(1, 4)),))


def make(path, form, seed):
    """Makes a file with some variables of each type. Returns the names of those with values."""
    rng = np.random.default_rng(seed)
    types = types_of(form)
    with netCDF4.Dataset(path, "w", format=FORMATS[form]) as data:
        lengths = {"y": 7, "x": 11, "z dim": 3, "größe": 5, "one": 1}
        data.createDimension("y", 7)
        data.createDimension("time", None)
        for name in ("x", "z dim", "größe", "one"):
            data.createDimension(name, lengths[name])
        data.createDimension("unused", 4)
        records = int(rng.integers(1, 6))
        for kind in types:
            data.setncattr(f"global_{kind}", attribute(rng, kind))
        names = []
        for i, kind in enumerate(types * 2):
            nd = int(rng.integers(0, 4))
            dims = tuple(rng.choice(list(lengths), size=nd, replace=False))
            if i < len(types) or rng.random() < 0.3:
                dims = ("time", *dims)
            name = f"v{i}_{kind}" if rng.random() < 0.8 else f"ä{i}.{kind}+"
            storage = {}
            if form.startswith("netcdf4") and dims:
                if rng.random() < 0.5:
                    storage["compression"] = "zlib"
                    storage["complevel"] = int(rng.integers(1, 4))
                    storage["shuffle"] = bool(rng.random() < 0.5)
                storage["fletcher32"] = bool(rng.random() < 0.2)
                if rng.random() < 0.7:
                    limits = [lengths.get(d, 3) for d in dims]
                    storage["chunksizes"] = [int(rng.integers(1, n + 1)) for n in limits]
            big = form.startswith("netcdf4") and kind[1] in "248" and rng.random() < 0.2
            order = ">" if big else ""
            if big:
                storage["endian"] = "big"
            fill = values(rng, kind, (1,))[0] if rng.random() < 0.3 else None
            variable = data.createVariable(name, order + kind, dims, fill_value=fill, **storage)
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            variable.setncattr("units", attribute(rng, "S1"))
            for other in rng.choice(types, size=2, replace=False):
                variable.setncattr(f"a_{other}", attribute(rng, str(other)))
            if rng.random() < 0.1:
                continue  # this variable is never written, so it has fill values
            shape = tuple(records if d == "time" else lengths[d] for d in dims)
            variable[...] = values(rng, kind, shape)
            names.append(name)
    return names


def raw(variable):
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    array = np.asarray(variable[...])
    return array.astype(array.dtype.newbyteorder("="))


def same_attributes(a, b, what):
    assert sorted(a.ncattrs()) == sorted(b.ncattrs()), f"{what}: {a.ncattrs()}, {b.ncattrs()}"
    for name in a.ncattrs():
        x, y = (np.asarray(of.getncattr(name)) for of in (a, b))
        x, y = (value.astype(value.dtype.newbyteorder("=")) for value in (x, y))
        assert x.dtype == y.dtype, f"{what}:{name}: {x.dtype}, {y.dtype}"
        assert x.tobytes() == y.tobytes(), f"{what}:{name}: {x}, {y}"


def same(path_a, path_b):
    """Checks that netCDF-C reads the same bits from both files."""
    with netCDF4.Dataset(path_a) as a, netCDF4.Dataset(path_b) as b:
        same_attributes(a, b, "")
        assert list(a.dimensions) == list(b.dimensions)
        for name in a.dimensions:
            x, y = a.dimensions[name], b.dimensions[name]
            assert (len(x), x.isunlimited()) == (len(y), y.isunlimited()), name
        assert list(a.variables) == list(b.variables)
        for name in a.variables:
            x, y = a[name], b[name]
            assert x.dimensions == y.dimensions, name
            assert raw(x).dtype == raw(y).dtype, f"{name}: {x.dtype}, {y.dtype}"
            same_attributes(x, y, name)
            assert raw(x).tobytes() == raw(y).tobytes(), f"values of {name} differ"
