// Makes the reference: plain serial netCDF-C writes the same definitions and data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"
#include "compare.hpp"
#include "thalweg/thalweg.h"

// Bytes that must be free after the header, as the setting header_pad promises (docs/settings.md).
// Data are aligned only to the format's 4 bytes.
constexpr std::size_t default_header_pad = 4096;
constexpr std::size_t section_alignment = 4;

class Oracle {
public:
    /// @param format  "cdf1", "cdf2", "cdf5", "netcdf4" or "netcdf4-classic"
    Oracle(std::string path, const std::string& format) : path_(std::move(path)) {
        const int mode = format == "cdf1"              ? 0
                         : format == "cdf2"            ? NC_64BIT_OFFSET
                         : format == "netcdf4"         ? NC_NETCDF4
                         : format == "netcdf4-classic" ? NC_NETCDF4 | NC_CLASSIC_MODEL
                                                       : NC_64BIT_DATA;
        require(nc_create(path_.c_str(), NC_CLOBBER | mode, &id_), "nc_create");
    }

    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    ~Oracle() {
        if (id_ >= 0) nc_close(id_);
    }

    /// Returns the number of a dimension; defines it if it is new.
    int dim(const std::string& name, std::int64_t length) {
        int dim_id = 0;
        if (nc_inq_dimid(id_, name.c_str(), &dim_id) == NC_NOERR) return dim_id;
        require(nc_def_dim(id_, name.c_str(), static_cast<std::size_t>(length), &dim_id),
                "nc_def_dim");
        return dim_id;
    }

    int var(const std::string& name, tw_type type, const std::vector<std::string>& dims) {
        std::vector<int> ids;
        for (const std::string& d : dims) {
            int dim_id = 0;
            require(nc_inq_dimid(id_, d.c_str(), &dim_id), "nc_inq_dimid");
            ids.push_back(dim_id);
        }
        int var_id = 0;
        require(nc_def_var(id_, name.c_str(), static_cast<nc_type>(type),
                           static_cast<int>(ids.size()), ids.data(), &var_id),
                "nc_def_var");
        return var_id;
    }

    /// @param var  NC_GLOBAL, or an id that var() has returned
    void att(int var, const std::string& name, tw_type type, std::int64_t n, const void* values) {
        require(nc_put_att(id_, var, name.c_str(), static_cast<nc_type>(type),
                           static_cast<std::size_t>(n), values),
                "nc_put_att");
    }

    void enddef(std::size_t header_pad = default_header_pad) {
        const int status = nc__enddef(id_, header_pad, section_alignment, 0, section_alignment);
        if (status != NC_ENOTINDEFINE) require(status, "nc__enddef");  // netCDF-4 needs no call
    }

    /// Begins to define attributes after data. The layout does not change.
    void redef() {
        const int status = nc_redef(id_);
        if (status != NC_EINDEFINE) require(status, "nc_redef");  // netCDF-4 needs no call
    }
    void enddef_again() { require(nc_enddef(id_), "nc_enddef"); }

    /// Puts values. Returns netCDF's status, because NC_ERANGE may be expected.
    int put(int var, tw_type memory, const std::vector<std::size_t>& start,
            const std::vector<std::size_t>& count, const void* data) {
        const std::size_t none = 0;
        const std::size_t* s = start.empty() ? &none : start.data();
        const std::size_t* c = count.empty() ? &none : count.data();
        switch (memory) {
            case TW_BYTE:
                return nc_put_vara_schar(id_, var, s, c, static_cast<const signed char*>(data));
            case TW_CHAR: return nc_put_vara_text(id_, var, s, c, static_cast<const char*>(data));
            case TW_SHORT:
                return nc_put_vara_short(id_, var, s, c, static_cast<const short*>(data));
            case TW_INT: return nc_put_vara_int(id_, var, s, c, static_cast<const int*>(data));
            case TW_FLOAT:
                return nc_put_vara_float(id_, var, s, c, static_cast<const float*>(data));
            case TW_DOUBLE:
                return nc_put_vara_double(id_, var, s, c, static_cast<const double*>(data));
            case TW_UBYTE:
                return nc_put_vara_uchar(id_, var, s, c, static_cast<const unsigned char*>(data));
            case TW_USHORT:
                return nc_put_vara_ushort(id_, var, s, c, static_cast<const unsigned short*>(data));
            case TW_UINT:
                return nc_put_vara_uint(id_, var, s, c, static_cast<const unsigned int*>(data));
            case TW_INT64:
                return nc_put_vara_longlong(id_, var, s, c, static_cast<const long long*>(data));
            case TW_UINT64:
                return nc_put_vara_ulonglong(id_, var, s, c,
                                             static_cast<const unsigned long long*>(data));
        }
        return NC_EBADTYPE;
    }

    void close() {
        require(nc_close(id_), "nc_close");
        id_ = -1;
        zero_gaps(path_);
    }

    int id() const { return id_; }

    /// Ends the test if the reference fails.
    void require(int status, const char* call) const {
        if (status == NC_NOERR) return;
        check::print(check::text("[rank {}] reference {}: {}: {}", check::state.rank, path_, call,
                                 nc_strerror(status)));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

private:
    std::string path_;
    int id_ = -1;
};

/// Reads values of any type. Returns netCDF's status.
inline int get_values(int id, int var, tw_type memory, const std::vector<std::size_t>& start,
                      const std::vector<std::size_t>& count, void* to) {
    const std::size_t* s = start.data();
    const std::size_t* c = count.data();
    switch (memory) {
        case TW_BYTE: return nc_get_vara_schar(id, var, s, c, static_cast<signed char*>(to));
        case TW_CHAR: return nc_get_vara_text(id, var, s, c, static_cast<char*>(to));
        case TW_SHORT: return nc_get_vara_short(id, var, s, c, static_cast<short*>(to));
        case TW_INT: return nc_get_vara_int(id, var, s, c, static_cast<int*>(to));
        case TW_FLOAT: return nc_get_vara_float(id, var, s, c, static_cast<float*>(to));
        case TW_DOUBLE: return nc_get_vara_double(id, var, s, c, static_cast<double*>(to));
        case TW_UBYTE: return nc_get_vara_uchar(id, var, s, c, static_cast<unsigned char*>(to));
        case TW_USHORT: return nc_get_vara_ushort(id, var, s, c, static_cast<unsigned short*>(to));
        case TW_UINT: return nc_get_vara_uint(id, var, s, c, static_cast<unsigned int*>(to));
        case TW_INT64: return nc_get_vara_longlong(id, var, s, c, static_cast<long long*>(to));
        case TW_UINT64:
            return nc_get_vara_ulonglong(id, var, s, c, static_cast<unsigned long long*>(to));
    }
    return NC_EBADTYPE;
}
