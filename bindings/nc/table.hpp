// The definitions of a file, as every rank knows them; they answer inquiries.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "definitions/named_list.hpp"
#include "map.hpp"

namespace thalweg::nc {

inline constexpr const char* fill_attribute = "_FillValue";

struct Attribute {
    std::string name;
    nc_type type = NC_CHAR;
    Index n = 0;
    std::string bytes;  // n values in memory order
};

struct Dimension {
    std::string name;
    Index length = 0;  // length so far, if the dimension is unlimited
    bool unlimited = false;
};

// A filter of HDF5, by its number at the HDF group.
struct Filter {
    unsigned id = 0;
    std::vector<unsigned> parameters;
};

// A chunk cache of HDF5, which the library does not use.
struct ChunkCache {
    Index size = 0, elements = 0;  // bytes, and slots of the hash table
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
    std::vector<Filter> others;  // filters that the library does not write
    int quantize = 0, digits = 0;
    int endian = NC_ENDIAN_NATIVE;
    bool no_fill = false;
    bool of_file = false;  // the members were read from the file

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

    // Return a definition. Throw NC_EBADDIM, NC_ENOTVAR, NC_ENOTATT; varid may be NC_GLOBAL for
    // attributes.
    Dimension& dimension(int dimid);
    Variable& variable(int varid);
    detail::NamedList<Attribute>& attributes_of(int varid);
    Attribute& attribute(int varid, const std::string& name);

    int find_dimension(const std::string& name) const;  // -1: none
    int find_variable(const std::string& name) const;
    int unlimited() const;  // the record dimension, -1: none
    Index length(int dimid) const;

    // Lengthens unlimited dimensions to hold a section.
    // @param stride  may be NULL
    void grow(const Variable& variable, const Index* start, const Index* count,
              const Index* stride);

    bool is_record(const Variable& variable) const;
    std::vector<Index> lengths(const Variable& variable) const;
    std::vector<std::string> names(const Variable& variable) const;

    // Returns the fill value in the variable's type: _FillValue, or netCDF's default.
    static std::string fill_of(const Variable& variable);
};

// Checks and normalizes a name. Throws NC_EBADNAME, NC_EMAXNAME.
void check_name(std::string& name);

}  // namespace thalweg::nc
