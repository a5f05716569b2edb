// SPDX-License-Identifier: Apache-2.0
#include "storage/places.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "storage/classic/header_reader.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

class ClassicPlaces final : public Places {
public:
    ClassicPlaces(std::unique_ptr<Source> source, std::int64_t size) : Places(std::move(source)) {
        size_ = size;
        const FileMap& map = source_->classic_header()->map;
        for (std::size_t i = 0; i < definitions().variables.size(); ++i) {
            VariablePlaces places;
            places.offset = map.offset[i];
            places.stride = map.record_bytes;
            places_.push_back(std::move(places));
        }
    }

    Status find_chunks(int) override { return {}; }
};

}  // namespace

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
    if (source->classic_header() == nullptr)
        return open_netcdf4_places(path, std::move(source), status);
    return std::make_unique<ClassicPlaces>(std::move(source), std::int64_t(info.st_size));
}

}  // namespace thalweg::detail
