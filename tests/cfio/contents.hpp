// Reads the contents of a file with serial netCDF-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <string>
#include <vector>

#include "system/check.hpp"

class Contents {
public:
    explicit Contents(const std::string& path) {
        const int status = nc_open(path.c_str(), NC_NOWRITE, &id_);
        CHECK_TEXT(status == NC_NOERR, "{}: {}", path, nc_strerror(status));
        open_ = status == NC_NOERR;
    }
    ~Contents() {
        if (open_) nc_close(id_);
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    int format() const {
        int format = 0;
        nc_inq_format(id_, &format);
        return format;
    }

    // Returns the length of a dimension; -1 if there is none of this name.
    long length(const char* dim) const {
        int number = 0;
        std::size_t length = 0;
        if (nc_inq_dimid(id_, dim, &number) != NC_NOERR) return -1;
        nc_inq_dimlen(id_, number, &length);
        return static_cast<long>(length);
    }

    // Returns the type of a variable; 0 if there is none of this name.
    int type(const char* var) const {
        int number = 0;
        nc_type type = 0;
        if (nc_inq_varid(id_, var, &number) == NC_NOERR) nc_inq_vartype(id_, number, &type);
        return type;
    }

    std::vector<double> values(const char* var) const {
        int number = 0;
        int ndims = 0;
        if (nc_inq_varid(id_, var, &number) != NC_NOERR) return {};
        nc_inq_varndims(id_, number, &ndims);
        std::vector<int> dims(static_cast<std::size_t>(ndims));
        nc_inq_vardimid(id_, number, dims.data());
        std::size_t n = 1;
        for (const int dim : dims) {
            std::size_t length = 0;
            nc_inq_dimlen(id_, dim, &length);
            n *= length;
        }
        std::vector<double> result(n);
        if (nc_get_var_double(id_, number, result.data()) != NC_NOERR) return {};
        return result;
    }

    // Returns the type of an attribute; `var` is "" for an attribute of the file.
    int att_type(const char* var, const char* name) const {
        nc_type type = 0;
        if (nc_inq_atttype(id_, owner(var), name, &type) != NC_NOERR) return 0;
        return type;
    }
    std::vector<double> numbers(const char* var, const char* name) const {
        std::vector<double> numbers(length(var, name));
        if (nc_get_att_double(id_, owner(var), name, numbers.data()) != NC_NOERR) return {};
        return numbers;
    }

private:
    int owner(const char* var) const {
        int number = NC_GLOBAL;
        if (*var != '\0') nc_inq_varid(id_, var, &number);
        return number;
    }
    std::size_t length(const char* var, const char* name) const {
        std::size_t length = 0;
        nc_inq_attlen(id_, owner(var), name, &length);
        return length;
    }

    int id_ = -1;
    bool open_ = false;
};
