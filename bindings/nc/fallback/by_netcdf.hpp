// Files that this layer writes with netCDF-C, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

#include "base/system/bypass_shim.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "nc/definitions/table.hpp"

namespace thalweg::nc {

// For the duration of a scope, silences HDF5's error messages, because netCDF-C makes calls that
// may fail, and the signal of the limit on file sizes. Also makes this layer's own calls reach
// netCDF-C, even if the shim replaces the program's calls.
class Quiet {
public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    detail::BypassShim untaken_;
    detail::IgnoreSigxfsz no_signal_;
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

// Throws an error unless a code of netCDF-C is 0.
void check_code(int code, const std::string& path, const std::string& what);

// Defines a variable, without its attributes. Returns netCDF's code.
int define_variable(int ncid, const Variable& v);
int put_attribute(int ncid, int varid, const Attribute& a);
// Makes the definitions of a new file, and ends define mode. Throws errors.
void define_all(int ncid, const Table& table, const std::string& path);

// Tests if HDF5 can write with a filter.
// @param id  number that the HDF Group has registered. Local
bool has_filter(unsigned id);

// Returns the storage of a netCDF-4 variable in a file that nobody writes. Local.
Storage stored(const std::string& path, const std::string& variable);

}  // namespace thalweg::nc
