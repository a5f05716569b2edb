// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <netcdf.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace thalweg::nc {

const char* const interface_name = "netCDF's interface";

}  // namespace thalweg::nc

namespace thalweg::netcdf::engine {

namespace {

// Returns the files of the process, indexed by the upper half of their ids. The list is never
// destroyed, because closing a file is collective.
std::vector<std::unique_ptr<File>>& files() {
    static auto* const all = new std::vector<std::unique_ptr<File>>(1 << 16);
    return *all;
}

std::atomic<pid_t> process{0};  // process that opened the files

std::unique_ptr<File>& slot(int ncid) {
    return files()[static_cast<std::size_t>(ncid) >> 16U & 0xffffU];
}

// Removes and returns the open files whose sessions end with MPI, or the other ones. They are in
// the order of opening, which is the same on all ranks; their ids can differ.
std::vector<std::unique_ptr<File>> take_files(bool with_mpi) {
    std::vector<std::unique_ptr<File>> open;
    for (std::unique_ptr<File>& file : files())
        if (file != nullptr && file->state.session.ends_with_mpi() == with_mpi)
            open.push_back(std::move(file));
    std::sort(open.begin(), open.end(),
              [](const auto& a, const auto& b) { return a->opened < b->opened; });
    return open;
}

void close_unclosed(std::unique_ptr<File> file) {
    const std::string path = file->path();
    const bool tell = file->state.session.rank() == 0;
    if (tell) std::fprintf(stderr, "thalweg: %s was not closed by the program\n", path.c_str());
    const Error error =
        error_of([&] { end_file(std::move(file), [](File& f) { close(f.puts); }); });
    if (tell && error.code != 0)
        std::fprintf(stderr, "thalweg: %s: %s (%d)\n", path.c_str(), error.text.c_str(),
                     error.code);
}

}  // namespace

File& file_of(int ncid) {
    std::unique_ptr<File>& file = slot(ncid);
    if (file == nullptr || (ncid & 0xffff) != 0)
        throw Error{NC_EBADID, "there is no open file with the id " + std::to_string(ncid)};
    return *file;
}

void add_file(int ncid, std::unique_ptr<File> file) {
    static std::atomic<long> opened{0};
    at_end(close_files);
    process = getpid();
    file->ncid = ncid;
    file->opened = opened++;
    slot(ncid) = std::move(file);
}

std::unique_ptr<File> remove_file(int ncid) {
    file_of(ncid);
    return std::move(slot(ncid));
}

File* find_written(const std::string& path) {
    const auto full = [](const std::string& p) {
        std::error_code none;
        return std::filesystem::absolute(p, none).lexically_normal();
    };
    if (process != getpid()) return nullptr;
    for (const std::unique_ptr<File>& file : files())
        if (file != nullptr && file->definitions.is_writable() && full(file->path()) == full(path))
            return file.get();
    return nullptr;
}

bool is_redirected(File& file, int mode) {
    if ((mode & NC_WRITE) != 0 || file.place() != file.path()) return true;
    const std::lock_guard lock(file.mutex());
    if (file.state.session.comm() == MPI_COMM_NULL) (void)error_of([&] { file.sync(); });
    return false;
}

void wait_for_closing() {
    Session* const alone = find_session(MPI_COMM_NULL);
    if (alone == nullptr || process != getpid()) return;
    const std::lock_guard lock(alone->mutex);
    tw_wait(alone->handle(), 0);
}

void close_files(bool with_mpi) {
    for (std::unique_ptr<File>& file : take_files(with_mpi)) close_unclosed(std::move(file));
}

void tell_unclosed_files() {
    if (process != getpid() || !mpi_runs()) return;
    std::vector<std::unique_ptr<File>> left = take_files(true);
    if (!left.empty()) tell_incomplete(left.front()->path(), left.size() > 1);
    // Do not close these files: closing is collective, and objects that it needs may already have
    // been destroyed.
    for (std::unique_ptr<File>& file : left) (void)file.release();
}

int failed(const Error& error) {
    inform(interface_name, error);
    return error.code;
}

}  // namespace thalweg::netcdf::engine
