#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# programs.sh FOLDER [MPIRUN FLAGS... -n]: the programs without MPI in FOLDER, started without a
# launcher, write the same file in every language; a program with MPI writes this file, too.
set -eu
programs=$1
shift
# Open MPI's processes without a launcher share a folder in TMPDIR. They fail if two create it at
# the same time.
TMPDIR="$(mktemp -d)"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

rm -rf serial
mkdir serial
cd serial
"$programs/serial_c" >out
grep -q 'the last record has 276' out
mv serial.nc reference.nc
for program in serial_cpp serial_f90; do
    [[ -x "$programs/$program" ]] || continue # a build without Fortran
    "$programs/$program"
    cmp reference.nc serial.nc
done
if [[ $# -gt 0 ]]; then
    "$@" 3 "$programs/hello_c"
    cmp reference.nc hello.nc
fi
# A session that cannot begin: every program must print the reason.
for program in serial_c serial_cpp serial_f90; do
    [[ -x "$programs/$program" ]] || continue
    if THALWEG_METHOD=fast "$programs/$program" 2>why; then exit 1; fi
    grep -q "'method'.*'fast'" why
done

# Test the command-line tools.
if [[ -x "$programs/thalweg" ]]; then
    "$programs/thalweg" repack reference.nc copy.nc --format cdf5
    "$programs/thalweg" verify reference.nc copy.nc
    "$programs/thalweg" recover copy.nc | grep -q '3 records, already complete'
    THALWEG_METHOD=tiles THALWEG_FILES=tiles "$programs/serial_c" >out
    "$programs/thalweg" combine serial.nc -o combined.nc
    "$programs/thalweg" verify reference.nc combined.nc
fi
echo ok
