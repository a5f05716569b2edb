#!/usr/bin/env bash
# Joins sets of tiles by `thalweg combine`. The result must be the file that was written as one.
# tests/tools has sets that cannot be joined.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tiles.sh PROGRAM THALWEG LAUNCHER...
#        (LAUNCHER with its flags and the option for the number of ranks)
set -euo pipefail
program="$1" thalweg="$2"
shift 2
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "tiles.sh: $*" >&2
    exit 1
}

"$@" 6 "$program" "$folder"
cd "$folder"
[[ -z "$(find . -name '*.part' ! -name 'wrong*')" ]] || fail "temporary names are left"
[[ -n "$(ls ./*.tiles.nc.0003)" ]] || fail "no set of four files"
sets=(*.tiles.nc.0000)
sets=("${sets[@]%.0000}")
half=$((${#sets[@]} / 2))
"$thalweg" combine "${sets[@]:0:half}" >lines
"$@" 3 "$thalweg" combine "${sets[@]:half}" >>lines
[[ $(grep -c 'joined' lines) -eq ${#sets[@]} ]] || fail "$(cat lines)"
for set in "${sets[@]}"; do
    cmp "$set" "${set%.tiles.nc}.one.nc"
    rm "$set"
done
