// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/hdf5_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Seconds within which two writes may leave the same time of change on coarse file systems.
constexpr std::time_t coarse = 2;

}  // namespace

std::unique_ptr<Hdf5View> Hdf5View::open(const std::string& path, Status& status, int file) {
    std::unique_ptr<Hdf5View> view(new Hdf5View(path));
    view->fd_ = file < 0 ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                         : fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (view->fd_ < 0) {
        status = system_failure(path, "cannot open");
        return nullptr;
    }
    if (fstat(view->fd_, &view->opened_) != 0) {
        status = system_failure(path, "cannot get its size");
        return nullptr;
    }
    view->young_ = std::time(nullptr) - view->opened_.st_mtim.tv_sec <= coarse;
    status = view->driver_.open(H5F_ACC_RDONLY);
    if (status.ok()) return view;
    status.code = TW_EFORMAT;
    if (!view->refused_.ok()) status = view->refused_;
    return nullptr;
}

Hdf5View::~Hdf5View() {
    (void)driver_.close();
    if (fd_ >= 0) ::close(fd_);
}

std::int64_t Hdf5View::size() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? std::int64_t(info.st_size) : -1;
}

bool Hdf5View::changed() const {
    struct stat info {};
    return young_ || fstat(fd_, &info) != 0 || info.st_size != opened_.st_size ||
           info.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
           info.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec;
}

bool Hdf5View::read(H5FD_mem_t, std::int64_t address, std::int64_t bytes, char* to) {
    Status status = alone([&] { return read_fully(fd_, path_, to, bytes, address); });
    const bool read = status.ok();
    if (!read && refused_.ok() && bytes <= size() - address) refused_ = std::move(status);
    return read;
}

}  // namespace thalweg::detail
