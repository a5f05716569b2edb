# SPDX-License-Identifier: Apache-2.0
# Installs missing packages: Debian packages, and Python packages into build/venv.

# Debian packages; docs/dependencies.md says what each is for.
packages=(
    g++ gfortran cmake ninja-build ccache pkg-config
    openmpi-bin libopenmpi-dev
    libpnetcdf-dev pnetcdf-bin libutf8proc-dev
    libnetcdf-mpi-dev libhdf5-openmpi-dev libnetcdf-dev netcdf-bin libnetcdff-dev
    libdeflate-dev libzstd-dev
    libspdlog-dev libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libxxhash-dev libcli11-dev
    libgtest-dev zlib1g-dev hdf5-tools clang-format python3 python3-dev python3-venv
    iproute2
)
# Packages for THALWEG_MPI=mpich.
mpich_packages=(
    mpich libmpich-dev libhdf5-dev
)
[[ "$mpi" != mpich ]] || packages+=("${mpich_packages[@]}")
# Packages for ./run test --all, which shows pages in a browser.
browser_packages=(
    chromium nodejs
)
# Packages for ./run scale and ./run test --all.
simulator_packages=(
    libsimgrid-dev
)

# Packages for ./run test --all, which writes to a disk over the network.
network_disk_packages=(
    sshfs openssh-sftp-server
)

# Packages for ./run test --all, which compares the statistics of histories with those of other
# programs.
statistics_packages=(
    cdo nco
)

# missing_packages PACKAGES...: prints the packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] ||
            echo "$package"
    done
}

as_root() {
    if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# install_packages [more packages]: installs the missing packages of `packages`, and those given.
install_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: CMake names missing packages
    local missing
    mapfile -t missing < <(missing_packages "${packages[@]}" "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${missing[*]}"
    if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
        die "neither root nor sudo: ask an administrator for
  apt-get install ${missing[*]}"
    fi
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
    quietly "apt-get update" as_root "${apt[@]}" update ||
        die "apt-get update failed"
    quietly "apt-get install" as_root "${apt[@]}" install -y --no-install-recommends \
        "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
}

# Installs a browser, if the user may do that; otherwise the reports are not checked in one.
install_browser() {
    [[ $EUID -eq 0 ]] || command -v sudo >/dev/null || return 0
    install_packages "${browser_packages[@]}"
}

# has_venv FOLDER REQUIREMENTS: tests if the Python packages in FOLDER are up to date.
has_venv() {
    cmp -s "$2" "$1/requirements.txt"
}

has_python() {
    has_venv "$venv" tests/requirements.txt
}

# Installs the Python packages of the tests if tests/requirements.txt has changed.
install_python() {
    install_venv "$venv" tests/requirements.txt
}

# install_venv FOLDER REQUIREMENTS: installs Python packages into FOLDER if they are not up to date.
install_venv() {
    ! has_venv "$@" || return 0
    mkdir -p build
    quietly "Python packages into $1" make_venv "$@" || die "Python packages are missing"
}

make_venv() {
    rm -rf "$1" &&
        python3 -m venv "$1" &&
        "$1/bin/pip" install --quiet --no-compile --disable-pip-version-check -r "$2" &&
        cp "$2" "$1/requirements.txt"
}
