# SPDX-License-Identifier: Apache-2.0
"""Opens netCDF files as one Zarr group, by references that Thalweg has written.

A model writes them with the setting zarr_references=yes; for files that exist:
`thalweg zarr history.*.nc -o history.json`. Then: python references.py history.json
"""

import argparse
import json
import os

import xarray as xr


def open_references(path, **options):
    """A data set whose values are read from the netCDF files when they are used."""
    with open(path) as file:
        references = json.load(file)
    # Paths are relative to the file of references; readers look for them where they run.
    folder = os.path.dirname(os.path.realpath(path))
    for place in references["refs"].values():
        if isinstance(place, list):
            place[0] = os.path.join(folder, place[0])
    return xr.open_dataset(references, engine="kerchunk", **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("references", help="JSON file")
    with open_references(parser.parse_args().references) as data:
        print(data)


if __name__ == "__main__":
    main()
