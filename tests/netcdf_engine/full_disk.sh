#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# full_disk.sh PROGRAM SHIM INJECT LAUNCHER...: runs the program, with the shim preloaded, on a disk
# that becomes full, with a quota, and with a limit on the size of files. The disk is a tmpfs; it is
# left out without the right to mount one.
set -u
program=$1 shim=$2 inject=$3
shift 3
launcher=("$@")
folder=$(mktemp -d)
trap 'umount "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0
check() { # check CODE RANKS MODE SERVICE PREFIX...: CODE is the system's number of the error
    local code=$1 ranks=$2 mode=$3 service=$4
    shift 4
    timeout 60 "${launcher[@]}" "$ranks" "$@" env THALWEG_SERVICE="$service" \
        "$program" "$folder/a.nc" "$mode" "$code" ||
        { echo "failed: error $code, $ranks ranks, mode $mode, $service"; failed=1; }
    rm -f "$folder"/a.nc*
}
for ranks in 1 3; do
    for mode in 0x20 0x1000; do
        for service in inline background; do
            if mount -t tmpfs -o size=20m thalweg "$folder" 2>/dev/null; then
                check 28 $ranks $mode $service env LD_PRELOAD="$shim"
                umount "$folder"
            fi
            check 122 $ranks $mode $service env LD_PRELOAD="$inject:$shim" \
                THALWEG_FAULT_PATH=a.nc THALWEG_FAULT_AT=8+ THALWEG_FAULT_KIND=edquot
            check 27 $ranks $mode $service \
                bash -c "ulimit -f 20000; LD_PRELOAD=$shim exec \"\$0\" \"\$@\""
        done
    done
done
exit $failed
