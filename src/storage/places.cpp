// SPDX-License-Identifier: Apache-2.0
#include "storage/places.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

std::unique_ptr<Places> open_places(const std::string& path, Status& status) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        status = failure(TW_EUNSUPPORTED,
                         "{}: is a directory; give netCDF files. A folder that is written with "
                         "files=zarr needs no references",
                         OfFile{path});
        return nullptr;
    }
    const auto comm = make_serial_comm();
    std::unique_ptr<Source> source = open_source(*comm, path, false, status);
    if (!status.ok()) return nullptr;
    // Get the size after the header, so that it includes all records that the header counts.
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        const bool tiles = errno == ENOENT;
        status = system_failure(path, "cannot get its size");
        if (tiles)
            status = failure(TW_EUNSUPPORTED,
                             "{}: a set of tiles has no references; join it by thalweg combine",
                             OfFile{path});
        return nullptr;
    }
    return std::make_unique<Places>(std::move(source), std::int64_t(info.st_size));
}

}  // namespace thalweg::detail
