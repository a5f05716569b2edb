// SPDX-License-Identifier: Apache-2.0
#include "front/files.hpp"

#include <cstdint>

namespace thalweg::netcdf {

namespace {

/// Largest number of open files of a library: the high half of an id is the number of the file.
constexpr int most_files = 65536;

std::atomic<File*> files[thalweg_most_libraries][most_files];

std::atomic<File*>& place_of(int library, int id) {
    return files[library][static_cast<std::uint32_t>(id) >> 16];
}

}  // namespace

void File::duplicate_handles() {
    if (!call.parallel) return;
    MPI_Comm_dup(call.comm, &call.comm);
    if (call.info != MPI_INFO_NULL) MPI_Info_dup(call.info, &call.info);
    has_duplicates_ = true;
}

File::~File() {
    int finalized = 0;
    if (has_duplicates_) MPI_Finalized(&finalized);
    if (!has_duplicates_ || finalized != 0) return;
    MPI_Comm_free(&call.comm);
    if (call.info != MPI_INFO_NULL) MPI_Info_free(&call.info);
}

File* find_file(int library, int id) {
    return place_of(library, id).load(std::memory_order_acquire);
}

void add_file(int library, std::unique_ptr<File> file) {
    std::atomic<File*>& place = place_of(library, file->outer);
    delete place.exchange(file.release());
}

void remove_file(int library, int id) { delete place_of(library, id).exchange(nullptr); }

}  // namespace thalweg::netcdf
