# SPDX-License-Identifier: Apache-2.0
"""The speed of a machine: assumed for a kind of file system, or read from a calibration file."""

from types import SimpleNamespace

from keys import PlanError, integer, load, number, numbers, positive, read, tables, text

# Speeds of a machine: bytes per second that one core packs, and that all ranks of a node pack;
# seconds of an agreement of a node's ranks and of a short message between nodes; bytes per second
# of messages that leave a node, and of those inside a node; bytes per second that one core
# compresses; seconds that a run of an index list takes besides its elements.
SPEEDS = {
    "pack": (positive, 4e9),
    "pack_node": (positive, 20e9),
    "agree": (number, 5e-6),
    "latency": (number, 3e-6),
    "message": (positive, 5e9),
    "inside": (positive, 1e10),
    "compress": (positive, 1e8),
    "run": (number, 5e-9),
}
# Optional figures of a folder: seconds until the servers answer; additional seconds of a write in
# a block to which other nodes write; number of servers that hand over blocks, 0 if unknown;
# processor seconds per second of writing; highest rate of a node, 0 without a limit.
MAYBE = {
    "request": (number, None), "lock": (number, None), "locks": (number, None),
    "processor": (number, None), "node_rate": (number, None), "durable": (numbers, None),
}  # fmt: skip
MEASURED = {"ranks": integer(1), "nodes": integer(1), "cores": integer(1)}
NEEDED = {
    "path": text, "file_system": text, "create": number, "rename": number, "call": number,
    "writers": numbers, "rate": numbers,
}  # fmt: skip

# A local disk gets the data after memory. A call on a parallel file system copies to the node's
# cache.
ASSUMED = {
    "local": {
        "create": 1e-4, "rename": 1e-4, "call": 2e-5, "request": 0, "lock": 0, "locks": 0,
        "processor": 1, "node_rate": 0, "writers": [1], "rate": [2e9], "durable": [5e8],
    },
    "parallel": {
        "create": 2e-3, "rename": 2e-3, "call": 2e-5, "request": 5e-4, "lock": 1e-3, "locks": 16,
        "processor": 0.5, "node_rate": 3e9, "writers": [1, 4, 16, 64],
        "rate": [8e8, 3e9, 8e9, 2e10], "durable": [8e8, 3e9, 8e9, 2e10],
    },
    "shared": {
        "create": 5e-3, "rename": 5e-3, "call": 1e-3, "request": 0, "lock": 5e-3, "locks": 0,
        "processor": 0.5, "node_rate": 0, "writers": [1, 4], "rate": [3e8, 6e8],
        "durable": [3e8, 6e8],
    },
}  # fmt: skip


def assumed_machine():
    """Returns rough figures of a machine that was not measured."""
    defaults = {key: value for key, (_, value) in SPEEDS.items()}
    return SimpleNamespace(ranks=0, nodes=0, cores=0, folders=[], **defaults)


def assumed_folder(kind):
    """Returns rough figures of a file system: local, parallel or shared (such as NFS)."""
    return SimpleNamespace(**ASSUMED[kind])


def completed(folder, kind):
    """Returns measured figures, with assumed ones of the kind of file system where some miss."""
    known = {key: value for key, value in vars(folder).items() if value is not None}
    return SimpleNamespace(**(ASSUMED[kind] | {"durable": folder.rate} | known))


def read_folder(content, where):
    """Returns the measured figures of a folder. Raises PlanError."""
    folder = read(content, where, NEEDED, MAYBE)
    if folder.writers != sorted(set(folder.writers)):
        raise PlanError(f"{where}: key 'writers': expected an ascending list")
    for key in ("rate", "durable"):
        rates = getattr(folder, key)
        if rates is not None and len(rates) != len(folder.writers):
            raise PlanError(
                f"{where}: key '{key}': expected as many numbers as 'writers' has "
                f"({len(folder.writers)})"
            )
    return folder


def read_machine(path):
    """Returns the figures of a calibration file. Raises PlanError."""
    machine = read(load(path), path, MEASURED, SPEEDS | {"folder": (tables, [])})
    machine.folders = [
        read_folder(content, f"{path}: [[folder]] {number}")
        for number, content in enumerate(machine.folder, 1)
    ]
    return machine


def folder_of(machine, path, file_system):
    """Returns the measured figures of the folder, the nearest folder above it, or any folder with
    the same file system; None if there are none."""
    above = [f for f in machine.folders if f"{path}/".startswith(f"{f.path.rstrip('/')}/")]
    alike = [f for f in machine.folders if f.file_system == file_system]
    return max(above, key=lambda f: len(f.path)) if above else next(iter(alike), None)


def rate_of(folder, writers, durable):
    """Returns the bytes per second of a number of writers of one file together: interpolated
    between measured numbers of writers, and constant beyond them."""
    rate, at = folder.durable if durable else folder.rate, folder.writers
    if writers <= at[0]:
        return rate[0] * writers / at[0]
    for i in range(1, len(at)):
        if writers <= at[i]:
            part = (writers - at[i - 1]) / (at[i] - at[i - 1])
            return rate[i - 1] + part * (rate[i] - rate[i - 1])
    return rate[-1]
