// Works around a bug of Open MPI's own MPI-IO, OMPIO. Before 4.1.7 and 5.0.6, its aggregators read,
// change and write back ranges that another one is writing, without a lock, and lose its bytes
// (open-mpi/ompi pull request 12756). ROMIO, which Open MPI has, too, does not. MPI reads its
// settings when the process opens its first file by MPI-IO.
// SPDX-License-Identifier: Apache-2.0
#include "storage/pnetcdf/mpi_io.hpp"

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "comm/launcher.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

namespace {

/// Tests if the loaded MPI library, which may differ from that at build time, loses bytes in its
/// MPI-IO.
bool is_faulty() {
    int major = 0, minor = 0, release = 0;
    if (std::sscanf(mpi_name().c_str(), "Open MPI v%d.%d.%d", &major, &minor, &release) != 3)
        return false;
    if (major == 4) return minor < 1 || (minor == 1 && release < 7);
    return major < 4 || (major == 5 && minor == 0 && release < 6);
}

/// Reads Open MPI's settings, as they were when it opened its first file.
class MpiSettings {
public:
    MpiSettings() {
        int level = 0;
        good_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS;
    }
    ~MpiSettings() {
        if (good_) MPI_T_finalize();
    }
    MpiSettings(const MpiSettings&) = delete;
    MpiSettings& operator=(const MpiSettings&) = delete;

    /// Returns the bytes of a setting; empty if there is no such setting.
    std::vector<char> read(const char* name) const {
        int index = 0, count = 0;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        if (!good_ || MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
            MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS)
            return {};
        std::vector<char> bytes(count * sizeof(std::int64_t) + 1, '\0');
        if (MPI_T_cvar_read(handle, bytes.data()) != MPI_SUCCESS) bytes.clear();
        MPI_T_cvar_handle_free(&handle);
        return bytes;
    }

private:
    bool good_ = false;
};

/// Tests if a setting permits OMPIO. The setting lists components to choose from or, after '^',
/// components to leave out; an empty setting permits all components.
bool chooses_ompio(const std::vector<char>& setting) {
    if (setting.empty() || setting[0] == '\0') return true;
    return (std::strstr(setting.data(), "ompio") != nullptr) != (setting[0] == '^');
}

bool is_on(const std::vector<char>& setting) {
    int value = 0;
    if (setting.size() < sizeof value) return false;
    std::memcpy(&value, setting.data(), sizeof value);
    return value != 0;
}

}  // namespace

bool has_pnetcdf() { return true; }

void prepare_mpi_io() {
    if (is_faulty()) setenv("OMPI_MCA_fbtl_posix_write_datasieving", "0", 0);
}

void choose_mpi_io() {
    if (is_faulty()) setenv("OMPI_MCA_io", "^ompio", 0);
}

Status check_mpi_io(const std::string& path) {
    // Check only once: the answer does not change, and a check takes 0.1 s because MPI loads its
    // components each time.
    static const bool loses_bytes = [] {
        if (!is_faulty()) return false;
        const MpiSettings settings;
        return chooses_ompio(settings.read("io")) &&
               is_on(settings.read("fbtl_posix_write_datasieving"));
    }();
    if (!loses_bytes) return {};
    return failure(
        TW_EUNSUPPORTED,
        "{}: storage=pnetcdf: the MPI-IO of {} (OMPIO) loses bytes: choose ROMIO by "
        "OMPI_MCA_io=^ompio in the environment, or call tw_init before the program opens "
        "a file by MPI-IO",
        OfFile{path}, mpi_name());
}

}  // namespace thalweg::detail
