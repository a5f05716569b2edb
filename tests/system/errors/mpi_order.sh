#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi_order.sh PROGRAM LAUNCHER...: runs mpi_order with every service.
set -u
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
run() {
    rm -f "$folder"/*
    timeout 60 "$@" 2>"$folder/text"
    code=$?
    if [ $code -ne 0 ] || [ "$(grep -c "MPI_Finalize was called before" "$folder/text")" -ne 1 ]; then
        echo "mpi_order: ${*: -2}: exit code $code"
        cat "$folder/text"
        failed=1
    fi
}
run "$@" 1 "$program" "$folder" "" ""
run "$@" 3 "$program" "$folder" "" "service=inline"
run "$@" 3 "$program" "$folder" "node_size=2" "storage=${THALWEG_TEST_STORAGE:-pnetcdf}"
run "$@" 3 "$program" "$folder" "" "service=background"
run "$@" 3 "$program" "$folder" "" "format=netcdf4"
run "$@" 4 "$program" "$folder" "servers=1" "service=servers"
exit $failed
