// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/header.hpp"

#include <hdf5.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "definitions/fill.hpp"
#include "definitions/wire.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/chunked/zstd_filter.hpp"
#include "storage/netcdf4/dimension_lists.hpp"
#include "storage/netcdf4/image.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/posix/memory_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

#ifdef NC_NODIMSCALE_ATTACH
constexpr int no_attach = NC_NODIMSCALE_ATTACH;
#else
constexpr int no_attach = 0;
#endif

Status netcdf_status(int code, const std::string& path, const std::string& what) {
    if (code == NC_NOERR) return {};
    // For a system error netCDF-C keeps no text; errno has the cause.
    if (errno != 0 && (code == NC_EHDFERR || code > 0)) return system_failure(path, what);
    return with_cause(failure(code == NC_ENOMEM ? TW_ENOMEM : TW_ENETCDF, "{}: {}: {}",
                              OfFile{path}, what, nc_strerror(code)));
}

Status put_attribute(int ncid, const std::string& path, int variable, const std::string& owner,
                     const Attribute& a) {
    const std::size_t n = a.n;
    const int code = a.type == TW_CHAR
                         ? nc_put_att_text(ncid, variable, a.name.c_str(), n, a.values.data())
                         : nc_put_att(ncid, variable, a.name.c_str(), static_cast<nc_type>(a.type),
                                      n, a.values.data());
    return netcdf_status(code, path,
                         owner.empty() ? "global attribute '" + a.name + "'"
                                       : "attribute '" + a.name + "' of '" + owner + "'");
}

Status define_variable(int ncid, const std::string& path, const Variable& v, const ChunkGrid& grid,
                       const std::vector<int>& dims) {
    std::vector<int> of;
    for (int i : v.dims) of.push_back(dims[i]);
    int id = 0;
    const auto check = [&](int code, const char* what) {
        return about(netcdf_status(code, path, fmt::format("variable '{}'{}", v.name, what)),
                     OfVariable{v.name});
    };
    Status status = check(
        nc_def_var(ncid, v.name.c_str(), static_cast<nc_type>(v.type), of.size(), of.data(), &id),
        "");
    if (status.ok() && grid.chunked) {
        std::vector<std::size_t> chunk;
        if (v.record) chunk.push_back(grid.records);
        for (std::int64_t n : grid.chunk) chunk.push_back(n);
        status = check(nc_def_var_chunking(ncid, id, NC_CHUNKED, chunk.data()), ": chunks");
    }
    const Packing& p = v.packing;
    if (status.ok() && p.quantize != Packing::Quantize::none)
        status =
            check(nc_put_att_int(ncid, id, quantize_attribute(p.quantize), NC_INT, 1, &p.digits),
                  ": quantization");
    const bool deflate = p.codec == Packing::Codec::deflate;
    if (status.ok() && (p.shuffle || deflate))
        status = check(nc_def_var_deflate(ncid, id, p.shuffle, deflate, deflate ? p.level : 0),
                       ": shuffle and deflate");
    if (status.ok() && p.codec == Packing::Codec::zstd) {
        const unsigned level = p.level;
        status = provide_zstd(path);
        if (status.ok())
            status = check(nc_def_var_filter(ncid, id, zstd_filter, 1, &level), ": zstd");
    }
    // This would delete an attribute _FillValue that the variable has already.
    if (status.ok() && has_no_fill(v))
        status = check(nc_def_var_fill(ncid, id, NC_NOFILL, nullptr), ": fill value");
    for (const Attribute& a : v.attributes)
        if (status.ok()) status = put_attribute(ncid, path, id, v.name, a);
    // HDF5 stores a fill value with each variable. netCDF-C sets this value only when the attribute
    // _FillValue is written, and keeps it when the attribute is deleted. So write the attribute and
    // delete it.
    if (status.ok() && v.fill && v.attributes.get("_FillValue") == nullptr) {
        status = check(
            nc_put_att(ncid, id, "_FillValue", static_cast<nc_type>(v.type), 1, v.fill->data()),
            ": fill value");
        if (status.ok()) status = check(nc_del_att(ncid, id, "_FillValue"), ": fill value");
    }
    return status;
}

Status define(int ncid, const std::string& path, const Definitions& d,
              std::span<const ChunkGrid> grids) {
    std::vector<int> dims(d.dims.size());
    for (std::size_t i = 0; i < d.dims.size(); ++i) {
        const Dimension& dim = d.dims[i];
        const int code = nc_def_dim(
            ncid, dim.name.c_str(),
            dim.unlimited() ? NC_UNLIMITED : static_cast<std::size_t>(dim.length), &dims[i]);
        if (code != NC_NOERR) return netcdf_status(code, path, "dimension '" + dim.name + "'");
    }
    for (std::size_t i = 0; i < d.variables.size(); ++i)
        if (Status s = define_variable(ncid, path, d.variables[i], grids[i], dims); !s.ok())
            return s;
    for (const Attribute& a : d.attributes)
        if (Status s = put_attribute(ncid, path, NC_GLOBAL, "", a); !s.ok()) return s;
    return netcdf_status(nc_enddef(ncid), path, "end of the definitions");
}

/// Checks that the limit on file sizes, which also holds for files in memory, leaves space for the
/// header: otherwise HDF5 would crash. The number of bytes computed here is an upper bound.
Status check_size_limit(const std::string& path, const Definitions& d) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    constexpr std::int64_t object = 8 << 10;
    std::int64_t bytes = 8 * object + object * std::ssize(d.dims);
    const auto add = [&](const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes) bytes += object + 2 * std::ssize(a.values);
    };
    add(d.attributes);
    for (const Variable& v : d.variables) {
        bytes += object;
        add(v.attributes);
    }
    if (limit.rlim_cur >= static_cast<rlim_t>(bytes)) return {};
    errno = EFBIG;
    return system_failure(path, "there is no room for a netCDF-4 header");
}

/// Makes a file without data in memory.
Status make_image(const std::string& path, const Definitions& d, std::span<const ChunkGrid> grids,
                  Format format, std::vector<char>& image) {
    const int mode = NC_CLOBBER | NC_NETCDF4 | no_attach |
                     (format == Format::netcdf4_classic ? NC_CLASSIC_MODEL : 0);
    int ncid = 0;
    errno = 0;
    const int code = nc_create(path.c_str(), mode, &ncid);
    if (code != NC_NOERR) return netcdf_status(code, path, "cannot create");
    // Make the header in memory first: HDF5 crashes when it closes a new file on a full disk.
    const MemoryFile memory;
    const bool in_memory = memory.good() && memory.stand_in(path);
    Status status = define(ncid, path, d, grids);
    if (!status.ok()) {
        nc_abort(ncid);
        return status;
    }
    errno = 0;
    status = netcdf_status(nc_close(ncid), path, "cannot write the header");
    if (status.ok()) status = read_file(in_memory ? memory.path() : path, image);
    if (status.ok() && no_attach != 0) status = write_dimension_lists(image, path, d);
    return status;
}

constexpr std::size_t most_kept = 8;               // largest number of headers that are kept
constexpr std::int64_t most_kept_bytes = 4 << 20;  // largest size in bytes of one

std::vector<char> key_of(const Definitions& d, std::span<const ChunkGrid> grids, Format format) {
    WireWriter key;
    key(format, d.dims);
    for (std::size_t i = 0; i < d.variables.size(); ++i) {
        const Variable& v = d.variables[i];
        const Packing& p = v.packing;
        key(v.name, v.type, v.dims, v.shape, v.record, v.attributes, v.fill.has_value(),
            v.fill.value_or(FillValue{}), has_no_fill(v), p.codec, p.level, p.shuffle, p.quantize,
            p.digits, grids[i].chunked, grids[i].records, grids[i].chunk);
    }
    for (const Attribute& a : d.attributes) key(a.name, a.type, a.n);
    return std::move(key.bytes);
}

/// Writes the values of all global attributes, which a file in memory has with other values.
bool write_values(std::vector<char>& image, const std::string& path,
                  const NamedList<Attribute>& attributes) {
    Image file(image, path);
    if (!file.open().ok()) return false;
    bool good = true;
    for (const Attribute& a : attributes) {
        if (!good || a.n == 0) continue;
        const Handle attribute(H5Aopen(file.id(), a.name.c_str(), H5P_DEFAULT), H5Aclose);
        const Handle type(H5Aget_type(attribute), H5Tclose);
        good = attribute >= 0 && type >= 0 && H5Awrite(attribute, type, a.values.data()) >= 0;
    }
    return file.close().ok() && good;
}

/// Takes the header with the same key out of those that are kept.
/// @return false if there is none, or if HDF5 cannot change it
bool take_kept(KeptHeaders& kept, const std::string& path, const Definitions& d,
               KeptHeader& header) {
    const auto found = std::find_if(kept.begin(), kept.end(),
                                    [&](const KeptHeader& k) { return k.key == header.key; });
    if (found == kept.end()) return false;
    header.image = std::move(found->image);
    kept.erase(found);
    return d.attributes.empty() || write_values(header.image, path, d.attributes);
}

}  // namespace

// netCDF-C's nc_def_var_quantize is not used: it fails in the classic model of netCDF-C 4.9.0, and
// the library quantizes and writes the data itself.
const char* quantize_attribute(Packing::Quantize quantize) {
    switch (quantize) {
        case Packing::Quantize::none: break;
        case Packing::Quantize::bitgroom: return "_QuantizeBitGroomNumberOfSignificantDigits";
        case Packing::Quantize::granularbr:
            return "_QuantizeGranularBitRoundNumberOfSignificantDigits";
        case Packing::Quantize::bitround: return "_QuantizeBitRoundNumberOfSignificantBits";
    }
    return "";
}

Status create_netcdf4(const std::string& path, const Definitions& d,
                      std::span<const ChunkGrid> grids, Format format, KeptHeaders* kept,
                      std::int64_t& bytes) {
    if (Status status = check_size_limit(path, d); !status.ok()) return status;
    const QuietHdf5 quiet;
    KeptHeader header;
    if (kept != nullptr) header.key = key_of(d, grids, format);
    const bool found = kept != nullptr && take_kept(*kept, path, d, header);
    Status status = found ? Status{} : make_image(path, d, grids, format, header.image);
    bytes = std::ssize(header.image);
    if (status.ok()) status = write_file(path, header.image);
    if (status.ok() && kept != nullptr && bytes <= most_kept_bytes) {
        if (kept->size() == most_kept) kept->erase(kept->begin());
        kept->push_back(std::move(header));
    }
    return status;
}

}  // namespace thalweg::detail
