// SPDX-License-Identifier: Apache-2.0
#include "storage/classic_header.hpp"

#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "comm/words.hpp"
#include "storage/system.hpp"

namespace thalweg {

namespace {
constexpr MPI_Offset data_alignment = 4;  // none beyond the format's own

Status put_attribute(int ncid, const std::string& path, int varid, const std::string& owner,
                     const Attribute& a) {
    const int code = a.type == TW_CHAR
                         ? ncmpi_put_att_text(ncid, varid, a.name.c_str(), a.n, a.values.data())
                         : ncmpi_put_att(ncid, varid, a.name.c_str(), static_cast<nc_type>(a.type),
                                         a.n, a.values.data());
    if (code == NC_NOERR) return {};
    return pnetcdf_status(code, path,
                          owner.empty() ? "global attribute '" + a.name + "'"
                                        : "attribute '" + a.name + "' of '" + owner + "'");
}
}  // namespace

Status pnetcdf_status(int code, const std::string& path, const std::string& what) {
    if (code == NC_NOERR) return {};
    return failure(TW_ENETCDF, "{}: {}: {} ({})", path, what, ncmpi_strerror(code),
                   ncmpi_strerrno(code));
}

int pnetcdf_mode(Format format) {
    switch (format) {
        case Format::cdf1: return 0;
        case Format::cdf2: return NC_64BIT_OFFSET;
        case Format::cdf5: return NC_64BIT_DATA;
    }
    return 0;
}

Status define_classic(int ncid, const std::string& path, const Definitions& d,
                      const StorageOptions& options, FileMap& map) {
    std::vector<int> dims(d.dims.size());
    for (std::size_t i = 0; i < d.dims.size(); ++i) {
        const Dimension& dim = d.dims[i];
        const int code = ncmpi_def_dim(ncid, dim.name.c_str(),
                                       dim.unlimited() ? NC_UNLIMITED : dim.length, &dims[i]);
        if (code != NC_NOERR) return pnetcdf_status(code, path, "dimension '" + dim.name + "'");
    }
    std::vector<int> ids;
    for (const Variable& v : d.variables) {
        std::vector<int> of;
        for (int i : v.dims) of.push_back(dims[static_cast<std::size_t>(i)]);
        int id = 0;
        const int code = ncmpi_def_var(ncid, v.name.c_str(), static_cast<nc_type>(v.type),
                                       static_cast<int>(of.size()), of.data(), &id);
        if (code != NC_NOERR) return pnetcdf_status(code, path, "variable '" + v.name + "'");
        ids.push_back(id);
        for (const Attribute& a : v.attributes)
            if (Status s = put_attribute(ncid, path, id, v.name, a); !s.ok()) return s;
    }
    for (const Attribute& a : d.attributes)
        if (Status s = put_attribute(ncid, path, NC_GLOBAL, "", a); !s.ok()) return s;
    int code = ncmpi__enddef(ncid, options.header_pad, data_alignment, 0, data_alignment);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "end of the definitions");

    MPI_Offset value = 0;
    code = ncmpi_inq_recsize(ncid, &value);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "record size");
    map = {};
    map.record_bytes = value;
    bool first_record = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        code = ncmpi_inq_varoffset(ncid, ids[i], &value);
        if (code != NC_NOERR) return pnetcdf_status(code, path, d.variables[i].name);
        map.offset.push_back(value);
        const Variable& v = d.variables[i];
        const std::int64_t bytes = v.elements() * static_cast<std::int64_t>(v.element());
        map.padded.push_back((bytes + 3) / 4 * 4);
        if (v.record && (first_record || value < map.record_begin)) {
            map.record_begin = value;
            first_record = false;
        }
    }
    for (std::size_t i = 0; i < d.variables.size(); ++i)
        if (!d.variables[i].record)
            map.fixed_end = std::max(map.fixed_end, map.offset[i] + map.padded[i]);
    // A single record variable is not padded: its records follow each other without gaps.
    int records = 0;
    for (const Variable& v : d.variables) records += v.record;
    if (records == 1)
        for (std::size_t i = 0; i < d.variables.size(); ++i)
            if (d.variables[i].record) map.padded[i] = map.record_bytes;
    return {};
}

Status create_classic_header(const std::string& path, const Definitions& d,
                             const StorageOptions& options, FileMap& map) {
    int ncid = 0;
    int code = ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | pnetcdf_mode(options.format),
                            MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot create");
    Status status = define_classic(ncid, path, d, options, map);
    code = status.ok() ? ncmpi_close(ncid) : ncmpi_abort(ncid);
    if (status.ok()) status = pnetcdf_status(code, path, "cannot write the header");
    return status;
}

Status add_attributes(const std::string& path, const Definitions& d,
                      const std::vector<std::pair<int, Attribute>>& late) {
    if (late.empty()) return {};
    int ncid = 0;
    int code = ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_WRITE, MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot open for attributes");
    Status status = pnetcdf_status(ncmpi_redef(ncid), path, "attributes");
    for (const auto& [variable, attribute] : late) {
        if (!status.ok()) break;
        status = put_attribute(
            ncid, path, variable < 0 ? NC_GLOBAL : variable,
            variable < 0 ? "" : d.variables[static_cast<std::size_t>(variable)].name, attribute);
    }
    // Data that need not move stay; the plain ncmpi_enddef would align them anew.
    if (status.ok())
        status = pnetcdf_status(ncmpi__enddef(ncid, 0, data_alignment, 0, data_alignment), path,
                                "attributes");
    code = ncmpi_close(ncid);
    if (status.ok()) status = pnetcdf_status(code, path, "attributes");
    return status;
}

Status write_record_count(int fd, const std::string& path, Format format, std::int64_t records) {
    // At byte 4: 32 bits in CDF-1 and CDF-2, 64 in CDF-5, big-endian.
    auto n = static_cast<std::uint64_t>(records);
    to_big_endian(TW_UINT64, &n);
    const std::int64_t bytes = format == Format::cdf5 ? 8 : 4;
    return write_fully(fd, path, reinterpret_cast<const char*>(&n) + 8 - bytes, bytes, 4);
}

Status extend(const std::string& path, std::int64_t size) {
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && info.st_size >= size) return {};
    if (truncate(path.c_str(), size) == 0) return {};
    return failure(TW_EIO, "{}: cannot extend to {} bytes: {}", path, size, std::strerror(errno));
}

std::vector<std::int64_t> words_of(const FileMap& map) {
    std::vector<std::int64_t> words{map.record_begin, map.record_bytes, map.fixed_end};
    words.insert(words.end(), map.offset.begin(), map.offset.end());
    words.insert(words.end(), map.padded.begin(), map.padded.end());
    return words;
}

FileMap map_of(std::span<const std::int64_t> words) {
    FileMap map;
    map.record_begin = words[0];
    map.record_bytes = words[1];
    map.fixed_end = words[2];
    const auto n = static_cast<std::ptrdiff_t>((words.size() - 3) / 2);
    map.offset.assign(words.begin() + 3, words.begin() + 3 + n);
    map.padded.assign(words.begin() + 3 + n, words.end());
    return map;
}

void broadcast(Comm& comm, FileMap& map, int root) {
    std::vector<char> bytes;
    if (comm.rank() == root) bytes = to_bytes(words_of(map));
    comm.broadcast(bytes, root);
    map = map_of(to_words(bytes));
}

}  // namespace thalweg
