// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace thalweg::bench {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;

class Reader {
public:
    explicit Reader(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY)) {
        if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
    }
    ~Reader() { ::close(file_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Reads n bytes.
    /// @return false if the file is too short
    bool read(void* to, std::int64_t n, std::int64_t at) const {
        char* out = static_cast<char*>(to);
        while (n > 0) {
            const ssize_t got =
                ::pread(file_, out, static_cast<std::size_t>(n), static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw std::system_error(errno, std::generic_category(), path_);
            if (got == 0) return false;
            out += got;
            at += got;
            n -= got;
        }
        return true;
    }

private:
    std::string path_;
    int file_;
};

/// Converts a number of the file to the machine's byte order.
template <class T>
T from_file(T number) {
    if constexpr (std::endian::native == std::endian::big) return number;
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(number)));
    else
        return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(number)));
}

template <class T>
T as_is(T number) {
    return number;
}

/// Returns the position of the first among n numbers that differs from the value of the field; -1
/// if there is none.
/// @param index index in the field of the first number
template <class T, T (*convert)(T)>
std::int64_t first_wrong(std::uint32_t field, std::int64_t index, const T* numbers,
                         std::int64_t n) {
    bool wrong = false;  // no early exit, so that the compiler can vectorize the loop
    for (std::int64_t i = 0; i < n; ++i)
        wrong |= convert(numbers[i]) != field_number<T>(field, index + i);
    for (std::int64_t i = 0; wrong && i < n; ++i)
        if (convert(numbers[i]) != field_number<T>(field, index + i)) return i;
    return -1;
}

std::string wrong_value(const Variable& v, int step, std::int64_t index) {
    return fmt::format("{}, step {}, element {}: wrong value", v.name, step, index);
}

/// Checks the elements [begin, end) of a variable in a classic file. The record of the variable
/// begins at byte `at`.
template <class T>
std::string check_classic(const Reader& file, const Problem& p, const Variable& v, int step,
                          std::int64_t at, std::int64_t begin, std::int64_t end,
                          std::vector<double>& buffer) {
    T* numbers = reinterpret_cast<T*>(buffer.data());
    const std::int64_t most = piece_bytes / static_cast<std::int64_t>(sizeof(T));
    const std::uint32_t field = p.field(v, step);
    while (begin < end) {
        const std::int64_t n = std::min(most, end - begin);
        const std::int64_t size = sizeof(T);
        if (!file.read(numbers, n * size, at + begin * size))
            return fmt::format("{}, step {}: the file is too short", v.name, step);
        const std::int64_t wrong = first_wrong<T, from_file<T>>(field, begin, numbers, n);
        if (wrong >= 0) return wrong_value(v, step, begin + wrong);
        begin += n;
    }
    return {};
}

/// Checks a classic file. Its header is read by PnetCDF, so that it is checked, too.
std::string check_classic_file(const Problem& p, const std::string& path, Steps steps) {
    int id = 0;
    int status = ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id);
    if (status != NC_NOERR) return std::string("ncmpi_open: ") + ncmpi_strerror(status);
    struct Closer {
        int id;
        ~Closer() { ncmpi_close(id); }
    } closer{id};

    int unlimited = -1;
    MPI_Offset records = 0, record_bytes = 0;
    ncmpi_inq_unlimdim(id, &unlimited);
    if (unlimited < 0) return "no unlimited dimension";
    ncmpi_inq_dimlen(id, unlimited, &records);
    ncmpi_inq_recsize(id, &record_bytes);
    if (records != steps.number)
        return fmt::format("{} records instead of {}", records, steps.number);

    const Reader file(path);
    std::vector<double> buffer(piece_bytes / sizeof(double));
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        int var = 0;
        status = ncmpi_inq_varid(id, v.name.c_str(), &var);
        if (status != NC_NOERR) return v.name + ": " + ncmpi_strerror(status);
        int ndims = 0;
        nc_type type = NC_NAT;
        ncmpi_inq_varndims(id, var, &ndims);
        ncmpi_inq_vartype(id, var, &type);
        if (ndims != static_cast<int>(g.shape.size()) + 1) return v.name + ": wrong rank";
        if (type != (g.spec->type == Element::f4 ? NC_FLOAT : NC_DOUBLE))
            return v.name + ": wrong type";
        std::vector<int> dims(ndims);
        ncmpi_inq_vardimid(id, var, dims.data());
        for (int d = 1; d < ndims; ++d) {
            MPI_Offset length = 0;
            ncmpi_inq_dimlen(id, dims[d], &length);
            if (length != g.shape[d - 1]) return v.name + ": wrong shape";
        }
        MPI_Offset offset = 0;
        ncmpi_inq_varoffset(id, var, &offset);
        const std::int64_t begin = g.elements() * p.rank() / p.ranks();
        const std::int64_t end = g.elements() * (p.rank() + 1) / p.ranks();
        for (int r = 0; r < steps.number; ++r) {
            const int s = steps.first + r;
            const std::int64_t at = offset + r * record_bytes;
            std::string wrong = g.spec->type == Element::f4
                                    ? check_classic<float>(file, p, v, s, at, begin, end, buffer)
                                    : check_classic<double>(file, p, v, s, at, begin, end, buffer);
            if (!wrong.empty()) return wrong;
        }
    }
    return {};
}

std::string check_netcdf4_file(const Problem& p, const std::string& path, Steps steps) {
    int id = 0;
    int status = nc_open(path.c_str(), NC_NOWRITE, &id);
    if (status != NC_NOERR) return std::string("nc_open: ") + nc_strerror(status);
    struct Closer {
        int id;
        ~Closer() { nc_close(id); }
    } closer{id};

    int unlimited = -1;
    std::size_t records = 0;
    nc_inq_unlimdim(id, &unlimited);
    if (unlimited < 0) return "no unlimited dimension";
    nc_inq_dimlen(id, unlimited, &records);
    if (records != static_cast<std::size_t>(steps.number))
        return fmt::format("{} records instead of {}", records, steps.number);

    std::vector<double> buffer;
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        int var = 0, ndims = 0;
        status = nc_inq_varid(id, v.name.c_str(), &var);
        if (status != NC_NOERR) return v.name + ": " + nc_strerror(status);
        nc_inq_varndims(id, var, &ndims);
        if (ndims != static_cast<int>(g.shape.size()) + 1) return v.name + ": wrong rank";
        // Check this rank's share of the slowest dimension, one index at a time.
        const std::int64_t slowest = g.shape.empty() ? 1 : g.shape[0];
        const std::int64_t row = g.elements() / slowest;
        std::vector<std::size_t> start(ndims, 0), count{1};
        for (const std::int64_t n : g.shape) count.push_back(static_cast<std::size_t>(n));
        buffer.resize(static_cast<std::size_t>(row));
        for (int r = 0; r < steps.number; ++r) {
            const int s = steps.first + r;
            start[0] = static_cast<std::size_t>(r);
            for (std::int64_t i = slowest * p.rank() / p.ranks();
                 i < slowest * (p.rank() + 1) / p.ranks(); ++i) {
                if (ndims > 1) {
                    start[1] = static_cast<std::size_t>(i);
                    count[1] = 1;
                }
                std::int64_t wrong = -1;
                if (g.spec->type == Element::f4) {
                    float* numbers = reinterpret_cast<float*>(buffer.data());
                    status = nc_get_vara_float(id, var, start.data(), count.data(), numbers);
                    wrong = first_wrong<float, as_is<float>>(p.field(v, s), i * row, numbers, row);
                } else {
                    status = nc_get_vara_double(id, var, start.data(), count.data(), buffer.data());
                    wrong = first_wrong<double, as_is<double>>(p.field(v, s), i * row,
                                                               buffer.data(), row);
                }
                if (status != NC_NOERR) return v.name + ": " + nc_strerror(status);
                if (wrong >= 0) return wrong_value(v, s, i * row + wrong);
            }
        }
    }
    return {};
}

std::uint64_t hash_piece(const std::vector<std::uint64_t>& words, std::uint64_t seed) {
    std::uint64_t h = seed * 0x9E3779B97F4A7C15u + 1;
    for (const std::uint64_t w : words) h = (std::rotl(h, 23) ^ w) * 0xC2B2AE3D27D4EB4Fu;
    return h ^ (h >> 29);
}

}  // namespace

std::string check_values(const RankGroup& rank_group, const Problem& problem, FileKind kind,
                         const std::string& path, Steps steps) {
    std::string wrong;
    if (kind == FileKind::bytes) {
        const std::int64_t bytes = file_bytes(rank_group, path);
        if (bytes != problem.step_bytes() * steps.number)
            wrong = fmt::format("{} bytes in the file", bytes);
    } else {
        wrong = kind == FileKind::classic ? check_classic_file(problem, path, steps)
                                          : check_netcdf4_file(problem, path, steps);
    }
    return rank_group.first_text(wrong);
}

std::uint64_t hash_file(const RankGroup& rank_group, const std::string& path) {
    const std::int64_t bytes = file_bytes(rank_group, path);
    const std::int64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
    const Reader file(path);
    std::vector<std::uint64_t> words(piece_bytes / 8);
    std::uint64_t sum = static_cast<std::uint64_t>(bytes);
    if (rank_group.rank() != 0) sum = 0;
    for (std::int64_t i = pieces * rank_group.rank() / rank_group.ranks();
         i < pieces * (rank_group.rank() + 1) / rank_group.ranks(); ++i) {
        const std::int64_t n = std::min(piece_bytes, bytes - i * piece_bytes);
        if (n < piece_bytes) std::fill(words.begin(), words.end(), 0);
        if (!file.read(words.data(), n, i * piece_bytes)) break;
        sum += hash_piece(words, static_cast<std::uint64_t>(i));
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, rank_group.comm());
    return sum;
}

std::int64_t file_bytes(const RankGroup& rank_group, const std::string& path) {
    std::int64_t bytes = -1;
    struct stat s {};
    if (rank_group.rank() == 0 && ::stat(path.c_str(), &s) == 0) bytes = s.st_size;
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, rank_group.comm());
    return bytes;
}

}  // namespace thalweg::bench
