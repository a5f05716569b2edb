// Follows the grammar of "NetCDF Classic Format Specification" (NetCDF User's Guide, appendix B;
// for CDF-5 PnetCDF's "CDF-5 File Format Specification"), whose names are quoted below.
// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/header_writer.hpp"

#include <algorithm>
#include <limits>

#include "storage/classic/tags.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 3) / 4 * 4; }

/// Moves an offset past `free` bytes, and then up to a multiple of `alignment` and of 4. Returns
/// false if the offset would overflow.
bool advance(std::int64_t& offset, std::int64_t free, std::int64_t alignment) {
    if (__builtin_add_overflow(offset, free, &offset)) return false;
    const std::int64_t unit = padded(std::max<std::int64_t>(alignment, 1));
    return !__builtin_add_overflow(offset, (unit - offset % unit) % unit, &offset);
}

std::int64_t bytes_of(const Variable& v) { return v.elements() * v.element(); }

/// Writes one header. The length of the header does not depend on the offsets in it, so it is
/// written twice: first to find its length, then with the resulting offsets.
class Writer {
public:
    Writer(const std::string& path, const Definitions& definitions, Format format)
        : path_(path), definitions_(definitions), format_(format) {}

    /// Writes netcdf_file = magic numrecs dim_list gatt_list var_list.
    Status write(const FileMap& map, std::vector<char>& bytes) {
        bytes_ = {'C', 'D', 'F', static_cast<char>(format_)};
        number(0, width());
        list(dimension_tag, definitions_.dims.size());
        for (const Dimension& dim : definitions_.dims) {
            name(dim.name);
            number(dim.length, width());
        }
        attributes(definitions_.attributes, "");
        list(variable_tag, definitions_.variables.size());
        for (std::size_t i = 0; i < definitions_.variables.size(); ++i)
            variable(definitions_.variables[i], map.offset[i]);
        bytes = std::move(bytes_);
        return std::move(status_);
    }

private:
    /// Returns the bytes of NON_NEG: 4, in CDF-5 8.
    int width() const { return format_ == Format::cdf5 ? 8 : 4; }

    void number(std::int64_t value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
            bytes_.push_back(static_cast<char>(value >> shift));
    }

    void pad() { bytes_.resize(padded(std::ssize(bytes_))); }

    /// Writes the beginning of a list. For an empty list this is ABSENT, which contains neither tag
    /// nor entries.
    void list(std::int64_t tag, std::size_t entries) {
        number(entries == 0 ? 0 : tag, 4);
        number(entries, width());
    }

    void name(const std::string& text) {
#ifndef THALWEG_HAVE_UTF8PROC
        // Without utf8proc, combining characters may be in another normal form than C.
        if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0xcc; }))
            refuse(failure(TW_EUNSUPPORTED,
                           "the name '{}' has characters beyond Latin, which need a build of the "
                           "library with utf8proc",
                           text));
#endif
        number(std::ssize(text), width());
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        pad();
    }

    /// Writes att_list; attr = name nc_type nelems [values ...].
    void attributes(const std::vector<Attribute>& attributes, const std::string& owner) {
        list(attribute_tag, attributes.size());
        for (const Attribute& a : attributes) {
            if (width() == 4 && a.n > std::numeric_limits<std::int32_t>::max())
                refuse(failure(TW_EFORMAT, "{} '{}' has {} elements, more than format {} can hold",
                               owner.empty() ? "global attribute" : "attribute of '" + owner + "'",
                               a.name, a.n, name_of(format_)));
            name(a.name);
            number(a.type, 4);
            number(a.n, width());
            const std::size_t begin = bytes_.size(), size = size_of(a.type);
            bytes_.insert(bytes_.end(), a.values.begin(), a.values.end());
            for (std::size_t at = begin; at < bytes_.size(); at += size)
                to_big_endian(a.type, bytes_.data() + at);
            pad();
        }
    }

    /// Writes var = name nelems [dimid ...] vatt_list nc_type vsize begin.
    void variable(const Variable& v, std::int64_t offset) {
        name(v.name);
        number(std::ssize(v.dims), width());
        for (const int dim : v.dims) number(dim, width());
        attributes(v.attributes, v.name);
        number(v.type, 4);
        // "For variables that are too large for this, 2^32 - 1 is used."
        constexpr std::int64_t largest = std::numeric_limits<std::uint32_t>::max();
        const std::int64_t size = padded(bytes_of(v));
        number(width() == 8 ? size : std::min(size, largest), width());
        if (format_ == Format::cdf1 && offset > std::numeric_limits<std::int32_t>::max())
            refuse(failure(TW_EFORMAT,
                           "variable '{}' begins beyond the 2 GiB that format cdf1 can address; "
                           "use cdf2 or cdf5",
                           OfVariable{v.name}));
        number(offset, format_ == Format::cdf1 ? 4 : 8);
    }

    void refuse(Status status) {
        if (!status_.ok()) return;
        status_ = std::move(status);
        status_.text = path_ + ": " + status_.text;
    }

    const std::string& path_;
    const Definitions& definitions_;
    Format format_;
    std::vector<char> bytes_;
    Status status_;
};

/// Computes the places of the data after a header; false if an offset would overflow.
bool place(const Definitions& d, std::int64_t begin, const HeaderPadding& spacing, FileMap& map) {
    map = {};
    if (!advance(begin, spacing.header_pad, spacing.var_align)) return false;
    const auto records = std::count_if(d.variables.begin(), d.variables.end(),
                                       [](const Variable& v) { return v.record; });
    map.offset.resize(d.variables.size());
    for (const bool record : {false, true}) {
        if (record && records > 0) {
            if (!advance(begin, spacing.var_pad, spacing.record_align)) return false;
            map.record_begin = begin;
        }
        for (std::size_t i = 0; i < d.variables.size(); ++i) {
            const Variable& v = d.variables[i];
            if (v.record != record) continue;
            map.offset[i] = begin;
            if (__builtin_add_overflow(begin, padded(bytes_of(v)), &begin)) return false;
            if (!record) map.fixed_end = begin;
        }
    }
    for (const Variable& v : d.variables) {
        // If a file has only one record variable, its records follow each other without padding.
        const bool dense = v.record && records == 1;
        map.padded.push_back(dense ? bytes_of(v) : padded(bytes_of(v)));
        map.grain.push_back(v.element());
        if (v.record) map.record_bytes += map.padded.back();
    }
    return true;
}

}  // namespace

FileMap plain_map(const Definitions& definitions) {
    FileMap map;
    (void)place(definitions, 0, {.header_pad = 0}, map);
    return map;
}

std::vector<char> record_count(Format format, std::int64_t records) {
    std::uint64_t n = records;
    to_big_endian(TW_UINT64, &n);
    const auto* bytes = reinterpret_cast<const char*>(&n);
    return {bytes + (format == Format::cdf5 ? 0 : 4), bytes + 8};
}

Status compose_header(const std::string& path, const Definitions& definitions, Format format,
                      const HeaderPadding& spacing, FileMap& map, std::vector<char>& bytes) {
    FileMap nowhere;
    nowhere.offset.resize(definitions.variables.size());
    Status status = compose_header_for(path, definitions, format, nowhere, bytes);
    if (!status.ok()) return status;
    if (!place(definitions, std::ssize(bytes), spacing, map))
        return failure(TW_EFORMAT, "{}: the variables are too large for any format", OfFile{path});
    return compose_header_for(path, definitions, format, map, bytes);
}

Status compose_header_for(const std::string& path, const Definitions& definitions, Format format,
                          const FileMap& map, std::vector<char>& bytes) {
    return Writer(path, definitions, format).write(map, bytes);
}

}  // namespace thalweg::detail
