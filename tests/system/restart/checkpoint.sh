#!/usr/bin/env bash
# Runs the example of docs/restarts.md: two consecutive runs must give the result of one run on
# another number of ranks.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: checkpoint.sh PROGRAM LAUNCHER...   (LAUNCHER with its flags, up to the number of ranks)
set -euo pipefail
program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$@" 4 "$program" > /dev/null
first="$("$@" 3 "$program" again)"
rm checkpoint.nc
"$@" 1 "$program" > /dev/null
second="$("$@" 2 "$program" again)"
if [ "$first" != "$second" ] || [ "${first%%:*}" != "step 10" ]; then
    echo "checkpoint.sh: '$first' is not '$second'" >&2
    exit 1
fi
echo "$first"
