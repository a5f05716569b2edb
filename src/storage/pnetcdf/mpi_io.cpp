// Before 4.1.7 and 5.0.6, the aggregators of Open MPI's own MPI-IO, OMPIO, read, change and write
// back ranges that another one is writing, without a lock, and lose its bytes (open-mpi/ompi pull
// request 12756). ROMIO, which Open MPI has, too, does not. MPI reads its settings when the process
// opens its first file by MPI-IO.
// SPDX-License-Identifier: Apache-2.0
#include "storage/pnetcdf/mpi_io.hpp"

#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "comm/launcher.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

namespace {

/// Of the library that is loaded, not the one of the build.
bool is_faulty() {
    int major = 0, minor = 0, release = 0;
    if (std::sscanf(mpi_name().c_str(), "Open MPI v%d.%d.%d", &major, &minor, &release) != 3)
        return false;
    if (major == 4) return minor < 1 || (minor == 1 && release < 7);
    return major < 4 || (major == 5 && minor == 0 && release < 6);
}

/// A setting of Open MPI's that is on or off; false where there is none of that name.
bool is_on(const char* name) {
    int level = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return true;
    int index = 0, count = 0, value = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    bool on = false;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
        on = count != 1 || MPI_T_cvar_read(handle, &value) != MPI_SUCCESS || value != 0;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return on;
}

/// ROMIO adds hints of its own to those of a file.
bool uses_romio(int ncid) {
    MPI_Info info = MPI_INFO_NULL;
    if (ncmpi_inq_file_info(ncid, &info) != NC_NOERR || info == MPI_INFO_NULL) return false;
    int keys = 0;
    bool found = false;
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys && !found; ++i) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        MPI_Info_get_nthkey(info, i, key);
        found = std::strncmp(key, "romio_", 6) == 0;
    }
    MPI_Info_free(&info);
    return found;
}

constexpr char sieving[] = "fbtl_posix_write_datasieving";

}  // namespace

bool has_pnetcdf() { return true; }

void prepare_mpi_io() {
    if (is_faulty()) setenv("OMPI_MCA_fbtl_posix_write_datasieving", "0", 0);
}

void choose_mpi_io() {
    if (is_faulty()) setenv("OMPI_MCA_io", "^ompio", 0);
}

Status check_mpi_io(int ncid, const std::string& path) {
    if (!is_faulty() || uses_romio(ncid) || !is_on(sieving)) return {};
    return failure(
        TW_EUNSUPPORTED,
        "{}: storage=pnetcdf: the MPI-IO of {} (OMPIO) loses bytes: choose ROMIO by "
        "OMPI_MCA_io=^ompio in the environment, or call tw_init before the program opens "
        "a file by MPI-IO",
        path, mpi_name());
}

}  // namespace thalweg::detail
