# SPDX-License-Identifier: Apache-2.0
# Spack recipe for version 2 of Spack's package API; in a repository of packages it lies in
# packages/thalweg/package.py. packaging/release.sh writes a copy with the address and the sum of
# its archive. What lies in a folder, such as an unpacked archive, is built by:
#   spack dev-build -d thalweg-0.1.0 thalweg@0.1.0
# ruff: noqa: F403, F405, I001, RUF012
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Thalweg(CMakePackage):
    """Parallel I/O of Earth-system model fields: standard netCDF files, in the file's own order."""

    homepage = "https://example.org/thalweg"
    url = "https://example.org/thalweg/thalweg-0.1.0.tar.gz"

    maintainers("thalweg")

    tags = ["e4s"]

    license("Apache-2.0", checked_by="thalweg")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Build with MPI; without: for programs of one process")
    variant("netcdf", default=True, description="Write and read netCDF-4 files")
    variant(
        "parallel-netcdf",
        default=True,
        when="+mpi",
        description="storage=pnetcdf: collective MPI-IO",
    )
    variant("fortran", default=True, description="Build the Fortran interface")
    variant("tools", default=True, description="Build the program thalweg")
    variant("unicode", default=True, description="Any Unicode in names in classic files")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    # Generates the sources of PIO's Fortran interface.
    depends_on("python@3.9:", type="build", when="+fortran +netcdf +mpi")

    depends_on("mpi@3.1:", when="+mpi")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:+fmt_external")
    depends_on("tomlplusplus@3.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("xxhash@0.8:")
    depends_on("cli11@2.1:", when="+tools")
    depends_on("netcdf-c@4.9:+mpi", when="+netcdf +mpi")
    depends_on("netcdf-c@4.9:~mpi", when="+netcdf ~mpi")
    depends_on("hdf5@1.10.3:+mpi", when="+netcdf +mpi")
    depends_on("hdf5@1.10.3:~mpi", when="+netcdf ~mpi")
    depends_on("libdeflate@1.14:", when="+netcdf")
    depends_on("zstd@1.5:", when="+netcdf")
    depends_on("parallel-netcdf@1.12:", when="+parallel-netcdf")
    depends_on("utf8proc@2.8:", when="+unicode")

    conflicts("%gcc@:11", msg="C++20 needs GCC 12 or newer")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("THALWEG_MPI", "mpi"),
            self.define_from_variant("THALWEG_NETCDF4", "netcdf"),
            self.define_from_variant("THALWEG_PNETCDF", "parallel-netcdf"),
            self.define_from_variant("THALWEG_UTF8PROC", "unicode"),
            self.define_from_variant("THALWEG_BUILD_FORTRAN", "fortran"),
            self.define_from_variant("THALWEG_BUILD_APP", "tools"),
            self.define("THALWEG_BUILD_LAB", False),
            self.define("THALWEG_BUILD_EXAMPLES", False),
            self.define("THALWEG_BUILD_TESTS", False),
        ]
