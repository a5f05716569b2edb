#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cmake -S "$SRC_DIR" -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DTHALWEG_NETCDF4=ON -DTHALWEG_PNETCDF=ON -DTHALWEG_UTF8PROC=ON \
    -DTHALWEG_BUILD_LAB=OFF -DTHALWEG_BUILD_EXAMPLES=OFF -DTHALWEG_BUILD_TESTS=OFF
cmake --build build/conda
cmake --install build/conda
