# SPDX-License-Identifier: Apache-2.0
"""Checks that files have the layout of CMIP7, by the reads of h5py, and by the checker of the PyPI
package cmip7-repack if it is installed."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

LEAST = 4 << 20


class Reads:
    """A file that notes the reads of h5py."""

    def __init__(self, path):
        self.file = open(path, "rb")  # noqa: SIM115
        self.ranges = []

    def readinto(self, buffer):
        self.ranges.append((self.file.tell(), self.file.tell() + len(buffer)))
        return self.file.readinto(buffer)

    def __getattr__(self, name):
        return getattr(self.file, name)


def places(variable):
    """Returns the offset of each chunk."""
    if variable.chunks is None:
        return [variable.id.get_offset()]
    found = []
    variable.id.chunk_iter(lambda chunk: found.append(chunk.byte_offset))
    return found


def check_layout(path):
    """Checks the layout of a file of CMIP7, by h5py and by the judge. Returns the chunk shapes."""
    reads = Reads(path)
    with h5py.File(reads, "r") as f:
        data = {name: places(v) for name, v in f.items() if v.id.get_storage_size()}
        attributes = [dict(v.attrs) for v in (f, *f.values())]
        chunks = {name: f[name].chunks for name in data}
        assert attributes and all(len(data[name]) == 1 for name in data if name.startswith("time"))
        for name, v in f.items():
            large = v.ndim > 1 and v.chunks and len(data[name]) > 1
            assert not large or np.prod(v.chunks) * v.dtype.itemsize >= LEAST, (name, v.chunks)
    first = min(at for offsets in data.values() for at in offsets if at is not None)
    # The driver reads whole blocks; all of them begin before the data.
    assert max(begin for begin, _ in reads.ranges) < first, (first, reads.ranges)
    judge = Path(sys.executable).parent / "check_cmip7_packing"
    if judge.exists():
        done = subprocess.run([sys.executable, judge, path], capture_output=True, text=True)
        assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
    return chunks
