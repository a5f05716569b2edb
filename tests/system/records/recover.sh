#!/usr/bin/env bash
# Checks that `thalweg recover` turns the unfinished file of a killed run into the file of a run
# that has closed it.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: recover.sh PROGRAM THALWEG NCVALIDATOR LAUNCHER...   (NCVALIDATOR may be empty)
set -euo pipefail
program="$1" thalweg="$2" ncvalidator="$3"
shift 3
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/killed" "$folder/reference"

fail() {
    echo "recover.sh: $*" >&2
    exit 1
}

# expect CODE WORDS FILE...: checks the exit code and one line of output of `thalweg recover
# FILE...`.
expect() {
    local code="$1" words="$2" got=0
    shift 2
    "$thalweg" recover "$@" >"$folder/lines" 2>&1 || got=$?
    [[ $got -eq $code ]] || fail "exit code $got, not $code: $(cat "$folder/lines")"
    grep -qF -- "$words" "$folder/lines" || fail "no '$words' in: $(cat "$folder/lines")"
    [[ $(wc -l <"$folder/lines") -eq $# ]] || fail "not a line a file: $(cat "$folder/lines")"
}

if "$@" "$program" --die "$folder/killed" 2>"$folder/words"; then
    cat "$folder/words" >&2
    fail "the run was to be killed, but ended well"
fi
"$@" "$program" --reference "$folder/reference"

cd "$folder/killed"
[[ -z "$(find . -name '*.nc')" ]] || fail "a killed run gave a file its own name"
expect 1 "truncated inside its header" early.nc
[[ -f early.nc.part && ! -e early.nc ]] || fail "early.nc was changed"
rm early.nc.part

files=(*.part)
wanted=30
[[ "${THALWEG_TEST_STORAGE:-pnetcdf}" == pnetcdf ]] || wanted=15
[[ ${#files[@]} -eq $wanted ]] || fail "${#files[@]} files"
half=${#files[@]}/2
expect 0 "cdf1-posix-records.nc: 2 records recovered; " "${files[@]:0:half}"
expect 0 "cdf5-posix-records.nc: 2 records recovered; " "${files[@]:half}"
[[ -z "$(find . -name '*.part')" ]] || fail "temporary names are left"
for file in *.nc; do
    # PnetCDF counts a record as soon as it writes to it, and does not write padding.
    began=0
    if [[ "$file" == *-pnetcdf-* ]]; then
        began=1
        "$program" --compare "$file" "../reference/$file" || fail "$file has other values"
    else
        cmp "$file" "../reference/$file"
    fi
    [[ -z "$ncvalidator" ]] || "$ncvalidator" -q "$file" || fail "$file is not valid"
    ncdump -h "$file" >"$folder/header"
    case "$file" in
        *-fixed.nc) ! grep -q UNLIMITED "$folder/header" ;;
        *-begun.nc) grep -q 'time = UNLIMITED ; // ('$began' currently)' "$folder/header" ;;
        *) grep -q 'time = UNLIMITED ; // ('$((began + 2))' currently)' "$folder/header" ;;
    esac || fail "$file: $(cat "$folder/header")"
done

echo "no netCDF" >garbage.nc.part
expect 1 "cdf2-posix-records.nc: 2 records, already complete" cdf2-posix-records.nc missing.nc garbage.nc
grep -q "^missing.nc: neither this file" "$folder/lines" || fail "missing.nc: $(cat "$folder/lines")"
grep -q "^garbage.nc.part: not a valid classic" "$folder/lines" || fail "garbage.nc"
[[ "$(cat garbage.nc.part)" == "no netCDF" && ! -e garbage.nc ]] || fail "garbage.nc was changed"
cmp cdf2-posix-records.nc ../reference/cdf2-posix-records.nc

# A file that already has its final name, with half a record after its last complete one.
cat garbage.nc.part >>cdf2-posix-records.nc
expect 0 "10 bytes cut off" cdf2-posix-records.nc
cmp cdf2-posix-records.nc ../reference/cdf2-posix-records.nc

# Test other uses of the program.
code=0
"$thalweg" recover >/dev/null 2>&1 || code=$?
[[ $code -eq 2 ]] || fail "no files: exit code $code"
"$thalweg" --help | grep -q recover || fail "--help"
"$thalweg" --version | grep -qE '^thalweg [0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"
THALWEG_METHOD=slabs "$thalweg" settings | grep -E '^method +slabs +environment' >/dev/null || fail "settings"
code=0
THALWEG_METHOD=fast "$thalweg" settings >/dev/null 2>"$folder/words" || code=$?
[[ $code -eq 1 ]] && grep -q "'fast'" "$folder/words" || fail "settings that are not allowed"
echo "recover.sh: ok"
