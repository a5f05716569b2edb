#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exits.sh PROGRAM LAUNCHER...: a rank that ends without MPI_Finalize ends the job, without a crash.
set -uo pipefail
program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for service in inline background; do
    for how in "one" "one closed" "finalized" "all" "all closed"; do
        THALWEG_SERVICE="$service" timeout 30 "$@" 3 "$program" $how >out 2>&1
        code=$?
        if [[ $code -eq 0 || $code -eq 124 ]] || grep -qE "Segmentation|on signal|thalweg:" out; then
            echo "exits.sh: $how, service $service: exit code $code"
            cat out
            exit 1
        fi
    done
done
