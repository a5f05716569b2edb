#!/usr/bin/env bash
# Kills runs at one of their writes while they write random batches: all records that the headers of
# their files count must be right.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: batches_killed.sh PROGRAM INJECT RUNS FIRST LAUNCHER...
# INJECT is the library of faults; RUNS of each service; FIRST is the first seed.
set -euo pipefail
program="$1" inject="$2" runs="$3" first="$4"
shift 4
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
folders=()
for service in "|inline" "node_size=2|inline" "|background" "node_size=2|background" \
    "servers=1|servers" "servers=2:last; node_size=2|servers"; do
    for ((seed = first; seed < first + runs; ++seed)); do
        run="$folder/${#folders[@]}"
        mkdir "$run"
        folders+=("$run")
        # The first process that makes this number of writes is killed, and the launcher ends the
        # others.
        if ! "$@" env LD_PRELOAD="$inject" THALWEG_FAULT_PATH=batches.nc THALWEG_FAULT_KIND=kill \
            THALWEG_FAULT_AT="$((1 + seed * 7919 % 61))" \
            "$program" --die "$seed" "$run" "${service%|*}" "service=${service#*|}" \
            >"$run/output" 2>&1 && grep -E 'FAILED|HANG' "$run/output"; then
            exit 1
        fi
    done
done
"${@:1:$#-1}" 1 "$program" --look "${folders[@]}"
