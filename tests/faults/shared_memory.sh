#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shared_memory.sh PROGRAM LAUNCHER...: tests runs with too little shared memory. PROGRAM is
# faults_small_disk, which writes a small file.
#
# A limit on the size of files also applies to shared memory, so the test needs no special rights.
# If the user may mount file systems, the test also uses a /dev/shm of 64 MB, as in a container.
set -u
program=$1
shift
if ! "$1" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE'; then
    echo "shared_memory: skipped: other MPIs cannot start under such limits"
    exit 77
fi
folder=$(mktemp -d)
export OMPI_MCA_btl_vader_backing_directory="$folder" OMPI_MCA_orte_tmpdir_base="$folder"
trap 'rm -rf "$folder"' EXIT
failed=0
# expect CASE WORDS COMMAND...: the command must succeed, write the file, and print the words once.
expect() {
    local case=$1 words=$2
    shift 2
    text=$(timeout 60 "$@" 2>&1)
    code=$?
    if [ $code -ne 0 ] || [[ $text != *written* ]] ||
        { [ -n "$words" ] && [ "$(grep -c "$words" <<<"$text")" -ne 1 ]; }; then
        echo "shared_memory: $case: exit code $code"
        echo "$text" | head -20
        failed=1
    fi
    rm -f "$folder"/a.nc*
}
limited() { # limited KIB RANKS SESSION FILE LAUNCHER...: limits the size of files
    local kib=$1 ranks=$2 session=$3 settings=$4
    shift 4
    command=("$@" "$ranks" bash -c "trap '' XFSZ; ulimit -f $kib; exec \"\$0\" \"\$@\"" "$program"
        "$folder/a.nc" "$session" "$settings")
}
# The session needs 24 MiB, so this limit is too small.
limited $((10 * 1024)) 3 "log=warning" "" "$@"
expect "10 MiB for 3 ranks" "little memory is free: the exchange buffers of the 3 ranks" "${command[@]}"
limited $((10 * 1024)) 3 "log=warning; node_size=2" "" "$@"
expect "10 MiB for nodes of 2 ranks" "little memory is free: the exchange buffers of the 2 ranks" \
    "${command[@]}"
limited 1024 3 "log=warning" "queue=2MiB; service=background" "$@"
expect "no room for the queue" "service=background is not possible, using inline" "${command[@]}"
# Not even the minimum is available: all ranks get an error that names the size.
limited 200 3 "log=warning" "" "$@"
text=$(timeout 60 "${command[@]}" 2>&1)
if ! grep -q "not enough memory for exchange buffers: the 3 ranks of a node need at least 393216 bytes" <<<"$text" ||
    ! grep -q "limit of 204800 bytes on files and shared memory: see ulimit -f" <<<"$text"; then
    echo "shared_memory: 200 KiB for 3 ranks"
    echo "$text" | head -20
    failed=1
fi
rm -f "$folder"/a.nc*
# A /dev/shm as small as a container's.
if unshare -m mount -t tmpfs -o size=64m thalweg /dev/shm 2>/dev/null; then
    for settings in "" "service=background"; do
        expect "64 MB in /dev/shm, '$settings'" "" unshare -m bash -c \
            'mount -t tmpfs -o size=64m thalweg /dev/shm && exec "$0" "$@"' "$@" 8 "$program" \
            "$folder/a.nc" "log=warning" "$settings"
    done
fi
exit $failed
