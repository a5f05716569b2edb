// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/whole.hpp"

#include <algorithm>
#include <memory>

#include "storage/netcdf4/chunks/hdf5_view.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::detail {

namespace {

constexpr double most_chunks = 1e9;  ///< largest number of chunks of a variable that is checked

/// Checks all data sets of all groups.
class DataCheck {
public:
    DataCheck(Hdf5View& view, const std::string& path, std::int64_t end)
        : view_(view), path_(path), end_(end) {}

    Status all() {
        const QuietHdf5 quiet;
        const auto visit = [](hid_t group, const char* name, const H5O_info_t* info,
                              void* self) -> herr_t {
            auto* const check = static_cast<DataCheck*>(self);
            if (info->type != H5O_TYPE_DATASET) return 0;
            // HDF5 calls this function, so catch all exceptions: none may pass through HDF5.
            check->status_ = catch_errors([&] { return check->data_set(group, name); });
            return check->status_.ok() ? 0 : 1;
        };
        const herr_t code =
            H5Ovisit2(view_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, this, H5O_INFO_BASIC);
        if (code < 0 && status_.ok()) status_ = hdf5_failure(path_, "cannot list its data sets");
        return std::move(status_);
    }

private:
    Status data_set(hid_t group, const char* name) {
        const Handle set(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
        if (set < 0)
            return about(hdf5_failure(path_, fmt::format("variable '{}'", name)), OfVariable{name});
        const Handle properties(H5Dget_create_plist(set), H5Pclose);
        const H5D_layout_t layout = H5Pget_layout(properties);
        if (layout == H5D_CHUNKED) return chunks(set, properties, name);
        if (layout != H5D_CONTIGUOUS || H5Pget_external_count(properties) != 0) return {};
        const haddr_t at = H5Dget_offset(set);
        const std::int64_t bytes = H5Dget_storage_size(set);
        return at != HADDR_UNDEF && bytes > 0 ? range(name, at, bytes) : Status{};
    }

    Status chunks(hid_t set, hid_t properties, const char* name) {
        Hdf5Shape chunk{}, length{}, corner{};
        const int nd = shape_of(set, length);
        if (nd < 1 || H5Pget_chunk(properties, H5S_MAX_RANK, chunk.data()) != nd)
            return about(hdf5_failure(path_, fmt::format("chunks of variable '{}'", name)),
                         OfVariable{name});
        if (std::any_of(length.begin(), length.begin() + nd, [](hsize_t n) { return n == 0; }))
            return {};
        // A data set with a damaged shape could have too many chunks to check.
        double all = 1;
        for (std::size_t d = 0; d < static_cast<std::size_t>(nd); ++d)
            all *= static_cast<double>(length[d]) / static_cast<double>(chunk[d]);
        if (!(all < most_chunks))
            return failure(TW_EFORMAT, "{}: variable '{}': impossible shape (damaged file)",
                           OfFile{path_}, OfVariable{name});
        for (;;) {
            StoredChunk stored;
            Status status = view_.locate(set, corner.data(), stored);
            if (status.ok() && stored.address >= 0)
                status = range(name, stored.address, stored.bytes);
            if (!status.ok()) return status;
            int d = nd - 1;
            while (d >= 0) {
                corner[d] += chunk[d];
                if (corner[d] < length[d]) break;
                corner[d] = 0;
                --d;
            }
            if (d < 0) return {};
        }
    }

    Status range(const char* name, std::int64_t address, std::int64_t bytes) const {
        if (address >= 0 && bytes <= end_ - address) return {};
        return failure(TW_EFORMAT,
                       "{}: variable '{}': has {} bytes at byte {}, but the file ends at byte {}",
                       OfFile{path_}, OfVariable{name}, bytes, address, end_);
    }

    Hdf5View& view_;
    const std::string& path_;
    std::int64_t end_;
    Status status_;
};

Netcdf4Records records_of(const Netcdf4Contents& contents) {
    Netcdf4Records records;
    records.any = contents.definitions.record_dim() >= 0;
    records.longest = records.shortest = contents.records;
    const auto& variables = contents.definitions.variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (variables[i].record && !contents.stored[i].extent.empty())
            records.shortest = std::min(records.shortest, contents.stored[i].extent.front());
    return records;
}

}  // namespace

Status check_netcdf4_whole(const std::string& path, std::int64_t end, Netcdf4Records& records) {
    Netcdf4Contents contents;
    if (Status status = read_netcdf4_contents(path, contents); !status.ok()) return status;
    records = records_of(contents);
    Status status;
    const std::unique_ptr<Hdf5View> view = Hdf5View::open(path, status);
    if (!view) return status;
    status = DataCheck(*view, path, end).all();
    if (!view->refused().ok()) return view->refused();
    // If HDF5 cannot read the chunk, the file is damaged: system errors were returned above.
    if (!status.ok() && status.code != TW_ENOMEM) status.code = TW_EFORMAT;
    return status;
}

}  // namespace thalweg::detail
