// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/definitions_reader.hpp"

#include <fcntl.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <algorithm>

#include "storage/classic/header.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/library_lock.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

int read_attributes(int ncid, int variable, int n, std::vector<Attribute>& attributes) {
    int code = NC_NOERR;
    for (int i = 0; i < n && code == NC_NOERR; ++i) {
        char name[NC_MAX_NAME + 1] = {};
        nc_type type = 0;
        MPI_Offset length = 0;
        code = ncmpi_inq_attname(ncid, variable, i, name);
        if (code == NC_NOERR) code = ncmpi_inq_att(ncid, variable, name, &type, &length);
        if (code != NC_NOERR) break;
        Attribute a;
        a.name = name;
        a.type = static_cast<tw_type>(type);
        a.n = length;
        a.values.resize(static_cast<std::size_t>(length) * size_of(a.type));
        char none[8];
        code = ncmpi_get_att(ncid, variable, name, a.values.empty() ? none : a.values.data());
        attributes.push_back(std::move(a));
    }
    return code;
}

int read_all(int ncid, Definitions& d) {
    int ndims = 0, nvars = 0, natts = 0, unlimited = -1;
    int code = ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited);
    for (int i = 0; i < ndims && code == NC_NOERR; ++i) {
        char name[NC_MAX_NAME + 1] = {};
        MPI_Offset length = 0;
        code = ncmpi_inq_dim(ncid, i, name, &length);
        d.dims.push_back({name, i == unlimited ? 0 : length});
    }
    if (code == NC_NOERR) code = read_attributes(ncid, NC_GLOBAL, natts, d.attributes);
    for (int i = 0; i < nvars && code == NC_NOERR; ++i) {
        char name[NC_MAX_NAME + 1] = {};
        nc_type type = 0;
        int nd = 0, n = 0;
        code = ncmpi_inq_varndims(ncid, i, &nd);
        Variable v;
        std::vector<int> dims(static_cast<std::size_t>(nd) + 1);
        if (code == NC_NOERR) code = ncmpi_inq_var(ncid, i, name, &type, &nd, dims.data(), &n);
        if (code != NC_NOERR) break;
        v.name = name;
        v.type = static_cast<tw_type>(type);
        v.dims.assign(dims.begin(), dims.begin() + nd);
        for (const int dim : v.dims) {
            const Dimension& of = d.dims[static_cast<std::size_t>(dim)];
            if (of.unlimited())
                v.record = true;
            else
                v.shape.push_back(of.length);
        }
        v.decomposition = replicate(0, {}, v.shape);
        code = read_attributes(ncid, i, n, v.attributes);
        d.variables.push_back(std::move(v));
    }
    return code;
}

}  // namespace

Status read_definitions(const std::string& path, DefinedFile& file) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open");
    ClassicHeader header;
    Status status = read_classic_header(fd, path, header);
    ::close(fd);
    if (!status.ok()) return status;
    file.map = header.map;
    file.format = header.format;
    file.records = header.records;
    const auto& offsets = header.map.offset;
    const auto first = std::min_element(offsets.begin(), offsets.end());
    file.free = first == offsets.end() ? 0 : *first - header.bytes;
    const LibraryLock lock;
    int ncid = 0;
    int code = ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot open");
    code = read_all(ncid, file.definitions);
    const int closed = ncmpi_close(ncid);
    return pnetcdf_status(code != NC_NOERR ? code : closed, path, "cannot read the header");
}

}  // namespace thalweg::detail
