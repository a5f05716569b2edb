#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# small_disk.sh PROGRAM LAUNCHER...: tests a disk that becomes full while a file is defined, written
# or closed. PROGRAM is faults_small_disk, which checks that all ranks get TW_EIO.
# The disk is a tmpfs; without the right to mount one the test is left out.
set -u
program=$1
shift
launch=("$@")
folder=$(mktemp -d)
trap 'umount "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0
written=0
full=0
# run SESSION FORMAT KiB...: runs the program on disks of these sizes.
run() {
    local session=$1 format=$2 kib
    shift 2
    for kib in "$@"; do
        if ! mount -t tmpfs -o size=${kib}k thalweg "$folder" 2>/dev/null; then
            echo "small_disk: left out: no right to mount a small tmpfs"
            exit 77
        fi
        text=$(timeout 60 "${launch[@]}" 3 "$program" "$folder/a.nc" "$session" "format=$format" 2>&1)
        code=$?
        if [ $code -ne 0 ]; then
            echo "small_disk: $session, $format, $kib KiB: exit code $code"
            echo "$text" | head -20
            failed=1
        elif [[ $text == *written* ]]; then
            written=$((written + 1))
        else
            full=$((full + 1))
        fi
        umount "$folder"
    done
}
run service=inline cdf2 4 8 12 16 64
run service=inline "cdf5; method=direct" 4 8 12 16
run service=background cdf2 4 8 12 16
run "service=servers; servers=1" cdf2 4 8 12 16
run service=inline netcdf4 4 8 16 32 48 80 256
run service=inline "netcdf4; deflate=1" 4 12 24 40
run service=background netcdf4 4 16 40 64
run "service=servers; servers=1" netcdf4 4 16 40 64
run service=inline "zarr; zstd=1" 4 48 80 128 200
run service=background zarr 64 96 128 400
run "service=servers; servers=1" "zarr; zstd=1" 64 96 128 400
echo "small_disk: $written files written, $full disks full"
[ $written -gt 0 ] && [ $full -gt 0 ] && exit $failed
exit 1
