#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# accepted.sh PROGRAM LAUNCHER...: ends runs in several ways after their steps were
# accepted. Each run must end soon, and its steps must be recoverable, with every service; the
# format changes from case to case.
set -u
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
# run HOW RANKS SETTINGS FILE_SETTINGS: ends a run in one way, and checks its steps.
run() {
    local how=$1 ranks=$2 wrong=""
    rm -rf "${folder:?}"/* "$folder"/.[as]*
    timeout 120 "${launcher[@]}" "$ranks" "$program" "$how" "$folder" "log=off; $3" "$4" \
        >"$folder/text" 2>&1
    local code=$?
    case $how in
        one*|all*|abort|terminate) [ $code -ne 0 ] && [ $code -ne 124 ] || wrong="exit code $code" ;;
        *) [ $code -eq 0 ] || wrong="exit code $code" ;;
    esac
    local most=30
    [ "$how" != "another step" ] || most=31
    [ -n "$wrong" ] || wrong=$("$program" look "$folder" 30 $most 2>&1) || wrong+=" look failed"
    ! ls -A "$folder" | grep -q places || wrong+=" left $(ls -A "$folder")"
    if [ -n "$wrong" ]; then
        echo "accepted.sh: $how, $ranks ranks, '$3', '$4': $wrong"
        head -20 "$folder/text"
        failed=1
    fi
}
launcher=("$@")
formats=("" "format=netcdf4" "format=netcdf4; deflate=1")
turn=0
for how in "late attribute" "sync and close" "missing" "another step" "cancel" "abandon" \
    "MPI_Finalize" "abort" "one in tw_close" "one in tw_end_step" "all exit" "terminate" "one with static objects"; do
    run "$how" 2 "service=inline" "${formats[turn % 3]}"
    run "$how" 3 "service=background; writers=2" "${formats[(turn + 2) % 3]}"
    run "$how" 4 "service=servers; servers=2" "${formats[(turn + 1) % 3]}"
    turn=$((turn + 1))
    # Leave out these ways, because nodes inform each other of records only when ranks end a step.
    case $how in one*|all*|abort|terminate) continue ;; esac
    run "$how" 2 "service=background; node_size=1" "format=netcdf4; deflate=1"
done
exit $failed
