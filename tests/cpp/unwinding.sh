#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unwinding.sh PROGRAM LAUNCHER...: checks exceptions on one rank. An exception ends the program and
# its text is shown; the steps before it can be recovered. A program that goes on to MPI_Finalize
# ends, too. A program that begins another session writes its file.
set -u
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for settings in "" "node_size=2" "service=background" "servers=1; service=servers" \
    "storage=${THALWEG_TEST_STORAGE:-pnetcdf}" "format=netcdf4; watchdog=5"; do
    rm -f "$folder"/history.nc*
    text=$(timeout 40 "$@" 4 "$program" "$folder" "$settings" abort 2>&1)
    code=$?
    if [ $code -eq 0 ] || [ $code -eq 124 ] || [ "$(grep -c "caught:" <<<"$text")" -ne 1 ] ||
        ! grep -q "caught: the model has blown up" <<<"$text" || grep -q "Alarm" <<<"$text"; then
        echo "unwinding with '$settings': exit code $code"
        echo "$text"
        failed=1
    fi
    if ! [ -e "$folder/history.nc.part" ]; then
        echo "unwinding with '$settings': history.nc.part is gone"
        failed=1
    fi
    for mode in finalize return again; do
        rm -f "$folder"/history.nc*
        text=$(timeout 40 "$@" 4 "$program" "$folder" "$settings" $mode 2>&1)
        code=$?
        case $mode in
            finalize) words="caught: the model has blown up|caught: rank . has abandoned the session" ;;
            return) words="caught: .*the ranks are in different calls" ;;
            again) words="caught: the model has blown up" ;;
        esac
        left=history.nc.part
        [ $mode != again ] || left=history.nc
        if [ $code -ne 0 ] || grep "caught:" <<<"$text" | grep -qvE "$words" ||
            ! grep -qE "$words" <<<"$text" || ! [ -e "$folder/$left" ]; then
            echo "$mode with '$settings': exit code $code, files $(cd "$folder" && ls -A)"
            echo "$text"
            failed=1
        fi
    done
done
exit $failed
