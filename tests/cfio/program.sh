#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# program.sh PROGRAM MPIEXEC...: runs PROGRAM on several grids and compares the files that it
# writes. The first grid has the smallest rank count. All grids give the same files.
set -euo pipefail

program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Columns: ranks x y ratio. They cover any grid, any ratio, and ranks without a role.
while read -r ranks x y ratio; do
    "$@" "$ranks" "$program" "$x" "$y" "$ratio" "out-$x-$y-$ratio" </dev/null
    for step in 0 1; do
        ncdump -n out "out-$x-$y-$ratio-$step.nc" >"$x-$y-$ratio-$step.cdl"
        cmp "1-1-1-$step.cdl" "$x-$y-$ratio-$step.cdl"
    done
done <<'GRIDS'
2 1 1 1
2 1 1 7
5 2 2 4
4 3 1 2
9 3 2 3
12 5 2 7
14 4 3 8
GRIDS

grep -q 'float sst(lat, lon)' 1-1-1-0.cdl
grep -q 'double ssh(lat, lon)' 1-1-1-0.cdl
grep -q ':title = "a program in C"' 1-1-1-0.cdl
grep -q ':step = 1' 1-1-1-1.cdl
# The value of each element is its position.
ncdump -v sst out-5-2-7-1.nc | sed -n '/^ sst =/,$p' | tr -dc '0-9\n ' | xargs >values
[[ "$(cat values)" == "$(seq -s ' ' 1000 1287)" ]]
ncdump -v ssh out-3-2-3-0.nc | sed -n '/^ ssh =/,$p' | tr -dc '0-9\n ' | xargs >values
[[ "$(cat values)" == "$(seq -s ' ' 0 287)" ]]
ncdump -v mask out-3-2-3-0.nc | sed -n '/^ mask =/,$p' | tr -dc '01\n ' | xargs >values
[[ "$(cat values)" == "$(yes '0 1' | head -n 144 | xargs)" ]]
echo "cfio program: ok"
