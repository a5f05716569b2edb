// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/header.hpp"

#include <fcntl.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/library_lock.hpp"
#include "storage/posix/memory_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

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
/// What stands at byte 4: 32 bits in CDF-1 and CDF-2, 64 in CDF-5, big-endian.
std::vector<char> record_count(Format format, std::int64_t records) {
    auto n = static_cast<std::uint64_t>(records);
    to_big_endian(TW_UINT64, &n);
    const auto* bytes = reinterpret_cast<const char*>(&n);
    return {bytes + (format == Format::cdf5 ? 0 : 4), bytes + 8};
}
}  // namespace

Status pnetcdf_status(int code, const std::string& path, const std::string& what) {
    if (code == NC_NOERR) return {};
    return with_cause(failure(TW_ENETCDF, "{}: {}: {} ({})", path, what, ncmpi_strerror(code),
                              ncmpi_strerrno(code)));
}

int pnetcdf_mode(Format format) {
    switch (format) {
        case Format::cdf1: return 0;
        case Format::cdf2: return NC_64BIT_OFFSET;
        case Format::cdf5: return NC_64BIT_DATA;
        default: return 0;
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
        map.grain.push_back(static_cast<std::int64_t>(v.element()));
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

/// The bytes of a header. PnetCDF makes them in memory: MPI libraries lose errors of the file
/// system (Open MPI's takes a header that could not be written for written).
static Status compose_header(const std::string& path, const Definitions& d,
                             const StorageOptions& options, FileMap& map,
                             std::vector<char>& bytes) {
    const LibraryLock lock;
    const MemoryFile memory;
    if (!memory.good()) return system_failure(path, "cannot allocate memory for the header");
    int ncid = 0;
    int code = ncmpi_create(MPI_COMM_SELF, memory.path().c_str(),
                            NC_CLOBBER | pnetcdf_mode(options.format), MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot create");
    Status status = define_classic(ncid, path, d, options, map);
    code = status.ok() ? ncmpi_close(ncid) : ncmpi_abort(ncid);
    if (status.ok()) status = pnetcdf_status(code, path, "cannot write the header");
    if (status.ok()) status = memory.read(bytes);
    return status;
}

/// Writes the first bytes of a file; `flags` are open's.
static Status write_header(const std::string& path, int flags, const std::vector<char>& bytes) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) return system_failure(path, "cannot open for writing");
    Status status = write_fully(fd, path, bytes.data(), static_cast<std::int64_t>(bytes.size()), 0);
    if (!status.ok()) status.text += " (header)";
    if (close_file(fd) != 0 && status.ok()) status = system_failure(path, "cannot close");
    return status;
}

Status create_classic_header(const std::string& path, const Definitions& d,
                             const StorageOptions& options, FileMap& map) {
    std::vector<char> bytes;
    Status status = compose_header(path, d, options, map, bytes);
    return status.ok() ? write_header(path, O_CREAT | O_TRUNC, bytes) : status;
}

/// Adds attributes by way of PnetCDF, which moves the data to make room.
static Status move_and_add(const std::string& path, const Definitions& d,
                           const std::vector<std::pair<int, Attribute>>& late) {
    const LibraryLock lock;
    int ncid = 0;
    int code = ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_WRITE, MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot open to set attributes");
    Status status = pnetcdf_status(ncmpi_redef(ncid), path, "attributes");
    for (const auto& [variable, attribute] : late) {
        if (!status.ok()) break;
        status = put_attribute(
            ncid, path, variable < 0 ? NC_GLOBAL : variable,
            variable < 0 ? "" : d.variables[static_cast<std::size_t>(variable)].name, attribute);
    }
    // Data that need not move stay; the plain ncmpi_enddef would realign them.
    if (status.ok())
        status = pnetcdf_status(ncmpi__enddef(ncid, 0, data_alignment, 0, data_alignment), path,
                                "attributes");
    code = ncmpi_close(ncid);
    if (status.ok()) status = pnetcdf_status(code, path, "attributes");
    return status;
}

Status add_attributes(const std::string& path, const Definitions& d, const FileMap& map,
                      Format format, std::int64_t records,
                      const std::vector<std::pair<int, Attribute>>& late) {
    if (late.empty()) return {};
    Definitions all = d;
    for (const auto& [variable, attribute] : late)
        set_attribute(variable < 0 ? all.attributes
                                   : all.variables[static_cast<std::size_t>(variable)].attributes,
                      attribute);
    // The header as long as it must be, and then with the free bytes that leave the data in place.
    StorageOptions options;
    options.format = format;
    options.header_pad = 0;
    FileMap made;
    std::vector<char> bytes;
    Status status = compose_header(path, all, options, made, bytes);
    if (!status.ok()) return status;
    const auto first = std::min_element(map.offset.begin(), map.offset.end());
    const auto needed = static_cast<std::int64_t>(bytes.size());
    const std::int64_t room = first == map.offset.end() ? needed : *first;
    if (needed > room) return move_and_add(path, d, late);
    options.header_pad = room - needed;
    if (status = compose_header(path, all, options, made, bytes); !status.ok()) return status;
    if (made.offset != map.offset) return move_and_add(path, d, late);
    const std::vector<char> count = record_count(format, records);
    std::copy(count.begin(), count.end(), bytes.begin() + 4);
    bytes.resize(static_cast<std::size_t>(room));  // what was there may have been longer
    return write_header(path, 0, bytes);
}

Status write_record_count(int fd, const std::string& path, Format format, std::int64_t records) {
    const std::vector<char> count = record_count(format, records);
    return write_fully(fd, path, count.data(), static_cast<std::int64_t>(count.size()), 4);
}

Status keep_records(const std::string& path, Format format, const FileMap& map,
                    std::int64_t records, bool durable) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open for writing");
    NoSizeSignal guard;
    Status status = write_record_count(fd, path, format, records);
    struct stat info {};
    if (status.ok() && fstat(fd, &info) != 0) status = system_failure(path, "cannot get its size");
    const std::int64_t size = map.size(records);
    while (status.ok() && map.record_begin > 0 && info.st_size > size) {
        if (ftruncate(fd, size) == 0) break;
        if (errno != EINTR)
            status = system_failure(path, fmt::format("cannot truncate to {} bytes", size));
    }
    if (status.ok() && durable) status = sync_file(fd, path);
    if (close_file(fd) != 0 && status.ok()) status = system_failure(path, "cannot close");
    return status;
}

Status extend(const std::string& path, std::int64_t size) {
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && info.st_size >= size) return {};
    while (truncate(path.c_str(), size) != 0)
        if (errno != EINTR)
            return system_failure(path, fmt::format("cannot extend to {} bytes", size));
    return {};
}

}  // namespace thalweg::detail
