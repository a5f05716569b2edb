#!/usr/bin/env bash
# Joins sets of tiles, by `thalweg combine` and by a program that knows only their attributes. The
# result must be the file that was written as one.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tiles.sh PROGRAM THALWEG PYTHON LAUNCHER...
#        (PYTHON may be empty; LAUNCHER with its flags and the option for the number of ranks)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$1" thalweg="$2" python="$3"
shift 3
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
if [[ -n "$python" ]]; then "$python" "$here/join.py" ./*.tiles.nc.0000; fi

# Refuses files that do not form a set.
set="${sets[0]}"
refuse() {
    local words="$1" got=0
    shift
    "$thalweg" combine "$@" >words 2>&1 || got=$?
    [[ $got -eq 1 ]] || fail "exit code $got: $(cat words)"
    grep -qF -- "$words" words || fail "no '$words' in: $(cat words)"
    [[ ! -e out.nc && ! -e out.nc.part ]] || fail "an output is left"
}
refuse "nothing.nc.0000: cannot open: No such file" nothing.nc -o out.nc
cp 0.one.nc plain.nc.0000
refuse "not part of a set" plain.nc -o out.nc
for four in *.tiles.nc.0003; do break; done
four="${four%.0003}"
cp "$four.0000" broken.nc.0000
cp "$four.0001" broken.nc.0001
cp "$four.0001" broken.nc.0002
cp "$four.0003" broken.nc.0003
refuse "broken.nc.0002: is the same part of the whole as" broken.nc -o out.nc
rm broken.nc.0002
refuse "broken.nc.0002" broken.nc -o out.nc
