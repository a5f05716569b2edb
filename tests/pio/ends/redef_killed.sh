#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redef_killed.sh PROGRAM FORMAT INJECT MPIEXEC... (with the number of ranks): kills a run at its
# n-th system call, for each n, while the run adds a variable to a file with data, and in netCDF-4
# also a record. Either the old file or the new one must be there, and the next run must be able to
# make the same change.
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
    cp old.nc killed.nc # not the copy that the killed run left
done
grep -q new words || fail "a run that was not killed left the old file"
[[ $kills -ge 3 ]] || fail "only $kills runs were killed"
[[ ! -e killed.nc.new ]] || fail "a copy is left"
echo "redef_killed.sh: ok, $kills kills"
