#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hello.sh PROGRAM_C PROGRAM_FORTRAN MPIRUN [FLAGS...] -n
# Checks that the C program and the Fortran program write the same file on any number of ranks, and
# that the programs that read it print the same text.
set -eu
c=$1
fortran=$2
shift 2
launch=("$@")

rm -rf hello
mkdir hello
cd hello
"${launch[@]}" 1 "$c"
mv hello.nc reference.nc
for ranks in 1 2 3 7; do
    for program in "$c" "$fortran"; do
        "${launch[@]}" $ranks "$program"
        cmp reference.nc hello.nc
        rm hello.nc
    done
done

"${launch[@]}" 2 "$c"
for ranks in 1 3; do
    "${launch[@]}" $ranks "${c/hello_c/restart_c}" | sort >c.txt
    "${launch[@]}" $ranks "${fortran/hello_f90/restart_f90}" | sort >f90.txt
    cmp c.txt f90.txt
    grep -q '276.00  275.00' c.txt
    test "$(wc -l <c.txt)" -eq $ranks
    "${launch[@]}" $ranks "${c/hello_c/forcing_c}" | sort >c.txt
    "${launch[@]}" $ranks "${fortran/hello_f90/forcing_f90}" | sort >f90.txt
    cmp c.txt f90.txt
    grep -q 'rank 0, step 3:   276.00' c.txt
    test "$(wc -l <c.txt)" -eq $((3 * ranks))
done

# Programs that write records in any order.
"${launch[@]}" 1 "${c/hello_c/records_c}"
mv records.nc reference.nc
ncdump -v flow reference.nc | grep -q '1, 1, 7, 1'
for ranks in 1 3 7; do
    for program in "${c/hello_c/records_c}" "${fortran/hello_f90/records_f90}"; do
        "${launch[@]}" $ranks "$program"
        cmp reference.nc records.nc
        rm records.nc
    done
done

# Programs that use lists of indices.
"${launch[@]}" 1 "${c/hello_c/columns_c}"
mv columns.nc reference.nc
for ranks in 1 3 7; do
    for program in "${c/hello_c/columns_c}" "${fortran/hello_f90/columns_f90}"; do
        "${launch[@]}" $ranks "$program"
        cmp reference.nc columns.nc
        rm columns.nc
    done
done

# A history with coordinates, without and with servers.
history="${fortran/hello_f90/history_f90}"
"${launch[@]}" 1 "$history"
mv history.nc reference.nc
for ranks in 2 3; do
    for service in inline background servers; do
        THALWEG_SERVICE=$service THALWEG_SERVERS=$([[ $service == servers ]] && echo 1 || echo 0) \
            "${launch[@]}" $ranks "$history"
        cmp reference.nc history.nc
        rm history.nc
    done
done
# If a file cannot be created, the program prints the reason and continues.
mkdir history.nc
"${launch[@]}" 2 "$history" | grep -q 'without a history: .*Is a directory'
# If a session cannot begin, both programs print the reason.
for program in "$c" "$fortran"; do
    if THALWEG_METHOD=fast "${launch[@]}" 1 "$program" 2>why.txt; then exit 1; fi
    grep -q "'method'.*'fast'" why.txt
done
