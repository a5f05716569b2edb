// The definitions of a file, as every rank knows them; they answer inquiries.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/wire.hpp"
#include "definitions/named_list.hpp"
#include "nc/base/shape.hpp"

namespace thalweg::nc {

inline constexpr const char* fill_attribute = "_FillValue";

struct Attribute {
    std::string name;
    nc_type type = NC_CHAR;
    Index n = 0;
    std::string bytes;  // n values in the machine's byte order
};

struct Dimension {
    std::string name;
    Index length = 0;  // present length of an unlimited dimension
    bool unlimited = false;
};

// A filter of HDF5. `id` is the number that the HDF Group has registered.
struct Filter {
    unsigned id = 0;
    std::vector<unsigned> parameters;
};

// A chunk cache of HDF5, as the program has set it; the library does not use one.
struct ChunkCache {
    Index size = 0, elements = 0;  // size in bytes, and number of slots of the hash table
    float preemption = 0;
};

// The storage of a variable in a netCDF-4 file.
struct Storage {
    int layout = -1;  // NC_CONTIGUOUS, NC_CHUNKED, or -1 if not chosen
    std::vector<std::size_t> chunks;
    bool filters_set = false;  // the program has chosen the filters (the next five members)
    int shuffle = 0, deflate = 0, level = 0;
    bool zstandard = false;
    int zstandard_level = 0;
    std::vector<Filter> others;  // filters that the library cannot apply
    int quantize = 0, digits = 0;
    int endian = NC_ENDIAN_NATIVE;
    bool no_fill = false;
    bool of_file = false;  // the members describe the storage in the file

    bool filtered() const {
        return deflate != 0 || shuffle != 0 || zstandard || quantize != 0 || !others.empty();
    }
};

struct Variable {
    std::string name;
    nc_type type = NC_DOUBLE;
    std::vector<int> dims;
    detail::NamedList<Attribute> attributes;
    Storage storage;
    std::optional<ChunkCache> cache;  // cache that the program has set
    int frame = -1;
};

struct Table {
    detail::NamedList<Dimension> dimensions;
    detail::NamedList<Variable> variables;
    detail::NamedList<Attribute> attributes;

    // The following functions return a definition. They throw NC_EBADDIM, NC_ENOTVAR or NC_ENOTATT.
    // For attributes, varid may be NC_GLOBAL.
    Dimension& dimension(int dimid);
    Variable& variable(int varid);
    const Variable& variable(int varid) const { return const_cast<Table*>(this)->variable(varid); }
    detail::NamedList<Attribute>& attributes_of(int varid);
    Attribute& attribute(int varid, const std::string& name);
    const Attribute& attribute(int varid, int number);
    int number_of_attribute(int varid, const std::string& name);
    int dimension_named(const std::string& name) const;
    int variable_named(const std::string& name) const;

    // The following two functions return -1 if there is none.
    int find_dimension(const std::string& name) const { return dimensions.find(name); }
    int find_variable(const std::string& name) const { return variables.find(name); }
    int unlimited() const;  // number of the record dimension; -1 if there is none
    Index length(int dimid) const { return dimensions[static_cast<std::size_t>(dimid)].length; }
    Index records() const;  // length of the record dimension; 0 if there is none
    void set_records(Index records);

    // Lengthens unlimited dimensions so that they contain a section.
    // @param stride  may be NULL
    void grow(const Variable& variable, const Index* start, const Index* count,
              const Index* stride);

    bool is_record(const Variable& variable) const;
    std::vector<Index> lengths(const Variable& variable) const;
    std::vector<std::string> names(const Variable& variable) const;

    // Returns the fill value of a variable: _FillValue, or netCDF's default for its type.
    static std::string fill_of(const Variable& variable);
};

// The fields of definitions in messages. The length of an unlimited dimension is not among them.
template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Attribute> a) {
    wire(a.name, a.type, a.n, a.bytes);
}
template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Dimension> d) {
    wire(d.name, d.unlimited);
    if (!d.unlimited) wire(d.length);
}
template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Filter> f) {
    wire(f.id, f.parameters);
}
template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Storage> s) {
    wire(s.layout, s.chunks, s.shuffle, s.deflate, s.level, s.zstandard, s.zstandard_level,
         s.others, s.endian);
}
template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Variable> v) {
    wire(v.name, v.type, v.storage.no_fill, v.dims);
}

// Checks a name, and converts it to Unicode's normal form. Throws NC_EBADNAME or NC_EMAXNAME.
void check_name(std::string& name);

}  // namespace thalweg::nc
