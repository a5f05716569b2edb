// Computes addresses by the "NetCDF Classic Format Specification" and the "CDF-5 File Format
// Specification".
//
// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/places.hpp"

#include <netcdf.h>

#include <algorithm>
#include <fstream>

#include "nc/base/error.hpp"
#include "nc/base/types.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

namespace {

Index padded(Index bytes) { return (bytes + 3) / 4 * 4; }

Index aligned(Index offset, Index alignment) {
    const Index unit = std::max<Index>(padded(alignment), 4);
    return (offset + unit - 1) / unit * unit;
}

Index bytes_of(const Table& table, const Variable& v) {
    auto bytes = static_cast<Index>(size_of(v.type));
    for (std::size_t d = table.is_record(v) ? 1 : 0; d < v.dims.size(); d++)
        bytes *= table.length(v.dims[d]);
    return bytes;
}

// If there is only one record variable, its records are not padded.
Index bytes_of_records(const Table& table) {
    Index all = 0, n = 0, only = 0;
    for (const Variable& v : table.variables) {
        if (!table.is_record(v)) continue;
        only = bytes_of(table, v);
        all += padded(only);
        n++;
    }
    return n == 1 ? only : all;
}

Index header_bytes(const Table& table, int format) {
    const Index number = format == NC_FORMAT_64BIT_DATA ? 8 : 4;
    const Index offset = format == NC_FORMAT_CLASSIC ? 4 : 8;
    const auto name = [&](const std::string& text) {
        return number + padded(static_cast<Index>(text.size()));
    };
    const auto attributes = [&](const std::vector<Attribute>& all) {
        Index bytes = 4 + number;
        for (const Attribute& a : all)
            bytes += name(a.name) + 4 + number + padded(static_cast<Index>(a.bytes.size()));
        return bytes;
    };
    Index bytes = 4 + number + (4 + number) + attributes(table.attributes) + (4 + number);
    for (const Dimension& d : table.dimensions) bytes += name(d.name) + number;
    for (const Variable& v : table.variables)
        bytes += name(v.name) + number + number * static_cast<Index>(v.dims.size()) +
                 attributes(v.attributes) + 4 + number + offset;
    return bytes;
}

// Reads the fields of a header one after another.
class Header {
public:
    explicit Header(const std::string& path) : path_(path), file_(path, std::ios::binary) {
        version_ = static_cast<int>(field(4) - 0x43444600);  // "CDF"
        if (version_ != 1 && version_ != 2 && version_ != 5) fail();
    }

    Index number() { return field(version_ == 5 ? 8 : 4); }
    Index offset() { return field(version_ == 1 ? 4 : 8); }
    Index word() { return field(4); }
    Index place() const { return at_; }
    void skip(Index bytes) {
        file_.seekg(padded(bytes), std::ios::cur);
        at_ += padded(bytes);
    }
    void skip_name() { skip(number()); }
    void skip_attributes() {
        word();
        for (Index n = number(); n > 0; n--) {
            skip_name();
            const Index size = static_cast<Index>(size_of(static_cast<int>(word())));
            skip(number() * size);
        }
    }

private:
    std::string path_;
    std::ifstream file_;
    Index at_ = 0;
    int version_ = 0;

    [[noreturn]] void fail() const { throw Error{NC_ENOTNC, path_ + ": not a classic file"}; }
    Index field(std::size_t size) {
        unsigned char bytes[8];
        if (!file_.read(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(size))) fail();
        Index value = 0;
        for (std::size_t i = 0; i < size; i++) value = value * 256 + bytes[i];
        at_ += static_cast<Index>(size);
        return value;
    }
};

}  // namespace

Places places_of(const Table& table, int format, const detail::HeaderPadding& spacing) {
    Places p;
    p.header = p.extent = header_bytes(table, format);
    p.begin.resize(table.variables.size());
    Index next = aligned(p.header + spacing.header_pad, spacing.var_align);
    for (const bool record : {false, true}) {
        if (record) {
            p.fixed_end = next;
            next = aligned(next + spacing.var_pad, spacing.record_align);
        }
        for (std::size_t i = 0; i < p.begin.size(); i++) {
            const Variable& v = table.variables[i];
            if (table.is_record(v) != record) continue;
            p.begin[i] = next;
            next += padded(bytes_of(table, v));
        }
    }
    if (!p.begin.empty()) p.extent = *std::min_element(p.begin.begin(), p.begin.end());
    p.record_bytes = bytes_of_records(table);
    return p;
}

Places read_places(const std::string& path) {
    Places p;
    Header header(path);
    header.number();  // number of records
    header.word();
    std::vector<bool> unlimited;
    for (Index n = header.number(); n > 0; n--) {
        header.skip_name();
        unlimited.push_back(header.number() == 0);
    }
    header.skip_attributes();
    header.word();
    Index only = 0, records = 0;
    for (Index n = header.number(); n > 0; n--) {
        header.skip_name();
        bool record = false;
        const Index dims = header.number();
        for (Index d = 0; d < dims; d++) {
            const auto dim = static_cast<std::size_t>(header.number());
            record = record || (d == 0 && dim < unlimited.size() && unlimited[dim]);
        }
        header.skip_attributes();
        header.word();
        const Index bytes = header.number();
        p.begin.push_back(header.offset());
        if (record) records++, only = bytes, p.record_bytes += bytes;
    }
    if (records == 1) p.record_bytes = only;
    p.header = header.place();
    p.extent = p.begin.empty() ? p.header : *std::min_element(p.begin.begin(), p.begin.end());
    return p;
}

}  // namespace thalweg::pnetcdf::engine
