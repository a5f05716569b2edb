// Definitions and storage of files by netCDF-C: by this layer's own, or by that of the program.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>
#include <netcdf.h>
#include <netcdf_filter.h>

#include <string>

#include "base/system/bypass_shim.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "nc/base/error.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

namespace thalweg::nc {

// For the duration of a scope, silences HDF5's error messages, because netCDF-C makes calls that
// may fail, and the signal of the limit on file sizes. Also makes this layer's own calls reach
// netCDF-C, even if the shim replaces the program's calls.
class Quiet {
public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    detail::BypassShim untaken_;
    detail::IgnoreSigxfsz no_signal_;
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

// The functions of this layer's netCDF-C, by their names in netCDF's dispatch table.
struct OwnNetcdf {
    static constexpr auto inq_dimid = nc_inq_dimid;
    static constexpr auto inq_varid = nc_inq_varid;
    static constexpr auto def_dim = nc_def_dim;
    static constexpr auto def_var = nc_def_var;
    static constexpr auto def_var_chunking = nc_def_var_chunking;
    static constexpr auto def_var_deflate = nc_def_var_deflate;
    static constexpr auto def_var_fletcher32 = nc_def_var_fletcher32;
    static constexpr auto def_var_filter = nc_def_var_filter;
    static constexpr auto def_var_endian = nc_def_var_endian;
#ifdef NC_QUANTIZE_BITGROOM
    static constexpr auto def_var_quantize = nc_def_var_quantize;
#else
    static int def_var_quantize(int, int, int, int) { return NC_NOERR; }
#endif
    // Files that one rank writes are filled: what it does not write must not be left undefined.
    static int def_var_fill(int, int, int, const void*) { return NC_NOERR; }
    static int put_att(int ncid, int varid, const char* name, nc_type type, std::size_t n,
                       const void* values, nc_type) {
        return nc_put_att(ncid, varid, name, type, n, values);
    }
};

// Throws an error unless a code of netCDF-C is 0.
inline void check_code(int code, const std::string& path, const std::string& what) {
    if (code != NC_NOERR) throw Error{code, path + ": " + what + ": " + nc_strerror(code)};
}

// The following functions return netCDF's codes.
// @param netcdf  OwnNetcdf or a dispatch table

template <class Netcdf>
int define_dimension(const Netcdf& netcdf, int ncid, const Dimension& d) {
    int id = 0;
    return netcdf.def_dim(ncid, d.name.c_str(),
                          d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length), &id);
}

// Defines a variable, without its attributes.
template <class Netcdf>
int define_variable(const Netcdf& netcdf, int ncid, const Variable& v) {
    if (size_of(v.type) == 0) return NC_EBADTYPE;
    int id = 0;
    int code = netcdf.def_var(ncid, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                              v.dims.data(), &id);
    const Storage& s = v.storage;
    const bool scalar = v.dims.empty();  // has neither chunks nor filters
    if (code == NC_NOERR && s.layout >= 0 && !scalar)
        code = netcdf.def_var_chunking(ncid, id, s.layout,
                                       s.chunks.empty() ? nullptr : s.chunks.data());
    if (code == NC_NOERR && (s.deflate != 0 || s.shuffle != 0) && !scalar)
        code = netcdf.def_var_deflate(ncid, id, s.shuffle, s.deflate, s.level);
    if (code == NC_NOERR && s.quantize != 0)
        code = netcdf.def_var_quantize(ncid, id, s.quantize, s.digits);
    if (code == NC_NOERR && s.endian != NC_ENDIAN_NATIVE)
        code = netcdf.def_var_endian(ncid, id, s.endian);
    if (code == NC_NOERR && s.no_fill) code = netcdf.def_var_fill(ncid, id, 1, nullptr);
    for (const Filter& f : filters_of(s))
        if (code != NC_NOERR || scalar || f.id == deflate_filter || f.id == shuffle_filter)
            continue;
        else if (f.id == fletcher_filter)
            code = netcdf.def_var_fletcher32(ncid, id, 1);
        else
            code = netcdf.def_var_filter(ncid, id, f.id, f.parameters.size(), f.parameters.data());
    return code;
}

template <class Netcdf>
int define_attribute(const Netcdf& netcdf, int ncid, int varid, const Attribute& a) {
    if (size_of(a.type) == 0) return NC_EBADTYPE;  // the table lacks such values
    return netcdf.put_att(ncid, varid, a.name.c_str(), a.type, static_cast<std::size_t>(a.n),
                          a.bytes.data(), a.type);
}

// Makes the definitions of a new file, in the order of their ids. Throws errors.
template <class Netcdf>
void define_all(const Netcdf& netcdf, int ncid, const Table& table, const std::string& path) {
    const auto attributes = [&](int varid, const std::vector<Attribute>& all) {
        for (const Attribute& a : all)
            check_code(define_attribute(netcdf, ncid, varid, a), path, "attribute " + a.name);
    };
    for (const Dimension& d : table.dimensions)
        check_code(define_dimension(netcdf, ncid, d), path, "dimension " + d.name);
    attributes(NC_GLOBAL, table.attributes);
    int id = 0;
    for (const Variable& v : table.variables) {
        check_code(define_variable(netcdf, ncid, v), path, "variable " + v.name);
        attributes(id++, v.attributes);
    }
}

// Tests if dimensions and variables have the same ids in a file as in a table.
template <class Netcdf>
bool has_same_ids(const Netcdf& netcdf, int ncid, const Table& table) {
    int wanted = 0, id = -1;
    for (const Dimension& d : table.dimensions)
        if (netcdf.inq_dimid(ncid, d.name.c_str(), &id) != 0 || id != wanted++) return false;
    wanted = 0;
    for (const Variable& v : table.variables)
        if (netcdf.inq_varid(ncid, v.name.c_str(), &id) != 0 || id != wanted++) return false;
    return true;
}

// Tests if HDF5 can write with a filter.
// @param id  number that the HDF Group has registered. Local
bool has_filter(unsigned id);

// Returns the storage of a netCDF-4 variable in a file that nobody writes. Local.
Storage stored(const std::string& path, const std::string& variable);

}  // namespace thalweg::nc
