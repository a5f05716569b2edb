#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shallow_water_restart.sh PROGRAM PYTHON MPIRUN [FLAGS...] -n
# Runs the example model for 40 steps, and for 20 steps followed by 20 more from a restart, on other
# numbers of ranks. Both must end in the same state, which is compared as restart files, byte for
# byte; and the histories must have the same records.
set -eu
program=$1
python=$2
here=$(dirname "$(realpath "$0")")
shift 2
launch=("$@")

folder=shallow_water.restart
rm -rf "$folder"
mkdir "$folder"
cd "$folder"

# run RANKS LAYER_RANKS STEPS HISTORY RESTART [FROM [SETTINGS]]: runs the model for some steps.
run() {
    cat > streams.toml <<END
[[stream]]
name = "mean"
every = "70 minutes"
anchor = "start"
fields = ["h", "u", "ssh"]
path = "streams.nc"
[stream.field.highest]
of = "ssh"
op = "max"
END
    cat > model.nml <<END
&shallow_water_nml
  nx = 37, ny = 29, layers = 5, dt = 300, steps = $3, interval = 10, layer_ranks = $2
  output = '$4', restart_every = 20, restart_file = '$5', restart_from = '${6:-}'
  stream_file = 'streams.toml', settings = '${7:-}', progress = .false., summary = .false., check = .true.
/
END
    "${launch[@]}" "$1" "$program" model.nml > log.txt 2>&1 || {
        cat log.txt
        echo "FAILED: $1 ranks, $2 of them along the layers, from '${6:-}', ${7:-no settings}"
        exit 1
    }
}

# goes_on RANKS LAYER_RANKS FROM [SETTINGS]: continues from a restart, and compares the results.
goes_on() {
    cp first_streams.nc streams.nc
    run "$1" "$2" 40 second.nc end.nc "$3" "${4:-}"
    cmp whole_end.nc end.nc || {
        echo "FAILED: from $3 on $1 ranks, $2 along the layers, ${4:-no settings}: another state"
        exit 1
    }
    cmp whole_streams.nc streams.nc || {
        echo "FAILED: from $3 on $1 ranks, $2 along the layers, ${4:-no settings}: other means"
        exit 1
    }
    "$python" "$here/same_records.py" whole.nc second.nc
    rm second.nc end.nc
}

run 3 1 40 whole.nc whole_end.nc
mv streams.nc whole_streams.nc
run 2 1 20 first.nc two.nc
mv streams.nc first_streams.nc
run 6 3 20 first.nc six.nc '' 'service=background; node_size=4'
cmp first_streams.nc streams.nc
cmp two.nc six.nc || {
    echo "FAILED: the restart differs between 2 and 6 ranks"
    exit 1
}
goes_on 1 1 two.nc
goes_on 7 1 two.nc 'node_size=3; method=direct'
goes_on 5 2 six.nc 'service=servers; servers=1'
echo "the same state and records on 1 to 7 ranks"
