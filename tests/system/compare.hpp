// Byte for byte comparison of classic netCDF files.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_COMPARE_HPP
#define THALWEG_TESTS_SYSTEM_COMPARE_HPP

#include <fcntl.h>
#include <mpi.h>
#if THALWEG_TEST_PNETCDF
#include <pnetcdf.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

namespace compare_detail {

class Reader {
public:
    explicit Reader(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY)) {
        struct stat info {};
        if (fd_ >= 0 && ::fstat(fd_, &info) == 0) size_ = info.st_size;
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
        if (fd_ >= 0) ::close(fd_);
    }
    bool good() const { return fd_ >= 0; }
    std::int64_t size() const { return size_; }
    bool read(std::int64_t at, std::int64_t n, char* to) const {
        while (n > 0) {
            const ssize_t got = ::pread(fd_, to, static_cast<std::size_t>(n), at);
            if (got <= 0) return false;
            n -= got;
            at += got;
            to += got;
        }
        return true;
    }

private:
    int fd_;
    std::int64_t size_ = 0;
};

}  // namespace compare_detail

/// Names the place of a byte of a classic netCDF file: variable, record and index of the element.
#if THALWEG_TEST_PNETCDF
inline std::string locate(const std::string& path, std::int64_t offset) {
    int id = 0;
    if (ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id) != NC_NOERR)
        return "(header unreadable)";
    std::string place = "header or padding";
    int nvars = 0;
    int unlimited = -1;
    int record_vars = 0;
    MPI_Offset record_size = 0;
    MPI_Offset header = 0;
    ncmpi_inq_nvars(id, &nvars);
    ncmpi_inq_unlimdim(id, &unlimited);
    ncmpi_inq_num_rec_vars(id, &record_vars);
    ncmpi_inq_recsize(id, &record_size);
    ncmpi_inq_header_size(id, &header);
    if (offset < header) place = "header";
    for (int v = 0; v < nvars; ++v) {
        char name[NC_MAX_NAME + 1] = "";
        nc_type type = NC_NAT;
        int ndims = 0;
        ncmpi_inq_varndims(id, v, &ndims);
        std::vector<int> dims(static_cast<std::size_t>(ndims) + 1, -1);
        ncmpi_inq_var(id, v, name, &type, &ndims, dims.data(), nullptr);
        MPI_Offset begin = 0;
        ncmpi_inq_varoffset(id, v, &begin);
        static const std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
        std::int64_t bytes = sizes[type];
        std::vector<std::int64_t> shape;
        const bool is_record = unlimited >= 0 && dims[0] == unlimited;
        for (int d = is_record ? 1 : 0; d < ndims; ++d) {
            MPI_Offset length = 0;
            ncmpi_inq_dimlen(id, dims[static_cast<std::size_t>(d)], &length);
            shape.push_back(length);
            bytes *= length;
        }
        std::int64_t at = offset - begin;
        if (at < 0) continue;
        std::int64_t record = 0;
        if (is_record && record_size > 0) {
            record = at / record_size;
            at -= record * record_size;
        }
        const std::int64_t padded = is_record && record_vars == 1 ? bytes : (bytes + 3) / 4 * 4;
        if (at >= padded) continue;
        place = std::string("variable ") + name;
        if (is_record) place += " record " + std::to_string(record);
        if (at >= bytes) {
            place += " (padding behind it)";
            break;
        }
        std::int64_t element = at / sizes[type];
        std::string index;
        for (std::size_t d = shape.size(); d-- > 0;) {
            index = std::to_string(element % shape[d]) + (index.empty() ? "" : ",") + index;
            element /= shape[d];
        }
        place += " [" + index + "]";
        break;
    }
    ncmpi_close(id);
    return place;
}
#else
inline std::string locate(const std::string&, std::int64_t) { return "(place: only with PnetCDF)"; }
#endif

/// Zeroes what lies between the header, the fixed-size and the record variables. netCDF-C leaves
/// there what its buffer happened to hold; PnetCDF and the library leave zeroes.
inline void zero_gaps(const std::string& path) {
    int id = 0;
    if (ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id) != NC_NOERR) return;
    MPI_Offset end = 0;  // of what is defined so far: the header, then each fixed-size variable
    int nvars = 0;
    int unlimited = -1;
    ncmpi_inq_header_size(id, &end);
    ncmpi_inq_nvars(id, &nvars);
    ncmpi_inq_unlimdim(id, &unlimited);
    std::vector<std::pair<MPI_Offset, MPI_Offset>> gaps;
    MPI_Offset records = -1;
    for (int v = 0; v < nvars; ++v) {
        nc_type type = NC_NAT;
        int ndims = 0;
        MPI_Offset begin = 0;
        ncmpi_inq_varndims(id, v, &ndims);
        std::vector<int> dims(static_cast<std::size_t>(ndims) + 1, -1);
        ncmpi_inq_var(id, v, nullptr, &type, nullptr, dims.data(), nullptr);
        ncmpi_inq_varoffset(id, v, &begin);
        if (unlimited >= 0 && dims[0] == unlimited) {
            if (records < 0 || begin < records) records = begin;
            continue;
        }
        static const MPI_Offset sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
        MPI_Offset bytes = sizes[type];
        for (int d = 0; d < ndims; ++d) {
            MPI_Offset length = 0;
            ncmpi_inq_dimlen(id, dims[static_cast<std::size_t>(d)], &length);
            bytes *= length;
        }
        if (begin > end) gaps.emplace_back(end, begin);
        end = begin + (bytes + 3) / 4 * 4;
    }
    if (records > end) gaps.emplace_back(end, records);
    ncmpi_close(id);
    const int fd = ::open(path.c_str(), O_WRONLY);
    if (fd < 0) return;
    for (const auto& [from, till] : gaps) {
        const std::vector<char> zeros(static_cast<std::size_t>(till - from));
        [[maybe_unused]] const ssize_t n = ::pwrite(fd, zeros.data(), zeros.size(), from);
    }
    ::close(fd);
}

/// "" if the files are equal; else the first difference. `expected` is the reference.
inline std::string difference(const std::string& expected, const std::string& actual) {
    using compare_detail::Reader;
    const Reader a(expected);
    const Reader b(actual);
    if (!a.good()) return "cannot open " + expected;
    if (!b.good()) return "cannot open " + actual;
    constexpr std::int64_t piece = 1 << 20;
    std::vector<char> x(
        static_cast<std::size_t>(std::min(piece, std::max(a.size(), std::int64_t{1}))));
    std::vector<char> y(x.size());
    const std::int64_t common = std::min(a.size(), b.size());
    for (std::int64_t at = 0; at < common; at += piece) {
        const std::int64_t n = std::min(piece, common - at);
        if (!a.read(at, n, x.data())) return "cannot read " + expected;
        if (!b.read(at, n, y.data())) return "cannot read " + actual;
        if (std::memcmp(x.data(), y.data(), static_cast<std::size_t>(n)) == 0) continue;
        std::int64_t differing = 0;
        std::int64_t first = -1;
        for (std::int64_t i = 0; i < n; ++i)
            if (x[static_cast<std::size_t>(i)] != y[static_cast<std::size_t>(i)]) {
                if (first < 0) first = i;
                ++differing;
            }
        const auto f = static_cast<std::size_t>(first);
        return check::text(
            "byte %lld is 0x%02x, expected 0x%02x, in %s (%lld differing bytes in this MiB; sizes "
            "%lld and expected %lld)",
            static_cast<long long>(at + first), static_cast<unsigned>(y[f]) & 0xffU,
            static_cast<unsigned>(x[f]) & 0xffU, locate(expected, at + first).c_str(),
            static_cast<long long>(differing), static_cast<long long>(b.size()),
            static_cast<long long>(a.size()));
    }
    if (a.size() != b.size())
        return check::text(
            "size is %lld, expected %lld; the common part is equal, its end lies in %s",
            static_cast<long long>(b.size()), static_cast<long long>(a.size()),
            locate(expected, common).c_str());
    return "";
}

#endif
