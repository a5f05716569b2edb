// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/index.hpp"

#include <algorithm>
#include <utility>

#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"

namespace thalweg::detail {

std::unique_ptr<Netcdf4Index> Netcdf4Index::open(const std::string& path,
                                                 const Definitions& definitions,
                                                 std::span<const ChunkGrid> grids,
                                                 NextRoom next_room, Status& status) {
    std::unique_ptr<Netcdf4Index> index(new Netcdf4Index(path, definitions, grids));
    index->file_ = Hdf5File::open(path, std::move(next_room), status);
    if (status.ok()) status = index->open_variables();
    return status.ok() ? std::move(index) : nullptr;
}

void Netcdf4Index::close_handles() {
    const QuietHdf5 quiet;
    for (hid_t set : sets_) H5Dclose(set);
    if (dimension_ >= 0) H5Dclose(dimension_);
    sets_.clear();
    dimension_ = H5I_INVALID_HID;
}

Status Netcdf4Index::open_variables() {
    const QuietHdf5 quiet;
    records_ = 0;
    lengths_.assign(definitions_.variables.size(), 0);
    sets_.reserve(definitions_.variables.size());
    for (std::size_t i = 0; i < definitions_.variables.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        const std::string name = name_in_hdf5(file_->id(), v.name);
        const hid_t set = H5Dopen2(file_->id(), name.c_str(), H5P_DEFAULT);
        if (set < 0) return hdf5_failure(path_, "variable '" + v.name + "'");
        sets_.push_back(set);
        if (!v.record) continue;
        if (Status s = find_length(set, lengths_[i]); !s.ok()) return s;
        records_ = std::max(records_, lengths_[i]);
    }
    if (definitions_.record_dim() < 0) return {};
    const std::size_t record = definitions_.record_dim();
    const std::string& name = definitions_.dims[record].name;
    const int variable = definitions_.find_variable(name);
    if (variable >= 0 && definitions_.variables[variable].record) return {};
    dimension_ = H5Dopen2(file_->id(), name.c_str(), H5P_DEFAULT);
    if (dimension_ < 0) return hdf5_failure(path_, "dimension '" + name + "'");
    std::int64_t length = 0;
    Status status = find_length(dimension_, length);
    records_ = std::max(records_, length);
    return status;
}

Status Netcdf4Index::find_length(hid_t set, std::int64_t& records) const {
    Hdf5Shape length{};
    if (shape_of(set, length) < 1)
        return hdf5_failure(path_, "cannot read the shape of a variable");
    records = length[0];
    return {};
}

Status Netcdf4Index::for_chunks(int variable, std::int64_t records,
                                const std::function<void(const PlacedChunk&)>& visit) {
    const QuietHdf5 quiet;
    const std::size_t v = variable;
    const ChunkGrid& g = grids_[v];
    const bool record = definitions_.variables[v].record;
    if (!g.chunked || H5Dget_storage_size(sets_[v]) == 0) return {};
    const std::int64_t end = record ? std::min(records, lengths_[v]) : 1;
    PlacedChunk chunk;
    chunk.variable = variable;
    for (; chunk.record < end; chunk.record += record ? g.records : 1) {
        for (chunk.number = 0; chunk.number < g.chunks(); ++chunk.number) {
            StoredChunk stored;
            Status status = file_->locate(sets_[v], offset_of(chunk).data(), stored);
            if (!status.ok()) return status;
            if (stored.address < 0) continue;
            if (stored.bytes > file_->end() - stored.address)
                return failure(TW_EFORMAT, "{}: variable '{}' has data beyond the end of the file",
                               OfFile{path_}, OfVariable{definitions_.variables[v].name});
            chunk.address = stored.address;
            chunk.bytes = stored.bytes;
            chunk.skipped = stored.skipped;
            visit(chunk);
        }
    }
    return {};
}

/// Sets the address of a variable by writing one element: HDF5 then allocates space for the
/// variable, at the address that Hdf5File has been told to return.
Status Netcdf4Index::place(int variable, std::int64_t address) {
    const QuietHdf5 quiet;
    file_->expect_data(address);
    const Handle type(H5Dget_type(sets_[variable]), H5Tclose);
    const Handle space(H5Dget_space(sets_[variable]), H5Sclose);
    const Handle one(H5Screate(H5S_SCALAR), H5Sclose);
    const std::vector<hsize_t> origin(std::max<std::size_t>(1, grids_[variable].shape.size()), 0);
    const char element[8] = {};
    bool good = type >= 0 && space >= 0 && one >= 0;
    good = good && (grids_[variable].shape.empty() ||
                    H5Sselect_elements(space, H5S_SELECT_SET, 1, origin.data()) >= 0);
    good = good && H5Dwrite(sets_[variable], type, one, space, H5P_DEFAULT, element) >= 0;
    if (good && H5Dget_offset(sets_[variable]) == static_cast<haddr_t>(address)) return {};
    return hdf5_failure(path_,
                        "offset of variable '" + definitions_.variables[variable].name + "'");
}

Status Netcdf4Index::set_length(hid_t set, std::int64_t records, const std::string& name) {
    Hdf5Shape length{};
    const int nd = shape_of(set, length);
    length[0] = records;
    if (nd > 0 && H5Dset_extent(set, length.data()) >= 0) return {};
    return hdf5_failure(path_, fmt::format("{} records of '{}'", records, name));
}

Status Netcdf4Index::set_records(std::int64_t records) {
    if (records == records_) return {};
    const QuietHdf5 quiet;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        if (!v.record || lengths_[i] == records) continue;
        if (Status s = set_length(sets_[i], records, v.name); !s.ok()) return s;
        lengths_[i] = records;
    }
    if (dimension_ >= 0)
        if (Status s = set_length(dimension_, records, "the record dimension"); !s.ok()) return s;
    records_ = records;
    return {};
}

/// Removes all records from number `records` on. Shortens each variable to whole chunks first,
/// because HDF5 would otherwise read and rewrite the chunk that reaches beyond the new end, to
/// clear the rest of it.
Status Netcdf4Index::drop_records(std::int64_t records) {
    const QuietHdf5 quiet;
    const auto cut = [&](bool between_chunks) -> Status {
        for (std::size_t i = 0; i < sets_.size(); ++i) {
            const Variable& v = definitions_.variables[i];
            if (!v.record || lengths_[i] <= records) continue;
            const std::int64_t n = between_chunks ? grids_[i].first_record(records) : records;
            if (Status s = set_length(sets_[i], n, v.name); !s.ok()) return s;
        }
        return dimension_ >= 0 ? set_length(dimension_, records, "the record dimension") : Status{};
    };
    if (Status s = cut(true); !s.ok()) return s;
    // Reopen the file, so that HDF5 does not reuse the space of the dropped records, which readers
    // may still be reading.
    close_handles();
    if (Status s = file_->reopen(); !s.ok()) return s;
    const std::vector<std::int64_t> before = lengths_;
    if (Status s = open_variables(); !s.ok()) return s;
    lengths_ = before;
    if (Status s = cut(false); !s.ok()) return s;
    for (std::int64_t& length : lengths_) length = std::min(length, records);
    records_ = records;
    return {};
}

std::vector<hsize_t> Netcdf4Index::offset_of(const PlacedChunk& c) const {
    const std::size_t at = c.variable;
    const Index corner = grids_[at].corner(c.number);
    std::vector<hsize_t> offset;
    if (definitions_.variables[at].record) offset.push_back(c.record);
    for (std::size_t d = 0; d < grids_[at].shape.size(); ++d) offset.push_back(corner[d]);
    return offset;
}

Status Netcdf4Index::write_chunk(const PlacedChunk& c, const hsize_t* offset,
                                 const StoredChunk& old) {
    file_->expect_data(c.address, old);
    const char none = 0;  // HDF5's driver in this library does not write the data of this call
    const bool good =
        H5Dwrite_chunk(sets_[c.variable], H5P_DEFAULT, 0, offset, c.bytes, &none) >= 0;
    file_->expect_data(-1);  // HDF5 may not have allocated space, so withdraw the expected address
    if (good) return {};
    const std::string& name = definitions_.variables[c.variable].name;
    return about(
        hdf5_failure(path_, fmt::format("a chunk of variable '{}', record {}", name, c.record)),
        OfVariable{name}, OfRecord{c.record});
}

namespace {

/// Returns the number of filters of a data set; negative after a failure. Chunks without filters
/// all have the same length, so HDF5 never moves them.
int filters_of(hid_t set) {
    const Handle properties(H5Dget_create_plist(set), H5Pclose);
    return properties < 0 ? -1 : H5Pget_nfilters(properties);
}

}  // namespace

Status Netcdf4Index::add(const PlacedChunk& c) {
    const QuietHdf5 quiet;
    const std::size_t at = c.variable;
    const Variable& v = definitions_.variables[at];
    // Extend the data set even if the chunk belongs to an earlier record: the variable may have had
    // fewer records than the file.
    if (v.record && lengths_[at] < records_) {
        if (Status s = set_length(sets_[at], records_, v.name); !s.ok()) return s;
        lengths_[at] = records_;
    }
    const std::vector<hsize_t> offset = offset_of(c);
    StoredChunk old;
    if (c.bytes == 0) {
        // The writer has overwritten the chunk at the address that it had chosen.
        Status s = file_->locate(sets_[at], offset.data(), old);
        if (!s.ok() || old.address < 0 || old.address == c.address) return s;
        return file_->copy(c.address, old.address, grids_[at].chunk_bytes());
    }
    const int filters = c.replaces ? filters_of(sets_[at]) : 0;
    if (filters < 0) return hdf5_failure(path_, "filters of variable '" + v.name + "'");
    if (filters > 0)
        if (Status s = file_->locate(sets_[at], offset.data(), old); !s.ok()) return s;
    if (old.address >= 0 && old.address != c.address && old.bytes == c.bytes) {
        // HDF5 allocates new space for a chunk only if its length changes, so first make it one
        // byte shorter. One byte more may belong to the next chunk.
        PlacedChunk other = c;
        other.bytes += c.bytes > 1 ? -1 : 1;
        if (Status s = write_chunk(other, offset.data(), old); !s.ok()) return s;
        old = {c.address, other.bytes};
    }
    if (Status s = write_chunk(c, offset.data(), old); !s.ok()) return s;
    // HDF5 may have chosen another address: it may have allocated the chunk early, or a killed run
    // may have added it.
    const std::int64_t address = file_->data_address();
    return address == c.address ? Status{} : file_->copy(c.address, address, c.bytes);
}

namespace {

/// Returns the HDF5 type in which netCDF-C would store an attribute.
hid_t attribute_type(const Attribute& a) {
    const hid_t type = H5Tcopy(native_type(a.type));
    if (a.type == TW_CHAR) {
        H5Tset_size(type, std::max<std::size_t>(1, a.n));
        H5Tset_strpad(type, H5T_STR_NULLTERM);
    }
    return type;
}

}  // namespace

Status Netcdf4Index::set_attributes(const LateAttributes& attributes) {
    file_->write_attributes();
    for (const auto& [variable, attribute] : attributes)
        if (Status s = set_attribute(variable, attribute); !s.ok()) return s;
    return {};
}

Status Netcdf4Index::attribute_failure(int variable, const Attribute& a) const {
    if (variable < 0) return hdf5_failure(path_, fmt::format("global attribute '{}'", a.name));
    return hdf5_failure(path_, fmt::format("attribute '{}' of '{}'", a.name,
                                           definitions_.variables[variable].name));
}

Status Netcdf4Index::set_attribute(int variable, const Attribute& a) {
    const QuietHdf5 quiet;
    const hid_t owner = variable < 0 ? file_->id() : sets_[variable];
    const Handle type(attribute_type(a), H5Tclose);
    const hsize_t n = a.n;
    const Handle space(n == 0              ? H5Screate(H5S_NULL)
                       : a.type == TW_CHAR ? H5Screate(H5S_SCALAR)
                                           : H5Screate_simple(1, &n, nullptr),
                       H5Sclose);
    bool good = type >= 0 && space >= 0;
    if (good && H5Aexists(owner, a.name.c_str()) > 0) {
        // Overwrite an attribute of the same type and length in place, so that it keeps its
        // position among the others.
        const Handle old(H5Aopen(owner, a.name.c_str(), H5P_DEFAULT), H5Aclose);
        const Handle its_type(H5Aget_type(old), H5Tclose), its_space(H5Aget_space(old), H5Sclose);
        good = old >= 0 && its_type >= 0 && its_space >= 0;
        if (good && H5Tequal(type, its_type) > 0 && H5Sextent_equal(space, its_space) > 0) {
            good = n == 0 || H5Awrite(old, type, a.values.data()) >= 0;
            return good ? Status{} : attribute_failure(variable, a);
        }
    }
    if (good && H5Aexists(owner, a.name.c_str()) > 0) good = H5Adelete(owner, a.name.c_str()) >= 0;
    if (!good) return attribute_failure(variable, a);
    const Handle made(H5Acreate2(owner, a.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    good = made >= 0 && (n == 0 || H5Awrite(made, type, a.values.data()) >= 0);
    return good ? Status{} : attribute_failure(variable, a);
}

Status Netcdf4Index::close(bool durable) {
    close_handles();
    return file_->close(durable);
}

}  // namespace thalweg::detail
