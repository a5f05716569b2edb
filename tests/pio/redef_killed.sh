#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redef_killed.sh PROGRAM FORMAT INJECT MPIEXEC... (with the number of ranks): a run that is killed
# at the n-th call to the system, for each n, while it adds a variable to a file that has data, and
# in netCDF-4 a record, too, leaves the old file or the new one; and the next run changes it all the
# same.
set -uo pipefail
program="$1" format="$2" inject="$3"
shift 3
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
    echo "redef_killed.sh: call $n: $1"
    cat words
    exit 1
}

n=0 kills=0
"$@" "$program" "$format" write >words 2>&1 || fail "the file could not be written"
cp killed.nc old.nc
for ((n = 1; n < 100; ++n)); do
    ended=no
    "$@" env LD_PRELOAD="$inject" THALWEG_FAULT_PATH=killed.nc THALWEG_FAULT_AT="$n" \
        THALWEG_FAULT_KIND=kill "$program" "$format" change >words 2>&1 && ended=yes
    if ! cmp -s killed.nc old.nc; then
        "$@" "$program" "$format" look >words 2>&1 || fail "the file is damaged"
    fi
    [[ $ended == no ]] || break
    kills=$((kills + 1))
    cp old.nc killed.nc # not the remaining copy
done
grep -q new words || fail "a run that was not killed left the old file"
[[ $kills -ge 3 ]] || fail "only $kills runs were killed"
[[ ! -e killed.nc.new ]] || fail "a copy is left"
echo "redef_killed.sh: ok, $kills kills"
