#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh WAY BUILD FOLDER: installs the library from BUILD into FOLDER/prefix, moves the installed
# tree elsewhere, builds the hello programs and those for CFIO and PIO against it, and runs them.
# WAY is cmake (find_package) or pkgconfig. MPIEXEC: the launcher with its flags. MPICC, MPICXX,
# MPIFORT: the compiler wrappers.
set -euo pipefail

way="$1"
build="$2"
folder="$3"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
hello="$here/../../examples/hello"
read -ra mpiexec <<<"${MPIEXEC:-mpirun}"
mpicc="${MPICC:-mpicc}" mpicxx="${MPICXX:-mpicxx}" mpifort="${MPIFORT:-mpifort}"
choose_mpi=(-DMPI_C_COMPILER="$mpicc" -DMPI_CXX_COMPILER="$mpicxx" -DMPI_Fortran_COMPILER="$mpifort")

install_library() {
    rm -rf "$folder"
    mkdir -p "$folder/out"
    cmake --install "$build" --prefix "$folder/installed" >/dev/null
    mv "$folder/installed" "$folder/prefix" # the installed tree works after a move
    prefix="$folder/prefix"
    libdir="$(dirname "$(find "$prefix" -name libthalweg.so | head -n 1)")"
}

# Builds projects in one language, which must not need the compiler of another language, and one
# project in all languages.
build_with_cmake() {
    local languages
    for languages in "C" "CXX" "Fortran" "C;CXX;Fortran"; do
        rm -rf "$folder/build"
        cmake -S "$here/project" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
            -DHELLO="$hello" -DUSER_LANGUAGES="$languages" "${choose_mpi[@]}"
        cmake --build "$folder/build"
    done
    # The project of docs/first-steps.md.
    cmake -S "$hello" -B "$folder/first" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "${choose_mpi[@]}"
    cmake --build "$folder/first"
    cp "$folder/first/hello" "$folder/out/first"
    find "$folder/build" -maxdepth 1 -type f -perm -u+x -exec cp {} "$folder/out/" \;
}

# A library that was built with another compiler or MPI is refused, with the reason.
refuse_with_cmake() {
    local config what="$1" pattern="$2" reason="$3" text
    rm -rf "$folder/other" "$folder/build"
    cp -r "$prefix" "$folder/other"
    config="$(find "$folder/other" -name thalwegConfig.cmake)"
    sed -i "s/$what/$pattern/" "$config"
    if text="$(cmake -S "$here/project" -B "$folder/build" -G Ninja -DHELLO="$hello" \
        -DCMAKE_PREFIX_PATH="$folder/other" -DUSER_LANGUAGES="C;CXX;Fortran" \
        "${choose_mpi[@]}" 2>&1)"; then
        echo "package: not refused: $reason"
        return 1
    fi
    grep -q "$reason" <<<"$(tr -s '\n ' ' ' <<<"$text")"
}

build_with_pkgconfig() {
    export PKG_CONFIG_PATH="$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
    local program compiler source name package flags
    for program in \
        "$mpicc hello_c thalweg $hello/hello.c" \
        "$mpicxx hello_cpp thalweg $hello/hello.cpp" \
        "$mpifort hello_f90 thalweg-fortran $hello/hello.f90" \
        "$mpicc cfio_c thalweg-cfio $here/project/cfio.c" \
        "$mpicc pio_c thalweg-pio $here/project/pio.c" \
        "$mpifort pio_f90 thalweg-pio-fortran $here/project/pio.f90" \
        "$mpifort cfio_f90 thalweg-cfio-fortran $here/project/cfio.f90"; do
        read -r compiler name package source <<<"$program"
        read -ra flags <<<"$(pkg-config --cflags --libs "$package")"
        [[ "$compiler" != "$mpicxx" ]] || flags+=(-std=c++20)
        "$compiler" "$source" -o "$folder/out/$name" "${flags[@]}"
    done
    # Programs without MPI, built by compilers that do not know MPI.
    read -ra flags <<<"$(pkg-config --cflags --libs thalweg)"
    cc "$hello/serial.c" -o "$folder/out/serial_c" "${flags[@]}"
    c++ -std=c++20 "$hello/serial.cpp" -o "$folder/out/serial_cpp" "${flags[@]}"
    read -ra flags <<<"$(pkg-config --cflags --libs thalweg-history)"
    "$mpicc" "$here/../history/models/atmosphere.c" -o "$folder/atmosphere" "${flags[@]}" -lm
    # The command line of docs/first-steps.md.
    "$mpifort" "$hello/hello.f90" -o "$folder/out/first" -I"$prefix/include" -L"$libdir" \
        -Wl,-rpath,"$libdir" -lthalweg_fortran -lthalweg
    [[ ! -f "$libdir/libthalweg_pnetcdf.so" ]] || ! pkg-config --exists pnetcdf || build_for_pnetcdf
}

# Builds a program that calls PnetCDF, with libthalweg_pnetcdf linked first.
build_for_pnetcdf() {
    local flags
    read -ra flags <<<"$(pkg-config --cflags --libs thalweg-pnetcdf pnetcdf)"
    "$mpicc" "$here/project/pnetcdf.c" -o "$folder/out/pnetcdf_c" "${flags[@]}"
}

# Runs these programs, and checks that Thalweg has written their files.
run_for_pnetcdf() {
    local program
    cd "$folder/out"
    for program in pnetcdf_*; do
        [[ -x "$program" ]] || continue
        "${mpiexec[@]}" -n 2 "./$program" pnetcdf.nc 2>told
        grep -q '1 file by Thalweg$' told
        ncdump pnetcdf.nc | grep -q ' v ='
    done
}

# run_program NAME: runs it on 1 and 2 ranks. All runs of all programs write the same file.
run_program() {
    local ranks
    cd "$folder/out"
    for ranks in 1 2; do
        "${mpiexec[@]}" -n "$ranks" "./$1"
        mv hello.nc "$1.p$ranks.nc"
        cmp hello_c.p1.nc "$1.p$ranks.nc"
    done
}

check_file() {
    ncdump "$folder/out/hello_c.p1.nc" >"$folder/out/hello.cdl"
    grep -q 'time = UNLIMITED ; // (3 currently)' "$folder/out/hello.cdl"
    grep -q 'float T(time, lev, lat, lon)' "$folder/out/hello.cdl"
    grep -q 'T:units = "K"' "$folder/out/hello.cdl"
}

install_library
"build_with_$way"
if [[ "$way" == cmake ]]; then
    refuse_with_cmake 'check_fortran(_thalweg_problem "[^"]*"' 'check_fortran(_thalweg_problem "Other"' \
        'its Fortran modules were written by Other'
    refuse_with_cmake 'check_mpi(_thalweg_problem "[^"]*"' 'check_mpi(_thalweg_problem "libmpi.so.1"' \
        'the library was built with the MPI libmpi.so.1, this project uses'
fi
run_program hello_c
run_program hello_cpp
run_program hello_f90
run_program first
for program in serial_c serial_cpp; do
    [[ "$way" == pkgconfig ]] || continue
    "$folder/out/$program"
    cmp hello_c.p1.nc serial.nc
done
"${mpiexec[@]}" -n 2 "$folder/out/cfio_c"
"${mpiexec[@]}" -n 2 "$folder/out/cfio_f90"
"${mpiexec[@]}" -n 2 "$folder/out/pio_f90"
ncdump "$folder/out/pio.nc" | grep -q 'v = 1, 2, 3, 4 ;'
"${mpiexec[@]}" -n 2 "$folder/out/pio_c"
ncdump "$folder/out/pio.nc" | grep -q 'v = 1, 1, 1 ;'
run_for_pnetcdf
check_file
if [[ -x "$prefix/bin/thalweg" ]]; then
    "$prefix/bin/thalweg" recover "$folder/out/hello_c.p1.nc" | grep -q '3 records, already complete'
fi
echo "package ($way): ok"
