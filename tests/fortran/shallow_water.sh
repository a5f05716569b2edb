#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shallow_water.sh PROGRAM MPIRUN [FLAGS...] -n
# Runs the example model on several numbers of ranks, cut along y alone and along y and the layers,
# and with every service, and compares every history file, byte for byte, with the one that a single
# rank writes with the method serial. The model itself fails if it loses mass (check = .true.).
set -eu
program=$1
shift
launch=("$@")

folder=shallow_water
rm -rf "$folder"
mkdir "$folder"
cd "$folder"

# run RANKS LAYER_RANKS METHOD FILE [SETTINGS]: a small run on a grid whose lengths have no common
# factors.
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

# same RANKS LAYER_RANKS [SETTINGS]: checks that a run writes the same file as the serial run.
same() {
    run "$1" "$2" record history.nc "${3:-}"
    cmp reference.nc history.nc || {
        echo "FAILED: $1 ranks, $2 of them along the layers, ${3:-no settings}: the file differs"
        exit 1
    }
    rm history.nc
}

# served SERVICE: checks that the last run used SERVICE.
served() {
    grep -q "\"service\": \"$1\"" summary.json || {
        echo "FAILED: the service was not $1"
        exit 1
    }
}

run 1 1 serial reference.nc
for r in 1 2 3 7 16; do
    same "$r" 1
done
same 6 3
same 16 4
same 7 1 'node_size=3; writers=2/node; buffer=64KiB'
export THALWEG_SUMMARY=summary.json
same 4 1 'service=background'
served background
same 7 1 'service=background; node_size=3; writers=2/node'
served background
# One rank or two ranks are servers.
same 5 2 'service=servers; servers=1'
served servers
same 6 1 'service=servers; servers=2:last'
served servers
same 7 1 'service=servers; servers=2; node_size=3'
served servers
export THALWEG_SERVICE=servers THALWEG_SERVERS=2
same 6 1
served servers
unset THALWEG_SERVICE THALWEG_SERVERS THALWEG_SUMMARY
same 7 1 "storage=${THALWEG_TEST_STORAGE:-pnetcdf-blocking}; node_size=2"
same 7 1 "storage=${THALWEG_TEST_STORAGE:-pnetcdf}"
grep '^mass: ' log.txt
echo "the same file on 1 to 16 ranks, with every service"
