#!/usr/bin/env bash
# Checks that a run that is killed while it writes a restart leaves a complete restart under its
# name.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: restart_killed.sh PROGRAM LAUNCHER...   (LAUNCHER with its flags and the number of ranks)
set -euo pipefail
program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder" "$folder.log"' EXIT
for run in "9000:service=inline; node_size=2" "23000:service=background" \
    "12000:service=servers; servers=1"; do
    if "$@" "$program" --die "${run%%:*}" "$folder/restart.nc" "log=off; ${run#*:}" \
        2>"$folder.log"; then
        echo "restart_killed.sh: the run was to be killed, but ended well ($run)" >&2
        exit 1
    fi
    if grep -q FAILED "$folder.log"; then
        cat "$folder.log" >&2
        exit 1
    fi
    "${@:1:$#-1}" 1 "$program" --look "$folder/restart.nc"
done
