// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/front/open_files.hpp"

#include <array>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace thalweg::pnetcdf {

namespace {

constexpr int most_files = 1024;  // PnetCDF's limit

struct Slots {
    std::mutex mutex;
    std::array<std::unique_ptr<OpenFile>, most_files> files;
};

// Returns the files of all ids. They are never destroyed, because destroying a file is collective.
Slots& slots() {
    static auto* const all = new Slots;
    return *all;
}

}  // namespace

const OpenFile* find_file(int id) {
    if (id < 0 || id >= most_files) return nullptr;
    const std::lock_guard lock(slots().mutex);
    return slots().files[static_cast<std::size_t>(id)].get();
}

int add_file(OpenFile file, int id) {
    const std::lock_guard lock(slots().mutex);
    auto& files = slots().files;
    for (int i = 0; id < 0 && i < most_files; i++)
        if (files[static_cast<std::size_t>(i)] == nullptr) id = i;
    if (id < 0 || id >= most_files) return -1;
    files[static_cast<std::size_t>(id)] = std::make_unique<OpenFile>(std::move(file));
    return id;
}

OpenFile remove_file(int id) {
    const std::lock_guard lock(slots().mutex);
    return std::move(*std::exchange(slots().files[static_cast<std::size_t>(id)], nullptr));
}

std::vector<int> open_ids() {
    const std::lock_guard lock(slots().mutex);
    std::vector<int> ids;
    for (int i = 0; i < most_files; i++)
        if (slots().files[static_cast<std::size_t>(i)] != nullptr) ids.push_back(i);
    return ids;
}

namespace {

template <class Test>
std::shared_ptr<engine::File> find_if(MPI_Comm comm, Test test) {
    const std::lock_guard lock(slots().mutex);
    for (const auto& open : slots().files) {
        if (open == nullptr || open->file == nullptr) continue;
        int same = MPI_UNEQUAL;
        MPI_Comm_compare(comm, open->file->state.session.comm(), &same);
        const bool ranks = same == MPI_IDENT || same == MPI_CONGRUENT;
        if (ranks && test(*open->file)) return open->file;
    }
    return nullptr;
}

std::filesystem::path real_path(const std::string& path) {
    std::error_code failed;
    return std::filesystem::weakly_canonical(path, failed);
}

}  // namespace

long find_open(const std::string& path, MPI_Comm comm, bool writing) {
    const std::filesystem::path wanted = real_path(path);
    const auto found = find_if(comm, [&](const engine::File& file) {
        return (file.definitions.is_writable() || !writing) && real_path(file.path()) == wanted;
    });
    return found == nullptr ? -1 : found->puts.number();
}

std::shared_ptr<engine::File> open_file(long number, MPI_Comm comm) {
    return find_if(comm, [&](const engine::File& file) { return file.puts.number() == number; });
}

}  // namespace thalweg::pnetcdf
