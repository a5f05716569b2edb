// SPDX-License-Identifier: Apache-2.0
#include "contents.hpp"

#include <netcdf.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

#include <vector>

namespace thalweg::netcdf::engine {

namespace {

bool has_strings(int ncid, int varid, int attributes) {
    for (int a = 0; a < attributes; a++) {
        char name[NC_MAX_NAME + 1];
        nc_type type = NC_NAT;
        if (nc_inq_attname(ncid, varid, a, name) != NC_NOERR) return true;
        if (nc_inq_atttype(ncid, varid, name, &type) != NC_NOERR || type >= NC_STRING) return true;
    }
    return false;
}

std::string beyond(int ncid, std::string& unfilled) {
    int n = 0, dims = 0, vars = 0, attributes = 0, unlimited = -1;
    if (nc_inq_grps(ncid, &n, nullptr) != NC_NOERR || n > 0) return "the file has groups";
    if (nc_inq_typeids(ncid, &n, nullptr) != NC_NOERR || n > 0) return "the file has user types";
    if (nc_inq_unlimdims(ncid, &n, nullptr) != NC_NOERR || n > 1)
        return "the file has several unlimited dimensions";
    nc_inq(ncid, &dims, &vars, &attributes, &unlimited);
    if (has_strings(ncid, NC_GLOBAL, attributes)) return "an attribute has strings";
    for (int v = 0; v < vars; v++) {
        char name[NC_MAX_NAME + 1];
        nc_type type = NC_NAT;
        std::vector<int> ids(NC_MAX_VAR_DIMS);
        nc_inq_var(ncid, v, name, &type, &n, ids.data(), &attributes);
        const std::string variable = std::string("variable '") + name + "'";
        if (type >= NC_STRING) return variable + " has strings or a user type";
        if (has_strings(ncid, v, attributes)) return "an attribute of " + variable + " has strings";
        int no_fill = 0, layout = 0;
        nc_inq_var_chunking(ncid, v, &layout, nullptr);
        if (layout == NC_COMPACT) return variable + " is compact";
        nc_inq_var_fill(ncid, v, &no_fill, nullptr);
        unfilled += no_fill != 0 ? '1' : '0';
        for (int d = 1; d < n; d++)
            if (ids[static_cast<std::size_t>(d)] == unlimited)
                return "the record dimension of " + variable + " is not the first";
    }
    return "";
}

}  // namespace

std::string beyond_engine(const std::string& path, std::string& unfilled) {
    int ncid = -1, format = 0;
    if (nc_open(path.c_str(), NC_NOWRITE, &ncid) != NC_NOERR) return "";
    nc_inq_format(ncid, &format);
    const bool netcdf4 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
    std::string reason = netcdf4 ? beyond(ncid, unfilled) : "";
    nc_close(ncid);
    return reason;
}

void recover_killed(const std::string& path) {
    if (access(path.c_str(), F_OK) == 0 || access((path + ".part").c_str(), F_OK) != 0) return;
    tw_recover(path.c_str(), TW_KEEP_LONGER, nullptr, 0);
}

}  // namespace thalweg::netcdf::engine
