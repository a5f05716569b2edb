// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/hdf5_places.hpp"

#include <algorithm>

#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::detail {

void Hdf5Places::close() {
    const QuietHdf5 quiet;
    for (const hid_t set : sets_)
        if (set >= 0) H5Dclose(set);
    sets_.clear();
    view_.reset();
}

Status Hdf5Places::open_set(int variable, hid_t& set) {
    const QuietHdf5 quiet;
    if (!view_) {
        sets_.assign(stored_.size(), H5I_INVALID_HID);
        Status status = file_.open_again(opened_);
        if (status.ok()) view_ = Hdf5View::open(path_, status, file_.fd());
        if (!status.ok()) return status;
    }
    hid_t& known = sets_[variable];
    if (known < 0) known = view_->open_set(of(variable).name);
    set = known;
    return known < 0 ? failure(TW_EFORMAT, "HDF5 cannot open a data set") : Status{};
}

/// Closes the file, so that HDF5 reads it again: nodes of the index that HDF5 has in memory may
/// have been split by the program that writes the file. Once per read is enough, since the
/// requested data were in the file before the read.
/// @return false if the file has not changed, or was already closed during this read
bool Hdf5Places::look_again() {
    if (looked_again_ || !view_ || !view_->changed()) return false;
    looked_again_ = true;
    close();
    return true;
}

/// Asks HDF5 for the place of a chunk.
Status Hdf5Places::look_up(int variable, const Cell& cell, StoredChunk& place) {
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    return view_->locate(of(variable), set, cell.corner.data(), place);
}

/// Checks that the place of a chunk lies in the file, as HDF5 does not check this.
Status Hdf5Places::check_place(int variable, const StoredChunk& place) const {
    if (place.address < 0) return {};
    const StoredVariable& s = of(variable);
    const std::int64_t bytes = volume(s.chunk) * definitions_.variables[variable].element();
    if (place.bytes > view_->size() - place.address)
        return failure(TW_EIO, "{}: the file is truncated: it ends before byte {}", OfFile{path_},
                       place.address + place.bytes);
    if (Decompressor::plausible(s.filters, place.skipped, place.bytes, bytes)) return {};
    return failure(TW_EFORMAT,
                   "the chunk at byte {} is damaged: its {} bytes cannot hold {} bytes of elements",
                   place.address, place.bytes, bytes);
}

Status Hdf5Places::find(int variable, const Cell& cell, StoredChunk& place) {
    Status status = look_up(variable, cell, place);
    if ((!status.ok() || place.address < 0) && look_again())
        status = look_up(variable, cell, place);
    return status.ok() ? check_place(variable, place) : status;
}

Status Hdf5Places::find_steady(int variable, const Cell& cell, StoredChunk& place) {
    Status status = look_up(variable, cell, place);
    if (status.ok()) status = check_place(variable, place);
    if (status.ok() && place.address < 0 && view_->changed())
        status = failure(TW_ESTATE, "{}: it may have changed", OfFile{path_});
    return status;
}

/// Reads the elements of a chunk that lie within the extent of the data set; leaves the others
/// unchanged.
Status Hdf5Places::read_by_hdf5(int variable, const Cell& cell, char* to) {
    // HDF5 returns fill values if it does not find a chunk. Reopen a changed file first, so that
    // HDF5 finds new chunks.
    (void)look_again();
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    const QuietHdf5 quiet;
    const StoredVariable& s = of(variable);
    const hid_t type = native_type(definitions_.variables[variable].type);
    std::vector<hsize_t> chunk(s.chunk.begin(), s.chunk.end()), count(chunk),
        origin(chunk.size(), 0);
    const Handle file(H5Dget_space(set), H5Sclose);
    const Handle memory(
        chunk.empty() ? H5I_INVALID_HID : H5Screate_simple(chunk.size(), chunk.data(), nullptr),
        H5Sclose);
    bool good = file >= 0;
    if (!chunk.empty()) {
        for (std::size_t d = 0; d < count.size(); ++d) {
            const hsize_t left = static_cast<hsize_t>(s.extent[d]) - cell.corner[d];
            count[d] = std::min(count[d], left);
        }
        good = good && memory >= 0 &&
               H5Sselect_hyperslab(file, H5S_SELECT_SET, cell.corner.data(), nullptr, count.data(),
                                   nullptr) >= 0 &&
               H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin.data(), nullptr, count.data(),
                                   nullptr) >= 0;
    }
    good = good && H5Dread(set, type, chunk.empty() ? H5S_ALL : memory, file, H5P_DEFAULT, to) >= 0;
    return good ? Status{} : hdf5_failure(path_, "cannot read");
}

}  // namespace thalweg::detail
