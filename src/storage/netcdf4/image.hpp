// A netCDF-4 file in memory, before it is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/netcdf4/index/page.hpp"

namespace thalweg::detail {

/// A file in memory. HDF5 can append to it.
class Image final : private Hdf5Driver::Calls {
public:
    Image(std::vector<char>& bytes, const std::string& path) : bytes_(bytes), driver_(*this, path) {
        driver_.reach(size());
    }
    Status open() { return driver_.open(H5F_ACC_RDWR, true); }
    Status close() { return driver_.close(); }
    hid_t id() const { return driver_.id(); }

private:
    std::vector<char>& bytes_;
    Hdf5Driver driver_;

    std::int64_t size() const override { return std::ssize(bytes_); }
    bool read(H5FD_mem_t, std::int64_t at, std::int64_t bytes, char* to) override {
        const std::int64_t there = std::clamp<std::int64_t>(size() - at, 0, bytes);
        std::copy_n(bytes_.begin() + (there > 0 ? at : 0), there, to);
        std::fill_n(to + there, bytes - there, char{0});
        return true;
    }
    bool write(H5FD_mem_t, std::int64_t at, std::int64_t bytes, const char* from) override {
        if (at + bytes > size()) bytes_.resize(at + bytes);
        std::copy_n(from, bytes, bytes_.begin() + at);
        return true;
    }
    std::int64_t allocate(H5FD_mem_t, std::int64_t bytes) override {
        const std::int64_t at = rounded(driver_.end(), 8);
        driver_.reach(at + bytes);
        return at;
    }
};

}  // namespace thalweg::detail
