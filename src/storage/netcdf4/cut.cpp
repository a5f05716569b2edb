// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "storage/netcdf4/index/hdf5_file.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Shortens a data set of the root group, if its first dimension is unlimited.
/// @param records  largest length of that dimension
Status cut_set(hid_t file, const char* name, std::int64_t records, const std::string& path) {
    const Handle set(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    if (set < 0)
        return about(hdf5_failure(path, fmt::format("variable '{}'", name)), OfVariable{name});
    Hdf5Shape length{}, most{};
    const int nd = shape_of(set, length, &most);
    if (nd < 0)
        return about(hdf5_failure(path, fmt::format("shape of variable '{}'", name)),
                     OfVariable{name});
    const hsize_t wanted = records;
    if (nd == 0 || most[0] != H5S_UNLIMITED || length[0] <= wanted) return {};
    length[0] = wanted;
    if (H5Dset_extent(set, length.data()) >= 0) return {};
    return hdf5_failure(path, fmt::format("{} records of '{}'", records, name));
}

struct Visit {
    const std::string& path;
    std::int64_t records;
    Status status;
};

herr_t visit(hid_t group, const char* name, const H5L_info_t*, void* data) {
    auto& v = *static_cast<Visit*>(data);
    H5O_info_t info;
    // HDF5 calls this function, so catch all exceptions: none may pass through HDF5.
    v.status = catch_errors([&]() -> Status {
        if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
            return hdf5_failure(v.path, fmt::format("object '{}'", name));
        return info.type == H5O_TYPE_DATASET ? cut_set(group, name, v.records, v.path) : Status{};
    });
    return v.status.ok() ? 0 : 1;
}

}  // namespace

Status cut_netcdf4(const std::string& path, std::int64_t records) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return system_failure(path, "cannot get its size");
    Status status;
    std::int64_t end = rounded(info.st_size, page);
    const auto file = Hdf5File::open(path, rooms_from(end), status);
    if (!file) return status;
    Visit all{path, records, {}};
    {
        const QuietHdf5 quiet;
        const herr_t code =
            H5Literate(file->id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &all);
        if (code < 0 && all.status.ok())
            all.status = hdf5_failure(path, "cannot list its variables");
    }
    if (all.status.ok()) all.status = file->commit_together(true, true);
    Status closed = file->close(true);
    return all.status.ok() ? closed : all.status;
}

}  // namespace thalweg::detail
