// Byte for byte comparison of classic netCDF files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "header.hpp"

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

/// Describes a byte of a classic netCDF file: its variable, record and element.
inline std::string locate(const std::string& path, std::int64_t offset) {
    const Header header(path);
    if (!header.good) return "(header unreadable)";
    for (const Header::Var& v : header.variables) {
        std::int64_t at = offset - v.begin;
        if (at < 0) continue;
        std::string place = "variable " + v.name;
        if (v.record) {
            place += " record " + std::to_string(at / header.record_bytes());
            at %= header.record_bytes();
        }
        const bool dense = v.record && header.record_variables() == 1;
        if (at >= (dense ? v.bytes : (v.bytes + 3) / 4 * 4)) continue;
        if (at >= v.bytes) return place + " (padding behind it)";
        std::int64_t element = at / v.element;
        std::string index;
        for (std::size_t d = v.shape.size(); d-- > 0;) {
            index = std::to_string(element % v.shape[d]) + (index.empty() ? "" : ",") + index;
            element /= v.shape[d];
        }
        return place + " [" + index + "]";
    }
    return offset < header.bytes ? "header" : "header or padding";
}

/// Sets the bytes between header, fixed-size variables and records to zero. netCDF-C leaves old
/// contents of its buffer there; PnetCDF and the library write zeros.
inline void zero_gaps(const std::string& path) {
    const Header header(path);
    if (!header.good) return;
    std::int64_t end = header.bytes, records = -1;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for (const Header::Var& v : header.variables) {
        if (v.record) {
            if (records < 0 || v.begin < records) records = v.begin;
            continue;
        }
        if (v.begin > end) gaps.emplace_back(end, v.begin);
        end = v.begin + (v.bytes + 3) / 4 * 4;
    }
    if (records > end) gaps.emplace_back(end, records);
    const int fd = ::open(path.c_str(), O_WRONLY);
    if (fd < 0) return;
    for (const auto& [from, till] : gaps) {
        const std::vector<char> zeros(static_cast<std::size_t>(till - from));
        [[maybe_unused]] const ssize_t n = ::pwrite(fd, zeros.data(), zeros.size(), from);
    }
    ::close(fd);
}

/// Returns "" if the files are equal, otherwise the first difference. `expected` is the reference.
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
            "byte {} is {}, expected {}, in {} ({} differing bytes in this MiB; sizes "
            "{} and expected {})",
            at + first, static_cast<int>(y[f]), static_cast<int>(x[f]),
            locate(expected, at + first), differing, b.size(), a.size());
    }
    if (a.size() != b.size())
        return check::text("size is {}, expected {}; the common part is equal, its end lies in {}",
                           b.size(), a.size(), locate(expected, common));
    return "";
}
