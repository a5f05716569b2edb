// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/by_netcdf.hpp"

#include <utility>

namespace thalweg::nc {

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
