// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/hdf5_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Seconds within which a coarse file system may give two writes the same modification time.
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
    if (status.ok()) status = view->set_access();
    if (status.ok()) return view;
    status.code = TW_EFORMAT;
    if (!view->refused_.ok()) status = view->refused_;
    return nullptr;
}

Status Hdf5View::set_access() {
    const QuietHdf5 quiet;
    const Handle files(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    const hid_t access = H5Pcreate(H5P_LINK_ACCESS);
    if (access >= 0) access_ = access;
    if (files >= 0 && access >= 0 && H5Pset_elink_fapl(access, files) >= 0) return {};
    return hdf5_failure(path_, "cannot open");
}

/// Opens a data set without H5Dopen2: if HDF5 1.10 fails to open a data set, it keeps a copy of the
/// properties, and the process crashes at its end if these refer to another file.
hid_t Hdf5View::open_set(const std::string& name) const {
    const hid_t set = H5Oopen(id(), name.c_str(), access_);
    if (set < 0 || H5Iget_type(set) == H5I_DATASET) return set;
    H5Oclose(set);
    return H5I_INVALID_HID;
}

Hdf5View::~Hdf5View() {
    (void)driver_.close();
    const QuietHdf5 quiet;
    if (access_ != H5P_DEFAULT) H5Pclose(access_);
}

std::int64_t Hdf5View::size() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? std::int64_t(info.st_size) : -1;
}

namespace {

/// Tests if a chunk reaches beyond the present length of its data set in HDF5.
bool is_partial(hid_t set, const hsize_t* corner, const std::vector<std::int64_t>& chunk) {
    Hdf5Shape length{};
    const int nd = shape_of(set, length);
    for (int d = 0; d < nd; ++d)
        if (corner[d] + static_cast<hsize_t>(chunk[d]) > length[d]) return true;
    return false;
}

}  // namespace

Status Hdf5View::locate(const StoredVariable& v, hid_t set, const hsize_t* corner,
                        StoredChunk& chunk) {
    const QuietHdf5 quiet;
    Status status = locate(set, corner, chunk);
    // HDF5's mask of skipped filters does not cover chunks at the edges that were stored without
    // filters.
    if (v.unfiltered_edges && status.ok() && is_partial(set, corner, v.chunk))
        chunk.skipped = static_cast<std::uint32_t>((std::uint64_t{1} << v.filters.size()) - 1);
    return status;
}

bool Hdf5View::changed() const {
    struct stat info {};
    return young_ || fstat(fd_, &info) != 0 || info.st_size != opened_.st_size ||
           info.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
           info.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec;
}

bool Hdf5View::read(H5FD_mem_t, std::int64_t address, std::int64_t bytes, char* to) {
    Status status = read_fully(fd_, path_, to, bytes, address);
    const bool read = status.ok();
    if (!read && refused_.ok() && bytes <= size() - address) refused_ = std::move(status);
    return read;
}

}  // namespace thalweg::detail
