// SPDX-License-Identifier: Apache-2.0
#include "doctor/libraries.hpp"

#include <fmt/core.h>
#include <mpi.h>

#ifdef THALWEG_HAVE_NETCDF4
#include <hdf5.h>
#include <netcdf.h>
#endif
#ifdef THALWEG_HAVE_PNETCDF
#include <pnetcdf.h>
#endif

#include "comm/launcher.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::app {

namespace {

/// Returns the first word of a version. For "4.9.0 of Jan 1 2023 ..." it is "4.9.0".
[[maybe_unused]] std::string number_of(const std::string& version) {
    return version.substr(0, version.find(' '));
}

#ifndef THALWEG_SERIAL
void check_mpi(Diagnoses& found) {
    if (const detail::Status status = detail::check_launcher(); !status.ok()) {
        found.push_back(
            {Level::problem, "MPI", status.text, "ldd $(command -v thalweg) | grep mpi"});
        return;
    }
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    found.push_back({Level::good, "MPI",
                     fmt::format("{}, {} rank{}", detail::mpi_name(), ranks, ranks == 1 ? "" : "s"),
                     ""});
    if (ranks == 1)
        found.push_back({Level::note, "MPI",
                         "one process: for what a job will find, start as many "
                         "ranks as it has",
                         "mpirun -n 4 thalweg doctor"});
}
#endif

void check_netcdf4(Diagnoses& found) {
#ifdef THALWEG_HAVE_NETCDF4
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    found.push_back({Level::good, "netCDF-4",
                     fmt::format("netCDF-C {}, HDF5 {}.{}.{}", number_of(nc_inq_libvers()), major,
                                 minor, release),
                     ""});
#else
    found.push_back({Level::note, "netCDF-4",
                     "this build has no netCDF-C and HDF5: classic formats only",
                     "sudo apt install libnetcdf-mpi-dev libhdf5-openmpi-dev  # and build again"});
#endif
}

void check_pnetcdf(Diagnoses& found) {
#ifdef THALWEG_HAVE_PNETCDF
    const std::string version = ncmpi_inq_libvers();
    found.push_back({Level::good, "PnetCDF", number_of(version), ""});
#else
    found.push_back({Level::note, "PnetCDF",
                     "this build has no PnetCDF, which writes on NFS with several nodes",
                     "sudo apt install libpnetcdf-dev  # and build again"});
#endif
}

}  // namespace

void check_libraries(Diagnoses& found) {
    found.push_back({Level::good, "Thalweg",
                     fmt::format("{}.{}.{}", TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH),
                     ""});
#ifndef THALWEG_SERIAL
    check_mpi(found);
#endif
    check_netcdf4(found);
    check_pnetcdf(found);
}

}  // namespace thalweg::app
