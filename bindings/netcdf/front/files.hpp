// The files that have come to the table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "front/real.hpp"
#include "front/table.hpp"

namespace thalweg::netcdf {

/// A file whose calls come to the table: the engine writes it, or the calls are forwarded to
/// netCDF.
struct File {
    thalweg_netcdf* library = nullptr;  ///< library through which the program opened it
    const Real* real = nullptr;         ///< its functions
    int outer = 0;                      ///< the program's id, without the bits of a group
    std::atomic<int> inner{-1};         ///< the library's id of a forwarded file; -1: the engine's
    bool ended = false;                 ///< closing it has failed: only abort is allowed
    bool fortran = false;               ///< the call passed Fortran handles of its communicator
    Call call;

    File() = default;
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Replaces the call's communicator and info, which the program may free, by duplicates that
    /// are freed with the file.
    /// @note Collective over the communicator
    void duplicate_handles();

    bool forwarded() const { return inner.load(std::memory_order_acquire) != -1; }
    /// Returns the library's id of a group. @param id  the program's
    int inner_of(int id) const { return inner.load(std::memory_order_relaxed) | (id & 0xffff); }
    /// Returns the program's id of a group. @param id  the library's
    int outer_of(int id) const { return outer | (id & 0xffff); }

private:
    bool has_duplicates_ = false;
};

/// Returns the file of a program's id in a library; null if it has not come to the table.
File* find_file(int library, int id);

/// Notes a file, whose id is free. @param file  its id is outer
void add_file(int library, std::unique_ptr<File> file);

void remove_file(int library, int id);

}  // namespace thalweg::netcdf
