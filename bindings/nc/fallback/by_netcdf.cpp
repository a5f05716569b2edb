// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/by_netcdf.hpp"

#include <netcdf.h>
#include <netcdf_filter.h>

#include <utility>

#include "nc/base/error.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage_rules.hpp"

namespace thalweg::nc {

void check_code(int code, const std::string& path, const std::string& what) {
    if (code != NC_NOERR) throw Error{code, path + ": " + what + ": " + nc_strerror(code)};
}

int define_variable(int ncid, const Variable& v) {
    int varid = 0;
    if (size_of(v.type) == 0) return NC_EBADTYPE;
    int code = nc_def_var(ncid, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                          v.dims.data(), &varid);
    const Storage& s = v.storage;
    if (code == NC_NOERR && s.layout >= 0 && !v.dims.empty())
        code = nc_def_var_chunking(ncid, varid, s.layout,
                                   s.chunks.empty() ? nullptr : s.chunks.data());
    if (code == NC_NOERR && !v.dims.empty() && (s.deflate != 0 || s.shuffle != 0))
        code = nc_def_var_deflate(ncid, varid, s.shuffle, s.deflate, s.level);
#ifdef NC_QUANTIZE_BITGROOM
    if (code == NC_NOERR && s.quantize != 0)
        code = nc_def_var_quantize(ncid, varid, s.quantize, s.digits);
#endif
    if (code == NC_NOERR && s.endian != NC_ENDIAN_NATIVE)
        code = nc_def_var_endian(ncid, varid, s.endian);
    if (code == NC_NOERR && s.zstandard) {
        const unsigned level = static_cast<unsigned>(s.zstandard_level);
        code = nc_def_var_filter(ncid, varid, zstd_filter, 1, &level);
    }
    for (const Filter& f : s.others)
        if (code == NC_NOERR && !v.dims.empty())
            code = f.id == fletcher_filter
                       ? nc_def_var_fletcher32(ncid, varid, 1)
                       : nc_def_var_filter(ncid, varid, f.id, f.parameters.size(),
                                           f.parameters.data());
    return code;
}

int put_attribute(int ncid, int varid, const Attribute& a) {
    if (size_of(a.type) == 0) return NC_EBADTYPE;  // the table lacks such values
    return nc_put_att(ncid, varid, a.name.c_str(), a.type, static_cast<std::size_t>(a.n),
                      a.bytes.data());
}

void define_all(int ncid, const Table& table, const std::string& path) {
    const auto check = [&](int code, const std::string& what) { check_code(code, path, what); };
    for (const Dimension& d : table.dimensions)
        check(nc_def_dim(ncid, d.name.c_str(),
                         d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length), nullptr),
              "dimension " + d.name);
    for (const Attribute& a : table.attributes)
        check(put_attribute(ncid, NC_GLOBAL, a), "attribute " + a.name);
    for (std::size_t i = 0; i < table.variables.size(); i++) {
        const Variable& v = table.variables[i];
        check(define_variable(ncid, v), "variable " + v.name);
        for (const Attribute& a : v.attributes)
            check(put_attribute(ncid, static_cast<int>(i), a), "attribute " + a.name);
    }
    check(nc_enddef(ncid), "definitions");
}

bool has_filter(unsigned id) {
    const Quiet quiet;
    unsigned flags = 0;
    const auto filter = static_cast<H5Z_filter_t>(id);
    return H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &flags) >= 0 &&
           (flags & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
}

Storage stored(const std::string& path, const std::string& variable) {
    const Quiet quiet;
    int ncid = -1, id = -1;
    check_code(nc_open(path.c_str(), NC_NOWRITE, &ncid), path, "cannot be opened");
    Storage s;
    int nd = 0;
    int code = nc_inq_varid(ncid, variable.c_str(), &id);
    if (code == NC_NOERR) code = nc_inq_varndims(ncid, id, &nd);
    s.chunks.resize(static_cast<std::size_t>(nd) + 1);
    if (code == NC_NOERR) code = nc_inq_var_chunking(ncid, id, &s.layout, s.chunks.data());
    if (code == NC_NOERR) code = nc_inq_var_deflate(ncid, id, &s.shuffle, &s.deflate, &s.level);
    if (code == NC_NOERR) code = nc_inq_var_endian(ncid, id, &s.endian);
    std::size_t n = 0;
    if (code == NC_NOERR) code = nc_inq_var_filter_ids(ncid, id, &n, nullptr);
    std::vector<unsigned> ids(n + 1);
    if (code == NC_NOERR) code = nc_inq_var_filter_ids(ncid, id, &n, ids.data());
    for (std::size_t i = 0; i < n && code == NC_NOERR; i++) {
        std::size_t parameters = 0;
        code = nc_inq_var_filter_info(ncid, id, ids[i], &parameters, nullptr);
        Filter filter{ids[i], std::vector<unsigned>(parameters + 1)};
        if (code == NC_NOERR)
            code = nc_inq_var_filter_info(ncid, id, ids[i], &parameters, filter.parameters.data());
        filter.parameters.resize(parameters);
        if (filter.id == zstd_filter && parameters == 1) {
            s.zstandard = true;
            s.zstandard_level = static_cast<int>(filter.parameters[0]);
        } else if (filter.id != deflate_filter && filter.id != shuffle_filter) {
            s.others.push_back(std::move(filter));
        }
    }
    nc_close(ncid);
    check_code(code, path, "storage of " + variable);
    s.chunks.resize(static_cast<std::size_t>(nd));
    return s;
}

}  // namespace thalweg::nc
