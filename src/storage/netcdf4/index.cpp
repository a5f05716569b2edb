// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index.hpp"

namespace thalweg::detail {

std::unique_ptr<Netcdf4Index> Netcdf4Index::open(const std::string& path,
                                                 const Definitions& definitions,
                                                 std::span<const ChunkGrid> grids,
                                                 std::function<Room()> next_room, Status& status) {
    std::unique_ptr<Netcdf4Index> index(new Netcdf4Index(path, definitions, grids));
    index->file_ = Hdf5File::open(path, std::move(next_room), status);
    if (status.ok()) status = index->open_variables();
    return status.ok() ? std::move(index) : nullptr;
}

Netcdf4Index::~Netcdf4Index() { close_handles(); }

void Netcdf4Index::close_handles() {
    const QuietHdf5 quiet;
    for (hid_t set : sets_) H5Dclose(set);
    if (dimension_ >= 0) H5Dclose(dimension_);
    sets_.clear();
    dimension_ = H5I_INVALID_HID;
}

/// By the names that netCDF-C gives (NetCDF-4 format specification, "Coordinate variables"): a
/// variable with the name of a dimension that is not its first one is called otherwise.
Status Netcdf4Index::open_variables() {
    const QuietHdf5 quiet;
    for (const Variable& v : definitions_.variables) {
        const int same = definitions_.find_dim(v.name);
        const bool renamed = same >= 0 && (v.dims.empty() || v.dims.front() != same);
        const std::string name = (renamed ? "_nc4_non_coord_" : "") + v.name;
        const hid_t set = H5Dopen2(file_->id(), name.c_str(), H5P_DEFAULT);
        if (set < 0) return hdf5_failure(path_, "variable '" + v.name + "'");
        sets_.push_back(set);
    }
    if (definitions_.record_dim() < 0) return {};
    const std::size_t record = definitions_.record_dim();
    const std::string& name = definitions_.dims[record].name;
    const int variable = definitions_.find_variable(name);
    if (variable >= 0 && definitions_.variables[variable].record) return {};
    dimension_ = H5Dopen2(file_->id(), name.c_str(), H5P_DEFAULT);
    if (dimension_ < 0) return hdf5_failure(path_, "dimension '" + name + "'");
    return {};
}

/// HDF5 asks for the room of a variable when the first of its elements is written.
Status Netcdf4Index::place(int variable, std::int64_t address) {
    const QuietHdf5 quiet;
    file_->expect_data(address);
    const hid_t type = H5Dget_type(sets_[variable]), space = H5Dget_space(sets_[variable]);
    const hid_t one = H5Screate(H5S_SCALAR);
    const std::vector<hsize_t> origin(std::max<std::size_t>(1, grids_[variable].shape.size()), 0);
    const char element[8] = {};
    bool good = grids_[variable].shape.empty() ||
                H5Sselect_elements(space, H5S_SELECT_SET, 1, origin.data()) >= 0;
    good = good && H5Dwrite(sets_[variable], type, one, space, H5P_DEFAULT, element) >= 0;
    Status status;
    if (!good || H5Dget_offset(sets_[variable]) != static_cast<haddr_t>(address))
        status = hdf5_failure(path_,
                              "offset of variable '" + definitions_.variables[variable].name + "'");
    H5Sclose(one);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

Status Netcdf4Index::set_length(hid_t set, std::int64_t records, const std::string& name) {
    const hid_t space = H5Dget_space(set);
    std::vector<hsize_t> length(H5Sget_simple_extent_ndims(space));
    H5Sget_simple_extent_dims(space, length.data(), nullptr);
    H5Sclose(space);
    length.front() = static_cast<hsize_t>(records);
    if (H5Dset_extent(set, length.data()) >= 0) return {};
    return hdf5_failure(path_, fmt::format("{} records of '{}'", records, name));
}

Status Netcdf4Index::set_records(std::int64_t records) {
    if (records == records_) return {};
    const QuietHdf5 quiet;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        if (!v.record) continue;
        if (Status s = set_length(sets_[i], records, v.name); !s.ok()) return s;
    }
    if (dimension_ >= 0)
        if (Status s = set_length(dimension_, records, "the record dimension"); !s.ok()) return s;
    records_ = records;
    return {};
}

Status Netcdf4Index::add(const PlacedChunk& c) {
    const QuietHdf5 quiet;
    const std::size_t at = c.variable;
    const Variable& v = definitions_.variables[at];
    const Index corner = grids_[at].corner(c.number);
    std::vector<hsize_t> offset;
    if (v.record) offset.push_back(static_cast<hsize_t>(c.record));
    for (std::size_t d = 0; d < grids_[at].shape.size(); ++d)
        offset.push_back(static_cast<hsize_t>(corner[d]));
    file_->expect_data(c.address);
    const char none = 0;  // HDF5 hands the data to the file's driver, which does not look at them
    if (H5Dwrite_chunk(sets_[at], H5P_DEFAULT, 0, offset.data(), c.bytes, &none) < 0)
        return hdf5_failure(path_,
                            fmt::format("a chunk of variable '{}', record {}", v.name, c.record));
    // A chunk that is written again may have its first place.
    if (file_->data_address() == c.address) return {};
    return file_->copy(c.address, file_->data_address(), c.bytes);
}

Status Netcdf4Index::close() {
    close_handles();
    return file_->close();
}

}  // namespace thalweg::detail
