// SPDX-License-Identifier: Apache-2.0
#include "zarr/reference_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

std::string ReferenceFile::temporary() const { return temporary_path(path_); }

Status ReferenceFile::check(std::string_view begin, const char* kind) const {
    struct stat info {};
    if (stat(folder_of(path_).c_str(), &info) != 0)
        return system_failure(path_, "cannot write references");
    if (stat(path_.c_str(), &info) != 0)
        return errno == ENOENT ? Status{} : system_failure(path_, "cannot write references");
    std::string first(begin.size(), '\0');
    const Descriptor fd =
        S_ISREG(info.st_mode) ? ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0 && info.st_size > 0) (void)read_some(fd, first.data(), std::ssize(first), 0);
    if (fd >= 0 && (info.st_size == 0 || first == begin)) return {};
    return failure(TW_EEXISTS, "{}: exists, and is not {}: references do not replace it", path_,
                   kind);
}

Status ReferenceFile::remove() const {
    if (unlink(path_.c_str()) == 0 || errno == ENOENT) return {};
    return system_failure(path_, "cannot remove old references");
}

Status ReferenceFile::write(const std::string& text, bool durable) const {
    const std::string path = temporary();
    Status status = with_file(path, O_WRONLY | O_CREAT | O_TRUNC, [&](int fd) {
        Status written = write_fully(fd, path, text.data(), std::ssize(text), 0);
        return written.ok() && durable ? sync_file(fd, path, true) : written;
    });
    if (!status.ok()) discard();
    return status;
}

Status ReferenceFile::publish(bool durable) const {
    if (std::rename(temporary().c_str(), path_.c_str()) != 0)
        return system_failure(temporary(), "cannot rename to " + path_);
    return durable ? sync_folder_of(path_) : Status{};
}

void ReferenceFile::discard() const { unlink(temporary().c_str()); }

}  // namespace thalweg::detail
