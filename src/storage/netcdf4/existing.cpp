// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/existing.hpp"

#include <algorithm>
#include <cstring>

#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::detail {

namespace {

/// Largest version of HDF5's superblock that the library appends to. In later versions, HDF5 marks
/// the file while it writes; after a killed run the mark would remain, and no program could open
/// the file.
constexpr unsigned last_superblock = 2;

/// Tests if HDF5 must choose the places of data itself, because it manages free space in pages or
/// stores lists of free space in the file.
bool manages_room(hid_t properties) {
    H5F_fspace_strategy_t strategy{};
    hbool_t persists = 0;
    hsize_t threshold = 0;
    return H5Pget_file_space_strategy(properties, &strategy, &persists, &threshold) < 0 ||
           strategy == H5F_FSPACE_STRATEGY_PAGE || persists != 0;
}

bool is_data_set(hid_t file, const std::string& name) {
    if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) return false;
    return Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose) >= 0;
}

/// Returns the reason why the library cannot write the elements of a variable; empty if it can.
std::string layout_limit(hid_t properties, const StoredVariable& s) {
    if (H5Pget_layout(properties) == H5D_COMPACT) return "its storage in HDF5 is compact";
    for (const StoredFilter& f : s.filters)
        if (!can_undo({f}))
            return fmt::format("it has the HDF5 filter {}, which the library cannot apply", f.id);
    if (!can_undo(s.filters)) return "it has two filters that compress";
    if (s.way == StoredVariable::Way::hdf5)
        return "its type or its storage in HDF5 is not one that netCDF would choose";
    if (s.big_endian) return "its elements are big-endian";
    if (s.unfiltered_edges) return "its chunks at the edges have no filters";
    return {};
}

}  // namespace

std::string user_block_limit(hid_t file) {
    const QuietHdf5 quiet;
    const Handle properties(H5Fget_create_plist(file), H5Pclose);
    hsize_t bytes = 0;
    if (properties < 0 || H5Pget_userblock(properties, &bytes) < 0)
        return "HDF5 cannot read its superblock";
    return bytes == 0 ? "" : fmt::format("it begins with a user block of {} bytes", bytes);
}

std::string append_limit(hid_t file, const Definitions& d) {
    if (std::string why = user_block_limit(file); !why.empty()) return why;
    H5F_info2_t info{};
    if (H5Fget_info2(file, &info) < 0) return "HDF5 cannot read its superblock";
    if (info.super.version > last_superblock)
        return fmt::format(
            "its HDF5 superblock has version {} (libver 'latest' or 'v110'); at most {} is "
            "possible",
            info.super.version, last_superblock);
    const Handle properties(H5Fget_create_plist(file), H5Pclose);
    if (properties < 0 || manages_room(properties))
        return "HDF5 manages its room in pages, or keeps lists of it in the file";
    const bool records = std::any_of(d.variables.begin(), d.variables.end(),
                                     [](const Variable& v) { return v.record; });
    if (!records) return {};
    const std::string& name = d.dims[d.record_dim()].name;
    if (is_data_set(file, name)) return {};
    return fmt::format("its record dimension '{}' has no dimension scale", name);
}

std::string append_limit(hid_t set, const Variable& v, const StoredVariable& s, int record_dim) {
    const Handle properties(H5Dget_create_plist(set), H5Pclose);
    if (std::string why = layout_limit(properties, s); !why.empty()) return why;
    Hdf5Shape length{}, most{};
    const int nd = shape_of(set, length, &most);
    const std::size_t lead = v.record ? 1 : 0;
    const auto inner = std::span(v.dims).subspan(lead);
    if (std::find(inner.begin(), inner.end(), record_dim) != inner.end())
        return "the record dimension is not its first one";
    if (std::count(most.begin(), most.begin() + nd, H5S_UNLIMITED) > 1)
        return "it has several unlimited dimensions";
    if (v.record && most[0] != H5S_UNLIMITED) return "its data set in HDF5 cannot grow";
    for (std::size_t d = 0; d < v.shape.size(); ++d)
        if (s.extent[d + lead] != v.shape[d])
            return fmt::format("its data set in HDF5 has length {} along a dimension of length {}",
                               s.extent[d + lead], v.shape[d]);
    return {};
}

namespace {

int most_digits(Packing::Quantize kind, tw_type type) {
    if (kind == Packing::Quantize::bitround) return type == TW_FLOAT ? 23 : 52;
    return type == TW_FLOAT ? 7 : 15;
}

}  // namespace

Packing packing_of(const Variable& v, const StoredVariable& s) {
    Packing p;
    p.whole = s.chunked;
    if (s.chunked) p.chunks.assign(s.chunk.begin() + (v.record ? 1 : 0), s.chunk.end());
    for (const StoredFilter& f : s.filters) {
        if (f.id == H5Z_FILTER_SHUFFLE) p.shuffle = true;
        if (f.id != H5Z_FILTER_DEFLATE && f.id != zstd_filter) continue;
        p.codec = f.id == zstd_filter ? Packing::Codec::zstd : Packing::Codec::deflate;
        p.level = f.level;
    }
    // Quantize if the file has netCDF-C's attribute of quantization, as netCDF-C does.
    using Quantize = Packing::Quantize;
    if (v.type != TW_FLOAT && v.type != TW_DOUBLE) return p;
    for (const Quantize kind : {Quantize::bitgroom, Quantize::granularbr, Quantize::bitround}) {
        const Attribute* const a = v.attributes.get(quantize_attribute(kind));
        if (a == nullptr || a->type != TW_INT || a->n != 1) continue;
        int digits = 0;
        std::memcpy(&digits, a->values.data(), sizeof digits);
        if (digits < 1 || digits > most_digits(kind, v.type)) continue;
        p.quantize = kind;
        p.digits = digits;
    }
    return p;
}

}  // namespace thalweg::detail
