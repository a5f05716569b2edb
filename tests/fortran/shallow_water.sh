#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shallow_water.sh PROGRAM METHOD MPIRUN [FLAGS...] -n
# Runs the example model on several numbers of ranks, cut along y alone and along y and the layers,
# and compares every history file, byte for byte, with the one that a single rank writes with the
# method serial. The model itself fails if it loses mass (check = .true.).
set -eu
program=$1
method=$2
shift 2
launch=("$@")

folder=shallow_water.$method
rm -rf "$folder"
mkdir "$folder"
cd "$folder"

# run RANKS LAYER_RANKS METHOD FILE [SETTINGS]: small, and nothing is a multiple of anything.
run() {
    cat > model.nml <<END
&shallow_water_nml
  nx = 37, ny = 29, layers = 5, dt = 300, steps = 40, interval = 10, layer_ranks = $2
  method = '$3', settings = '${5:-}', output = '$4'
  progress = .false., summary = .false., check = .true.
/
END
    "${launch[@]}" "$1" "$program" model.nml > log.txt 2>&1 || {
        cat log.txt
        echo "FAILED: $1 ranks, $2 of them along the layers, method $3, ${5:-no settings}"
        exit 1
    }
}

run 1 1 serial reference.nc
for case in 1:1 2:1 3:1 4:1 7:1 8:1 16:1 4:2 6:3 16:4; do
    run "${case%:*}" "${case#*:}" "$method" history.nc
    cmp reference.nc history.nc || {
        echo "FAILED: $case (ranks:layer_ranks), method $method: the file differs"
        exit 1
    }
    rm history.nc
done

# Several nodes, several writers, little memory.
run 7 1 "$method" history.nc 'node_size=3; writers=2/node; buffer=64KiB'
cmp reference.nc history.nc
grep '^mass: ' log.txt
echo "the same file on 1 to 16 ranks"
