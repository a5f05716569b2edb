# SPDX-License-Identifier: Apache-2.0
"""The description of a run: its output, how often it is written, and its machine."""

import math
import re
from pathlib import Path

import machine as figures
from keys import PlanError, close_to, flag, integer, load, number, read, size, table, tables, text

TYPES = {"byte": 1, "short": 2, "int": 4, "int64": 8, "float": 4, "double": 8}
NEEDED = {
    "ranks": integer(1, 100_000_000), "nodes": integer(1), "cores": integer(1, 100_000_000),
    "file_system": text, "step_seconds": number, "output_interval": integer(1),
    "outputs": integer(1), "decomposition": text, "dimensions": table, "variables": tables,
}  # fmt: skip
OPTIONAL = {
    "title": (text, ""), "memory": (size, 0), "folder": (text, ""), "calibration": (text, ""),
    "outputs_per_file": (integer(1), 0), "writers": (text, "auto"), "storage": (text, "posix"),
    "deflate": (integer(0), 0), "compressed_to": (number, 0), "list_run": (number, 0),
    "deferred": (flag, False), "durable": (flag, False), "buffer": (size, 8 << 20),
    "staging": (size, 256 << 20),
}  # fmt: skip
PIECE = 2 << 20  # the setting `piece`
MOST_DIMENSIONS = 16
MOST_BYTES = 1e18  # of an output, so that sums of several sizes fit into 64 bits


def dimension_of(run, name):
    """Returns the number of a dimension. Raises ValueError if it is unknown."""
    names = list(run.dimensions)
    if name in names:
        return names.index(name)
    known = f"; [dimensions] has {', '.join(names)} (the record dimension is not named)"
    raise ValueError(f"unknown dimension '{name}'{close_to(name, names) or known}")


def variables_of(run):
    """Returns groups of variables, as the program that finds layouts takes them."""
    found = []
    for n, content in enumerate(run.variables, 1):

        def type_of(value):
            if value not in TYPES:
                raise ValueError(f"unknown type '{value}'; the types are {', '.join(TYPES)}")
            return TYPES[value]

        def dims_of(value):
            names = text(value).split()
            dims = [dimension_of(run, name) for name in names]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"dimension '{name}' is named twice")
            if len(dims) > MOST_DIMENSIONS:
                raise ValueError(f"more than {MOST_DIMENSIONS} dimensions")
            return dims

        where = f"{run.file}: [[variables]] {n}"
        optional = {"name": (text, ""), "count": (integer(1, 1_000_000), 1)}
        group = read(content, where, {"type": type_of, "dims": dims_of}, optional)
        found.append({"count": group.count, "element": group.type, "dims": group.dims})
    return found


def square_grid(run, dims):
    """Returns two numbers of parts for which the blocks are as square as possible."""
    a, b = (run.lengths[dim] for dim in dims)
    pairs = [(n, run.ranks // n) for n in range(1, run.ranks + 1) if run.ranks % n == 0]
    return min(pairs, key=lambda p: abs(math.log(a / p[0]) - math.log(b / p[1])))


def grid_of(run):
    """Returns (dimension, parts) of each axis from "lat=40,lon=32", or only names. Raises
    ValueError."""
    words = run.decomposition.replace(",", " ").split()
    dims, parts = [], []
    for word in words:
        name, equals, count = word.partition("=")
        dims.append(dimension_of(run, name))
        if dims.count(dims[-1]) > 1:
            raise ValueError(f"dimension '{name}' is named twice")
        if equals:
            if not re.fullmatch(r"\d+", count) or not 1 <= int(count) <= run.ranks:
                raise ValueError(f"'{word}': expected a number from 1 to {run.ranks}")
            parts.append(int(count))
    if not dims:
        raise ValueError('expected dimensions, such as "lat=40,lon=32"')
    if not parts and len(dims) <= 2:
        parts = square_grid(run, dims) if len(dims) == 2 else [run.ranks]
    if len(parts) != len(dims):
        raise ValueError("expected a number of parts for each dimension")
    for dim, count in zip(dims, parts, strict=True):
        if count > run.lengths[dim]:
            raise ValueError(
                f"dimension '{list(run.dimensions)[dim]}' of length {run.lengths[dim]} cannot be "
                f"cut into {count} parts"
            )
    if math.prod(parts) != run.ranks:
        raise ValueError(f"it has {math.prod(parts)} parts, but there are {run.ranks} ranks")
    return [{"dim": dim, "parts": count} for dim, count in zip(dims, parts, strict=True)]


def check(run):
    """Checks values that depend on others. Raises PlanError."""
    storages = ("posix", "pnetcdf", "netcdf4")
    compressed_to, deflate = run.compressed_to, run.deflate
    wrong = {
        "nodes": run.nodes > run.ranks and f"more nodes than ranks ({run.ranks})",
        "writers": run.writers != "auto"
        and not re.fullmatch(r"[1-9]\d*(/node)?(:\d+(:[1-9]\d*)?)?", run.writers)
        and "expected auto, a number, or a number per node such as 2/node",
        "storage": run.storage not in storages
        and f"'{run.storage}': expected posix, pnetcdf or netcdf4",
        "deflate": (deflate > 9 and "expected an integer from 0 to 9")
        or (deflate > 0 and run.storage != "netcdf4" and 'only with storage = "netcdf4"'),
        "compressed_to": (compressed_to > 1 or (compressed_to > 0 and deflate == 0))
        and "expected a part of the bytes, at most 1, and the key deflate",
        "list_run": 0 < run.list_run < 1 and "expected 1 or more indices",
        "variables": not run.variables and "there are none",
    }
    for key, what in wrong.items():
        if what:
            raise PlanError(f"{run.file}: key '{key}': {what}")


def read_run(path, calibration, shares_of):
    """Reads a description, and the calibration file that it names, relative to its folder.

    @param calibration: path of a calibration file to use instead, or None
    @param shares_of: function that starts the program that finds layouts, for the run
    @return the run, and its shares. Raises PlanError.
    """
    run = read(load(path), path, NEEDED, OPTIONAL)
    run.file = str(path)
    run.lengths = list(run.dimensions.values())
    for name, length in run.dimensions.items():
        if type(length) is not int or length < 1:
            raise PlanError(f"{path}: [dimensions]: key '{name}': expected an integer >= 1")
    check(run)
    run.groups = variables_of(run)
    try:
        run.grid = grid_of(run)
    except ValueError as error:
        raise PlanError(f"{path}: key 'decomposition': {error}") from None
    run.piece, run.stripe_size = PIECE, -1  # the stripes are not known
    run.compute = run.step_seconds * run.output_interval
    run.stored = 1 if run.deflate == 0 else run.compressed_to or 0.5
    lengths = ([run.lengths[d] for d in g["dims"]] for g in run.groups)
    whole = sum(
        math.prod([g["count"], g["element"], *shape])
        for g, shape in zip(run.groups, lengths, strict=True)
    )
    if whole > MOST_BYTES:
        raise PlanError(f"{path}: an output of {whole:.1e} bytes is too large")
    shares = shares_of(run)
    named = calibration or (run.calibration and Path(path).parent / run.calibration)
    run.calibration = str(named or "")
    run.machine = figures.read_machine(named) if named else figures.assumed_machine()
    if not named:
        run.figures = figures.assumed_folder(shares.sharing)
        return run, shares
    folder = figures.folder_of(run.machine, run.folder, run.file_system)
    if folder is None:
        raise PlanError(f"{named}: no [[folder]] of file system '{run.file_system}'")
    run.figures = figures.completed(folder, shares.sharing)
    return run, shares
