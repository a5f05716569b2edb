#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stops.sh PROGRAM INJECT MPIEXEC...: checks that errors stop a program with a message that names
# file, variable, rank and reason, and that an expected failure prints nothing.
set -uo pipefail

program="$1"
inject="$2"
shift 2

fail() {
    echo "stops.sh: $1"
    cat out
    exit 1
}

# stops CASE TEXT...: checks that the program stops and prints these texts.
stops() {
    local name="$1" text
    shift
    timeout 60 "${mpiexec[@]}" "$program" "$name" >out 2>&1 && fail "$name was not stopped"
    for text in "$@"; do
        grep -qF -- "$text" out || fail "$name does not say: $text"
    done
}

mpiexec=("$@" 3)
timeout 60 "${mpiexec[@]}" "$program" quiet >out 2>&1 || fail "quiet failed"
[[ ! -s out ]] || fail "an expected failure is told"
stops variable "PIOc_inq_varid failed" variable.nc "no variable none" "-49"
stops file "PIOc_openfile failed" none.nc "No such file"
stops short "rank 2" short.nc "variable v" "has 1 elements, the decomposition 2"
stops id "PIOc_closefile failed" "id 99"
for service in inline background; do
    export THALWEG_SERVICE="$service"
    for write in 1 3; do # the 1st write is the header, the 3rd the values
        rm -f late.nc* .late.nc*
        timeout 60 "${mpiexec[@]}" env LD_PRELOAD="$inject" \
            THALWEG_FAULT_PATH=late.nc THALWEG_FAULT_AT="$write" THALWEG_FAULT_KIND=enospc \
            THALWEG_FAULT_RANK=0 "$program" late >out 2>&1 || fail "late ($service, write $write)"
    done
done
echo "stops.sh: ok"
