#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pace.sh PROGRAM MPIEXEC...: checks that everything that clients put, in any order, is written once
# and in large writes, and that no put waits for buffer space.
set -euo pipefail

program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export THALWEG_SUMMARY=summary.json

figure() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" summary.json | head -n 1
}

# expect FILE: checks figures of the summary.
expect() {
    local size bytes writes
    size=$(stat -c %s "$1")
    bytes=$(figure bytes)
    writes=$(figure writes)
    if ((bytes > size || bytes < size - 8192 || writes > 20 || $(figure queue_waits) > 0)); then
        echo "$1: $size bytes; $bytes were written in $writes writes; $(figure queue_waits) waits"
        exit 1
    fi
}

"$@" 4 "$program" blocks . 6
expect blocks.nc
"$@" 4 "$program" rows . 3000
expect rows.nc
echo "cfio pace: ok"
