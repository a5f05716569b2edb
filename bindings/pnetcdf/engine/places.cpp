// Computes addresses by the "NetCDF Classic Format Specification" and the "CDF-5 File Format
// Specification".
//
// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/places.hpp"

#include <netcdf.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "error.hpp"
#include "types.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

namespace {

constexpr Index free_bytes = 4096;  // free bytes after the header, the library's default

Index padded(Index bytes) { return (bytes + 3) / 4 * 4; }

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
    explicit Header(const std::string& path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        if (bytes_.compare(0, 3, "CDF") != 0) fail();
        version_ = bytes_[3];
        at_ = 4;
    }

    Index number() { return field(version_ == 5 ? 8 : 4); }
    Index offset() { return field(version_ == 1 ? 4 : 8); }
    Index word() { return field(4); }
    Index place() const { return static_cast<Index>(at_); }
    void skip(Index bytes) { at_ += static_cast<std::size_t>(padded(bytes)); }
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
    std::string path_, bytes_;
    std::size_t at_ = 0;
    int version_ = 0;

    [[noreturn]] void fail() const { throw Error{NC_ENOTNC, path_ + ": not a classic file"}; }
    Index field(std::size_t size) {
        if (at_ + size > bytes_.size()) fail();
        Index value = 0;
        for (std::size_t i = 0; i < size; i++)
            value = value * 256 + static_cast<unsigned char>(bytes_[at_ + i]);
        at_ += size;
        return value;
    }
};

}  // namespace

Places places_of(const Table& table, int format) {
    Places p;
    p.header = header_bytes(table, format);
    p.extent = padded(p.header + free_bytes);
    p.begin.resize(table.variables.size());
    Index next = p.extent;
    for (const bool record : {false, true})
        for (std::size_t i = 0; i < p.begin.size(); i++) {
            const Variable& v = table.variables[i];
            if (table.is_record(v) != record) continue;
            p.begin[i] = next;
            next += padded(bytes_of(table, v));
        }
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
