#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# full_disk.sh PROGRAM SHIM LAUNCHER...: runs the program, with the shim preloaded, on a disk that
# becomes full. The disk is a tmpfs; without the right to mount one the test is left out.
set -u
program=$1 shim=$2
shift 2
folder=$(mktemp -d)
trap 'umount "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0
for ranks in 1 3; do
    for mode in 0x20 0x1000; do
        for service in inline background; do
            mount -t tmpfs -o size=20m thalweg "$folder" 2>/dev/null || exit 77
            timeout 60 "$@" "$ranks" env LD_PRELOAD="$shim" THALWEG_SERVICE=$service \
                "$program" "$folder/a.nc" $mode 28 ||
                { echo "failed: $ranks ranks, mode $mode, $service"; failed=1; }
            umount "$folder"
        done
    done
done
exit $failed
