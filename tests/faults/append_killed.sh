#!/usr/bin/env bash
# A run that is killed while it appends to a file must leave every record that was committed, and a
# file that can be read and appended to, before and after `thalweg recover`.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: append_killed.sh PROGRAM INJECT THALWEG LAUNCHER...   (LAUNCHER with its flags and the
# number of ranks)
set -euo pipefail
program="$1" inject="$2" thalweg="$3"
shift 3
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
# Fields of each run: the call of rank 0 at which it is killed, the session's settings, and the
# file's settings.
for run in "1::" "4::" "5:method=direct:" "7:service=background:" "2::format=netcdf4" \
    "6::format=netcdf4;deflate=1" "9:service=background:format=netcdf4;deflate=1" \
    "5::method=tiles;files=tiles;tiles=2x2" \
    "8::method=tiles;files=tiles;tiles=2x2;format=netcdf4;deflate=1"; do
    IFS=: read -r at settings created <<<"$run"
    rm -rf "${folder:?}"/*
    if LD_PRELOAD="$inject" TMPDIR="$folder" "$@" "$program" --grow "$folder/grows.nc" \
        --at "$at" --settings "$settings" --created "$created" >"$folder/words" 2>&1; then
        cat "$folder/words" >&2
        echo "append_killed.sh: the run was to be killed, but ended well ($run)" >&2
        exit 1
    fi
    if grep -q "FAILED\|HANG" "$folder/words"; then
        cat "$folder/words" >&2
        exit 1
    fi
    if [[ "$created" == *files=tiles* ]]; then
        "$thalweg" repack --common-records "$folder/grows.nc" "$folder/joined.nc"
        [[ ! -f "$folder/grows.nc.committed" ]] || mv "$folder"/{grows,joined}.nc.committed
        "${@:1:$#-1}" 1 "$program" --look "$folder/joined.nc"
        continue
    fi
    "${@:1:$#-1}" 1 "$program" --look "$folder/grows.nc"
    "$thalweg" recover "$folder/grows.nc"
    "${@:1:$#-1}" 1 "$program" --look "$folder/grows.nc"
done
