// SPDX-License-Identifier: Apache-2.0
#include "dataset/reader.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exchange/copy.hpp"
#include "exchange/parts.hpp"
#include "storage/classic_header.hpp"

namespace thalweg {

namespace {

/// Bytes read at a time; within a window gaps are read over rather than skipped.
constexpr std::int64_t window_bytes = std::int64_t(4) << 20;

/// The header as numbers and names, to be handed to all ranks.
class Writer {
public:
    void number(std::int64_t v) { append(&v, sizeof v); }
    void text(const std::string& t) {
        number(static_cast<std::int64_t>(t.size()));
        append(t.data(), t.size());
    }
    std::vector<char> bytes;

private:
    void append(const void* p, std::size_t n) {
        const auto* c = static_cast<const char*>(p);
        bytes.insert(bytes.end(), c, c + n);
    }
};

class Parser {
public:
    explicit Parser(const std::vector<char>& bytes) : bytes_(bytes) {}
    std::int64_t number() {
        std::int64_t v;
        std::memcpy(&v, bytes_.data() + at_, sizeof v);
        at_ += sizeof v;
        return v;
    }
    std::string text() {
        const auto n = static_cast<std::size_t>(number());
        std::string t(bytes_.data() + at_, n);
        at_ += n;
        return t;
    }

private:
    const std::vector<char>& bytes_;
    std::size_t at_ = 0;
};

Status inquire(const std::string& path, Writer& out) {
    int ncid = 0;
    int code = ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (code != NC_NOERR) return pnetcdf_status(code, path, "cannot open");
    int ndims = 0, nvars = 0, ngatts = 0, unlimited = -1;
    code = ncmpi_inq(ncid, &ndims, &nvars, &ngatts, &unlimited);
    MPI_Offset records = 0, record_bytes = 0;
    if (code == NC_NOERR && unlimited >= 0) code = ncmpi_inq_dimlen(ncid, unlimited, &records);
    if (code == NC_NOERR) code = ncmpi_inq_recsize(ncid, &record_bytes);
    out.number(records);
    out.number(record_bytes);
    out.number(ndims);
    for (int i = 0; i < ndims && code == NC_NOERR; ++i) {
        char name[NC_MAX_NAME + 1] = {};
        MPI_Offset length = 0;
        code = ncmpi_inq_dim(ncid, i, name, &length);
        out.text(name);
        out.number(i == unlimited ? 0 : length);
    }
    out.number(nvars);
    for (int i = 0; i < nvars && code == NC_NOERR; ++i) {
        char name[NC_MAX_NAME + 1] = {};
        nc_type type = 0;
        int nd = 0, natts = 0;
        MPI_Offset offset = 0;
        code = ncmpi_inq_varndims(ncid, i, &nd);
        std::vector<int> dims(static_cast<std::size_t>(nd) + 1);
        if (code == NC_NOERR) code = ncmpi_inq_var(ncid, i, name, &type, &nd, dims.data(), &natts);
        if (code == NC_NOERR) code = ncmpi_inq_varoffset(ncid, i, &offset);
        out.text(name);
        out.number(type);
        out.number(offset);
        out.number(nd);
        for (int d = 0; d < nd; ++d) out.number(dims[static_cast<std::size_t>(d)]);
    }
    const int closed = ncmpi_close(ncid);
    return pnetcdf_status(code != NC_NOERR ? code : closed, path, "cannot read the header");
}

}  // namespace

Reader::~Reader() {
    if (fd_ >= 0) ::close(fd_);
}

Status Reader::read_header() {
    Writer header;
    Status status;
    if (team_.rank() == 0) {
        // PnetCDF's own words for a file that cannot be read name no reason.
        const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        char magic[4] = {};
        if (fd < 0)
            status = failure(TW_EIO, "{}: cannot open: {}", path_, std::strerror(errno));
        else if (pread(fd, magic, 4, 0) != 4 || std::memcmp(magic, "CDF", 3) != 0)
            status = failure(TW_EFORMAT, "{}: not a file of a classic netCDF format", path_);
        if (fd >= 0) ::close(fd);
        header.number(magic[3]);
        if (status.ok()) status = inquire(path_, header);
    }
    status = agree(team_.world(), status);
    if (!status.ok()) return status;
    team_.world().broadcast(header.bytes, 0);
    Parser parser(header.bytes);
    signed_bytes_ = parser.number() == 5;
    records_ = parser.number();
    map_.record_bytes = parser.number();
    for (std::int64_t n = parser.number(); n > 0; --n) {
        std::string name = parser.text();
        definitions_.dims.push_back({std::move(name), parser.number()});
    }
    for (std::int64_t n = parser.number(); n > 0; --n) {
        Variable v;
        v.name = parser.text();
        v.type = static_cast<tw_type>(parser.number());
        map_.offset.push_back(parser.number());
        const std::int64_t nd = parser.number();
        for (std::int64_t d = 0; d < nd; ++d) {
            v.dims.push_back(static_cast<int>(parser.number()));
            const Dimension& dim = definitions_.dims[static_cast<std::size_t>(v.dims.back())];
            if (dim.unlimited())
                v.record = true;
            else
                v.shape.push_back(dim.length);
        }
        definitions_.variables.push_back(std::move(v));
    }
    return {};
}

Status Reader::open() {
    if (Status status = read_header(); !status.ok()) return status;
    Status status;
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) status = failure(TW_EIO, "{}: cannot open: {}", path_, std::strerror(errno));
    return agree(team_.world(), status);
}

Status Reader::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    return {};
}

Status Reader::dimension(const std::string& name, std::int64_t& length) const {
    const int i = definitions_.find_dim(name);
    if (i < 0) return failure(TW_ENOTFOUND, "{}: there is no dimension '{}'", path_, name);
    const Dimension& dim = definitions_.dims[static_cast<std::size_t>(i)];
    length = dim.unlimited() ? records_ : dim.length;
    return {};
}

Status Reader::read_fully(char* to, std::int64_t bytes, std::int64_t offset) const {
    while (bytes > 0) {
        const ssize_t n = pread(fd_, to, static_cast<std::size_t>(bytes), offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return failure(TW_EIO, "{}: cannot read {} bytes at offset {}: {}", path_, bytes,
                           offset, std::strerror(errno));
        if (n == 0)
            return failure(TW_EIO, "{}: the file ends before offset {}", path_, offset + bytes);
        to += n;
        offset += n;
        bytes -= n;
    }
    return {};
}

Status Reader::get_own(const std::string& name, const Decomposition* decomposition,
                       std::int64_t record, int type, void* data, std::int64_t n, int rank,
                       const std::int64_t* extent, const std::int64_t* byte_stride) {
    const int at = definitions_.find_variable(name);
    if (at < 0) return failure(TW_ENOTFOUND, "{}: there is no variable '{}'", path_, name);
    const Variable& v = definitions_.variables[static_cast<std::size_t>(at)];
    auto refuse = [&](Status status) {
        status.text =
            fmt::format("{}: variable '{}': {} (rank {})", path_, name, status.text, team_.rank());
        return status;
    };
    if (!valid_type(type)) return refuse(failure(TW_ETYPE, "there is no type {}", type));
    if ((type == TW_CHAR) != (v.type == TW_CHAR))
        return refuse(failure(TW_ETYPE, "it is of type {}, not {}", name_of(v.type),
                              name_of(static_cast<tw_type>(type))));
    if (v.record && (record < 0 || record >= records_))
        return refuse(failure(TW_EBOUNDS, "record {} of {}", record, records_));

    std::vector<std::string> dims;
    for (int i : v.dims) {
        const Dimension& dim = definitions_.dims[static_cast<std::size_t>(i)];
        if (!dim.unlimited()) dims.push_back(dim.name);
    }
    // Replicated: as if this rank were the one that holds all.
    const auto whole = replicate(0, dims, v.shape);
    const Decomposition& d = decomposition != nullptr ? *decomposition : *whole;
    if (dims.size() > static_cast<std::size_t>(max_dims))
        return refuse(failure(TW_EUNSUPPORTED, "it has {} dimensions; at most {} can be read",
                              dims.size(), max_dims));
    std::vector<int> order;
    for (std::size_t f = 0; f < dims.size(); ++f) {
        if (decomposition == nullptr) {  // names may repeat
            order.push_back(static_cast<int>(f));
            continue;
        }
        if (std::count(dims.begin(), dims.end(), dims[f]) > 1)
            return refuse(failure(
                TW_ESHAPE, "dimension '{}' occurs twice; it can only be read as a whole", dims[f]));
        const auto m = std::find(d.dims.begin(), d.dims.end(), dims[f]) - d.dims.begin();
        if (m == d.nd() || dims.size() != d.dims.size())
            return refuse(failure(TW_ESHAPE, "its dimensions are ({}), the decomposition's ({})",
                                  fmt::join(dims, " "), fmt::join(d.dims, " ")));
        if (d.shape[static_cast<std::size_t>(m)] != v.shape[f])
            return refuse(failure(TW_ESHAPE,
                                  "dimension '{}' has length {}, in the decomposition {}", dims[f],
                                  v.shape[f], d.shape[static_cast<std::size_t>(m)]));
        order.push_back(static_cast<int>(m));
    }
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    // As in writing: a byte of CDF-1 and CDF-2 is signed or unsigned, as the user likes.
    if (v.type == TW_BYTE && view.type == TW_UBYTE && !signed_bytes_) view.type = TW_BYTE;
    Status status = n >= 0 ? check_dense(d, n) : check_strided(d, rank, extent, byte_stride, view);
    if (!status.ok()) return refuse(std::move(status));
    if (data == nullptr && d.held > 0) return refuse(failure(TW_EARG, "no array given"));

    const auto size = static_cast<std::int64_t>(v.element());
    const std::int64_t base =
        map_.offset[static_cast<std::size_t>(at)] + (v.record ? record * map_.record_bytes : 0);
    const RowKernel kernel = unpack_kernel(v.type, view.type, Order::big_endian);
    char fill[8];
    default_fill(view.type, fill);
    Index file_stride = strides_of(v.shape);
    for (std::size_t f = 0; f < v.shape.size(); ++f) file_stride[f] *= size;
    std::int64_t misfits = 0;
    const std::vector<HeldBox> held = in_file_order(d.blocks, order, v.shape);
    std::int64_t end = 0;
    for (const HeldBox& h : held) end = std::max(end, h.last + 1);
    const std::int64_t step = std::max<std::int64_t>(1, window_bytes / size);
    for (std::int64_t begin = held.empty() ? end : held.front().first; begin < end; begin += step) {
        const ElementRange window{begin, std::min(end, begin + step)};
        // Read from the first to the last element that is wanted here.
        std::int64_t first = window.end, last = window.begin - 1;
        for_parts(v.shape, window, held, [&](const HeldBox&, const Box& part) {
            Index corner = part.low;
            first = std::min(first, linear(v.shape, corner));
            for (int i = 0; i < part.nd; ++i) corner[i] += part.count[i] - 1;
            last = std::max(last, linear(v.shape, corner));
        });
        if (last < first) continue;
        const std::int64_t bytes = (last - first + 1) * size;
        buffer_.resize(static_cast<std::size_t>(bytes));
        if (Status s = read_fully(buffer_.data(), bytes, base + first * size); !s.ok())
            return refuse(std::move(s));
        for_parts(v.shape, window, held, [&](const HeldBox& h, const Box& part) {
            // The copy's destination is memory that the caller gave to be written.
            const Strided to = locate(d, order, h.block, view);
            char* at_memory = const_cast<char*>(to.base);
            for (int i = 0; i < part.nd; ++i)
                at_memory += (part.low[i] - h.box.low[i]) * to.stride[i];
            misfits += copy_box(part.nd, part.count, at_memory, to.stride,
                                buffer_.data() + (linear(v.shape, part.low) - first) * size,
                                file_stride, kernel, fill);
        });
    }
    if (misfits > 0)
        return refuse(
            failure(TW_ERANGE, "{} values do not fit type {}", misfits, name_of(view.type)));
    return {};
}

Status Reader::get(const std::string& name, const Decomposition* decomposition, std::int64_t record,
                   int type, void* data, std::int64_t n, int rank, const std::int64_t* extent,
                   const std::int64_t* byte_stride) {
    Status mine;
    try {
        mine = get_own(name, decomposition, record, type, data, n, rank, extent, byte_stride);
    } catch (const std::bad_alloc&) {  // the other ranks wait for this one
        mine = failure(TW_ENOMEM, "{}: variable '{}': out of memory", path_, name);
    }
    return team_.agree(mine);
}

}  // namespace thalweg
