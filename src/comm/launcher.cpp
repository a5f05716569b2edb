// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>

namespace thalweg::detail {

namespace {

/// Returns a number of processes from an environment variable; 0 if it is not set.
int number(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

std::string mpi_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string name(text, length);
    for (char& c : name)
        if (c == '\t') c = ' ';
    // MPICH returns "MPICH Version:  4.0.2" and further lines about its build.
    name.resize(std::min(name.size(), name.find_first_of(",\n")));
    if (const auto at = name.find(" Version:"); at != std::string::npos) name.erase(at, 9);
    while (name.find("  ") != std::string::npos) name.erase(name.find("  "), 1);
    while (!name.empty() && (name.back() == '\0' || name.back() == ' ')) name.pop_back();
    return name;
}

Status check_launcher() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 1) return {};
    // Launchers set a variable to the number of processes: Open MPI's launcher sets the first one;
    // srun and the launchers of MPICH and its descendants set the second one.
    const int by_open_mpi = number("OMPI_COMM_WORLD_SIZE"), by_pmi = number("PMI_SIZE");
    const std::string own = mpi_name();
    const bool open_mpi = own.rfind("Open MPI", 0) == 0;
    const int started = open_mpi ? by_pmi : by_open_mpi;
    if (started <= 1 || (open_mpi ? by_open_mpi : by_pmi) > 0) return {};
    return failure(
        TW_EMPI,
        "{} processes were started by the launcher of {}, but the program is linked with "
        "{}, for which each of them is alone: use the mpirun of that MPI",
        started, open_mpi ? "another MPI (MPICH's mpirun, or srun)" : "Open MPI", own);
}

int processes_of_node() {
    int most = 0;
    // variables of Open MPI, MPICH and MVAPICH
    for (const char* name :
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"})
        most = std::max(most, number(name));
    return most;
}

}  // namespace thalweg::detail
