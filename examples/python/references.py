# SPDX-License-Identifier: Apache-2.0
"""Opens netCDF files as one Zarr group, by references that Thalweg has written:
`thalweg zarr history.*.nc -o history.json`, and then python references.py history.json
"""

import argparse
import os

import fsspec
import xarray as xr
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from zarr.storage import FsspecStore


class Beside(DirFileSystem):
    """Files by their paths from a folder, or by absolute paths."""

    def _join(self, path):
        if isinstance(path, str):
            return os.path.join(self.path, path)
        return [self._join(one) for one in path]


def open_store(path):
    """Returns the references as a store of Zarr: zarr.open_group(open_store(path), mode="r")."""
    path = os.path.realpath(path)
    # Paths are relative to the file of references, but readers would look for them in their working
    # folder.
    files = Beside(os.path.dirname(path), LocalFileSystem())
    files = AsyncFileSystemWrapper(files, asynchronous=True)
    references = fsspec.filesystem(
        "reference", fo=path, fs=files, asynchronous=True, skip_instance_cache=True
    )
    return FsspecStore(references, read_only=True)


def open_references(path, **options):
    """Returns a data set whose values are read from the netCDF files when they are used."""
    options = {"consolidated": False, "chunks": None, **options}
    return xr.open_zarr(open_store(path), **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("references", help="JSON file")
    with open_references(parser.parse_args().references) as data:
        print(data)


if __name__ == "__main__":
    main()
