#!/usr/bin/env bash
# Checks that a killed run leaves every record whose step has ended readable.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: killed.sh PROGRAM LAUNCHER...   (LAUNCHER with its flags and the number of ranks)
set -euo pipefail
program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder" "$folder.log"' EXIT
for run in "storage=posix" "storage=netcdf4" "storage=netcdf4; deflate=1" \
    "storage=posix --again" "storage=posix; method=direct --again"; do
    settings="${run% --again}"
    again="${run#"$settings"}"
    rm -rf "$folder" && mkdir "$folder"
    if "$@" "$program" --die "$folder" --settings "$settings" $again 2>"$folder.log"; then
        echo "killed.sh: the run was to be killed, but ended well ($run)" >&2
        exit 1
    fi
    "$program" --look "$folder"
done
