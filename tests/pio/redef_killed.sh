#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redef_killed.sh PROGRAM INJECT MPIEXEC... (with the number of ranks): a run that is killed at the
# n-th call to the system, for each n, while it adds a variable to a file that has data, leaves the
# old file or the new one; and the next run changes it all the same.
set -uo pipefail
program="$1" inject="$2"
shift 2
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
    echo "redef_killed.sh: call $n: $1"
    cat words
    exit 1
}

n=0 kills=0
"$@" "$program" write >words 2>&1 || fail "the file could not be written"
cp killed.nc old.nc
for ((n = 1; n < 100; ++n)); do
    ended=no
    "$@" env LD_PRELOAD="$inject" THALWEG_FAULT_PATH=killed.nc THALWEG_FAULT_AT="$n" \
        THALWEG_FAULT_KIND=kill "$program" change >words 2>&1 && ended=yes
    "$@" "$program" look >words 2>&1 || fail "the file is damaged"
    [[ $ended == no ]] || break
    kills=$((kills + 1))
    cp old.nc killed.nc # not the copy that was left
done
grep -q new words || fail "a run that was not killed left the old file"
[[ $kills -ge 3 ]] || fail "only $kills runs were killed"
[[ ! -e killed.nc.redef ]] || fail "a copy is left"
echo "redef_killed.sh: ok, $kills kills"
