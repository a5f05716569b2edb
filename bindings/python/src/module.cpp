// thalweg._core: the C functions as Python classes. Only the package's Python files use it; they
// check arguments and convert them to the types below.
// SPDX-License-Identifier: Apache-2.0
#include <link.h>

#include <cstring>

#include "session.hpp"

namespace thalweg::python {

namespace {

/// Returns the paths of the MPI libraries in this process.
nb::list mpi_libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void* to) {
            const char* base = std::strrchr(library->dlpi_name, '/');
            base = base == nullptr ? library->dlpi_name : base + 1;
            if (std::strncmp(base, "libmpi.so", 9) == 0 ||
                std::strncmp(base, "libmpich.so", 11) == 0)
                static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
            return 0;
        },
        &paths);
    nb::list list;
    for (const std::string& path : paths) list.append(path);
    return list;
}

std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return text;
}

/// Returns the number of ranks of the program; 1 before MPI has started.
int world_size() {
    int size = 1, started = 0, over = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&over);
    if (started && !over) MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

bool mpi_is_over() {
    int over = 0;
    MPI_Finalized(&over);
    return over != 0;
}

bool mpi_is_running() {
    int started = 0;
    MPI_Initialized(&started);
    return started && !mpi_is_over();
}

void finalize_mpi() {
    if (!mpi_is_running()) return;
    nb::gil_scoped_release release;
    MPI_Finalize();
}

std::string recover(const std::string& path, bool replace_longer) {
    char text[4096] = "";
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        outcome.code = tw_recover(path.c_str(), replace_longer ? TW_REPLACE_LONGER : TW_KEEP_LONGER,
                                  text, sizeof text);
    }
    outcome.text = *text == '\0' ? tw_strerror(outcome.code) : text;
    check(outcome, {path, {}, false});
    return text;
}

}  // namespace

NB_MODULE(_core, module) {
    module.def("set_error_class", &set_error_class);
    nb::dict codes;
#define THALWEG_STATUS(name, value, text) codes[#name] = value;
    TW_STATUS_TABLE(THALWEG_STATUS)
#undef THALWEG_STATUS
    module.attr("codes") = codes;
    module.def("mpi_libraries", &mpi_libraries);
    module.def("mpi_version", &mpi_version);
    module.def("world_size", &world_size);
    module.def("mpi_is_over", &mpi_is_over);
    module.def("mpi_is_running", &mpi_is_running);
    module.def("finalize_mpi", &finalize_mpi);
    module.def("recover", &recover);
    bind_session(module);
    bind_file(module);
    bind_restart(module);
    bind_history(module);
}

}  // namespace thalweg::python
