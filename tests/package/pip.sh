#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pip.sh BUILD FOLDER PYTHON: installs the library from BUILD into FOLDER/prefix, and the Python
# package with it by pip, which must not compile the library again. The package writes the file of
# the program hello. A library of another version or kind is refused with the reason.
set -euo pipefail
build="$1"
folder="$2"
python="$3"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
read -ra mpiexec <<<"${MPIEXEC:-mpirun}"
prefix="$folder/prefix"
unset THALWEG_PREFIX PKG_CONFIG_PATH CMAKE_PREFIX_PATH
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

rm -rf "$folder"
mkdir -p "$folder"
cmake --install "$build" --prefix "$prefix" >/dev/null

THALWEG_PREFIX="$prefix" "$python" -m pip install --quiet --disable-pip-version-check --no-index \
    --no-deps --no-build-isolation -C build-dir="$folder/build" --target "$folder/site" "$root"
if [[ -d "$folder/build/src" ]] || compgen -G "$folder/site/thalweg/libthalweg*" >/dev/null; then
    echo "pip: the library was compiled, although it is installed"
    exit 1
fi
mkdir "$folder/out"
cd "$folder/out"
cat >program.py <<'PROGRAM'
from mpi4py import MPI
import thalweg as tw

with tw.Session(MPI.COMM_WORLD) as io:
    d = io.split(x=6, along="x")
    with io.create("x.nc") as f:
        f.define("v", "i4", "x", d)
        f["v"] = [3 * MPI.COMM_WORLD.rank + i for i in range(3)]
with open("/proc/self/maps") as maps:
    print({line.split()[-1] for line in maps if "libthalweg" in line})
PROGRAM
PYTHONPATH="$folder/site" "${mpiexec[@]}" -n 2 "$python" program.py | tee told
grep -qF "$prefix/" told
ncdump x.nc | grep -q 'v = 0, 1, 2, 3, 4, 5 ;'

# configure PREFIX [arguments of cmake...]: prints what the build of the package would use.
configure() {
    rm -rf "$folder/other"
    cmake -S "$root" -B "$folder/other" -G Ninja -DTHALWEG_BUILD_PYTHON=ON -DTHALWEG_PYTHON="$python" \
        -DTHALWEG_BUILD_TESTS=OFF -DTHALWEG_BUILD_FORTRAN=OFF -DTHALWEG_PREFIX="$@" 2>&1 |
        tr -s '\n ' ' ' || true
}

# says TEXT COMMAND...: checks that the output of a command contains a text.
says() {
    local output
    output="$("${@:2}")"
    grep -qF -- "$1" <<<"$output" && return
    echo "pip: '${*:2}' does not say '$1': $output"
    return 1
}

packages="$(dirname "$(find "$prefix" -name thalweg.pc)")"
PKG_CONFIG_PATH="$packages" says "uses the installed library of $prefix" configure AUTO
says "THALWEG_PREFIX=$folder/none cannot be used: there is none" configure "$folder/none"
says "it is with MPI, but THALWEG_MPI is OFF" configure "$prefix" -DTHALWEG_MPI=OFF
cp -r "$prefix" "$folder/old"
find "$folder/old" -name 'thalwegConfigVersion.cmake' -exec sed -i \
    's/set(PACKAGE_VERSION "[^"]*")/set(PACKAGE_VERSION "0.0.9")/' {} +
says "its version is 0.0.9, not" configure "$folder/old"
CMAKE_PREFIX_PATH="$folder/old" says "is not used: its version is 0.0.9, not" configure AUTO
echo "pip: ok"
