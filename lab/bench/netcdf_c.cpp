// SPDX-License-Identifier: Apache-2.0
#include "netcdf_c.hpp"

#include <netcdf.h>

#include <stdexcept>

namespace thalweg::bench {

void check_nc(int status, const std::string& what) {
    if (status != NC_NOERR)
        throw std::runtime_error("netCDF-C: " + what + ": " + nc_strerror(status));
}

int classic_create_mode(const std::string& format) {
    if (format == "cdf1") return 0;
    return format == "cdf2" ? NC_64BIT_OFFSET : NC_64BIT_DATA;
}

NetcdfIds define_netcdf(int file, const Problem& problem) {
    NetcdfIds ids;
    int time = 0;
    check_nc(nc_def_dim(file, "time", NC_UNLIMITED, &time), "nc_def_dim time");
    std::vector<int> dims;
    for (const Dimension& d : problem.workload().dims) {
        int id = 0;
        check_nc(nc_def_dim(file, d.name.c_str(), static_cast<std::size_t>(d.length), &id),
                 "nc_def_dim " + d.name);
        dims.push_back(id);
    }
    for (const Group& g : problem.groups()) {
        std::vector<int> group{time};
        for (const std::string& name : g.spec->file_order)
            for (std::size_t d = 0; d < dims.size(); ++d)
                if (problem.workload().dims[d].name == name) group.push_back(dims[d]);
        ids.group_dims.push_back(group);
    }
    for (const Variable& v : problem.variables()) {
        const std::vector<int>& group = ids.group_dims[v.group];
        const nc_type type = problem.group(v).spec->type == Element::f4 ? NC_FLOAT : NC_DOUBLE;
        int id = 0;
        check_nc(nc_def_var(file, v.name.c_str(), type, static_cast<int>(group.size()),
                            group.data(), &id),
                 "nc_def_var " + v.name);
        ids.variables.push_back(id);
    }
    return ids;
}

}  // namespace thalweg::bench
