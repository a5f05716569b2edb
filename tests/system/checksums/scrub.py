# SPDX-License-Identifier: Apache-2.0
"""Changes bytes at random places, and compares what `thalweg verify --checksums` and `thalweg
recover` name with what netCDF-C reads differently.

Usage: scrub.py PROGRAM THALWEG LAUNCHER...
       (LAUNCHER with its flags and the option for the number of ranks)
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import netCDF4
import numpy as np

PROGRAM, THALWEG, *LAUNCHER = sys.argv[1:]
FAULT = re.compile(r"^(.*): variable '(\w+)'(?:, record (\d+))?: (.*)$")


def run(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def verify(path, code, ranks=0):
    """Returns the faults that `thalweg verify` finds, as texts by (variable, record)."""
    launcher = [*LAUNCHER, str(ranks)] if ranks else []
    lines = run(*launcher, THALWEG, "verify", "--checksums", str(path), code=code).splitlines()
    found = [FAULT.match(line) for line in lines]
    return {(m[2], int(m[3]) if m[3] else -1): m[4] for m in found if m}


def values(path):
    """Returns the bytes of each variable and record."""
    found = {}
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for name, variable in file.variables.items():
            data = np.ascontiguousarray(variable[:])
            if variable.dimensions[:1] != ("time",):
                found[name, -1] = data.tobytes()
                continue
            for record in range(data.shape[0]):
                found[name, record] = data[record].tobytes()
    return found


def flip(path, places, seed):
    draw = random.Random(seed)
    with open(path, "r+b") as file:
        for place in places:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << draw.randrange(8)]))


def header_of(path):
    """Returns the end of a classic file's header, which is the address of the first variable."""
    first = values(path)["h", -1]
    return Path(path).read_bytes().index(np.frombuffer(first, "f8").astype(">f8").tobytes())


def flipped_in_classic(folder, form, seed):
    good, path = folder / "good.nc", folder / "flipped.nc"
    run(*LAUNCHER, "3", PROGRAM, "--write", str(good), "--settings", form)
    assert verify(good, 0) == {} and verify(good, 0, 3) == {}
    before, begin, size = values(good), header_of(good), good.stat().st_size
    draw = random.Random(seed)
    for case in range(12):
        shutil.copy(good, path)
        shutil.copy(f"{good}.sums", f"{path}.sums")
        flip(path, [draw.randrange(begin, size) for _ in range(draw.choice([1, 1, 2, 5]))], case)
        after = values(path)
        expected = {key for key in before if before[key] != after[key]}
        found = verify(path, 1 if expected else 0, draw.choice([0, 0, 0, 3, 7]))
        assert set(found) == expected, (form, case, found, expected)
    # Tests a hole, a file that is cut off, and a file that another program has changed.
    shutil.copy(good, path)
    with open(path, "r+b") as file:
        file.seek(begin + (size - begin) // 2)
        file.write(bytes(4096))
    after = values(path)
    assert set(verify(path, 1)) == {key for key in before if before[key] != after[key]}
    shutil.copy(good, path)
    os.truncate(path, size - 100)
    assert ("s", 3) in verify(path, 1)
    shutil.copy(good, path)
    with netCDF4.Dataset(path, "r+") as file:
        file["T"][2, 1, 5, 7] = -5
        file["time"][4] = 0
    found = verify(path, 1)
    assert found["T", 2].startswith("checksum mismatch"), found
    assert found["time", 4] == "it has no checksum", found
    # Tests checksums that are damaged, cut off, or missing.
    shutil.copy(good, path)
    flip(f"{path}.sums", [Path(f"{path}.sums").stat().st_size - 3], seed)
    assert list(verify(path, 1)) == [("s", 3)]
    shutil.copy(f"{good}.sums", f"{path}.sums")
    os.truncate(f"{path}.sums", Path(f"{path}.sums").stat().st_size - 16)
    assert verify(path, 2) == {("s", 3): "it has no checksum"}
    os.truncate(f"{path}.sums", 40)
    assert "damaged" in run(THALWEG, "verify", "--checksums", str(path), code=2)
    os.remove(f"{path}.sums")
    assert "no checksums" in run(THALWEG, "verify", "--checksums", str(path), code=2)
    # A name without a file, and folders without files or with one that is gone.
    some, none = folder / "some", folder / "none"
    for each in (some, none):
        each.mkdir(exist_ok=True)
    (none / "notes.txt").touch()
    for name in (good.name, f"{good.name}.sums"):
        shutil.copy(folder / name, some / name)
    run(THALWEG, "verify", "--checksums", str(some), code=0)
    os.remove(some / good.name)
    for name, words in (
        (folder / "nothing.nc", "nothing.nc: it does not exist"),
        (none, "none: it has no file *.nc"),
        (some, str(some / good.name)),
    ):
        said = run(THALWEG, "verify", "--checksums", str(name), code=2)
        assert words in said and said.count("\n") == 1, said


def flipped_in_chunks(folder):
    """Changes bytes of chunks in a netCDF-4 file with deflate."""
    good, path = folder / "good4.nc", folder / "flipped4.nc"
    run(*LAUNCHER, "3", PROGRAM, "--write", str(good), "--settings", "format=netcdf4; deflate=1")
    assert verify(good, 0) == {} and verify(good, 0, 3) == {}
    chunks = []  # variable, record, offset and size
    with h5py.File(good) as data:
        for name, of in data.items():
            for k in range(of.id.get_num_chunks() if of.chunks and of.ndim > 1 else 0):
                chunk = of.id.get_chunk_info(k)
                record = -1 if name == "h" else chunk.chunk_offset[0]
                chunks.append((name, record, chunk.byte_offset, chunk.size))
    draw = random.Random(5)
    for case in range(12):
        variable, record, offset, size = draw.choice(chunks)
        shutil.copy(good, path)
        shutil.copy(f"{good}.sums", f"{path}.sums")
        flip(path, [offset + draw.randrange(size)], case)
        assert set(verify(path, 1)) == {(variable, record)}, (case, variable)


def lost_tile(folder):
    path = folder / "set.nc"
    run(*LAUNCHER, "3", PROGRAM, "--write", str(path), "--settings", "method=tiles; files=tiles")
    assert verify(path, 0) == {}
    os.remove(f"{path}.0001")
    assert f"{path}.0001" in run(THALWEG, "verify", "--checksums", str(path), code=2)


def recovered(folder, form):
    """Tests that a killed run leaves checksums, too: recovery keeps the records before the first
    one that is not whole."""
    path = folder / f"killed_{abs(hash(form))}.nc"
    part = Path(f"{path}.part")
    subprocess.run(
        [*LAUNCHER, "3", PROGRAM, "--die", str(path), "--settings", form],
        capture_output=True,
        check=False,
    )
    assert part.exists() and Path(f"{part}.sums").exists(), form
    saved = [(p, p.read_bytes()) for p in (part, Path(f"{part}.sums"))]
    text = run(THALWEG, "recover", str(path))
    assert "4 records recovered" in text and "whole" not in text, text
    assert verify(path, 0) == {}
    assert not Path(f"{part}.sums").exists()
    before = values(path)
    os.remove(path)
    os.remove(f"{path}.sums")
    for p, content in saved:
        p.write_bytes(content)
    # Make a hole in record 2.
    piece = np.frombuffer(before["T", 2], "f4")
    piece = piece if "netcdf4" in form else piece.astype(">f4")
    place = saved[0][1].index(piece.tobytes()[:4096])
    with open(part, "r+b") as file:
        file.seek(place)
        file.write(bytes(4096))
    text = run(THALWEG, "recover", str(path))
    assert "2 records recovered" in text, text
    assert "2 records cut off, from the first on that is not whole" in text, text
    assert "variable 'T', record 2" in text, text
    assert verify(path, 0) == {}
    assert all(values(path)[key] == before[key] for key in values(path))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed, form in enumerate(["format=cdf1", "format=cdf5; writers=2"]):
            flipped_in_classic(folder, form, seed)
        flipped_in_chunks(folder)
        lost_tile(folder)
        for form in ["", "writers=2; service=background", "format=netcdf4"]:
            recovered(folder, form)
    print("scrub: what has changed was found and named")


if __name__ == "__main__":
    main()
