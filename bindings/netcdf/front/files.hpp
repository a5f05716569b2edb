// The open files whose calls reach the dispatch table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "front/real.hpp"
#include "front/table.hpp"

namespace thalweg::netcdf {

/// A file whose calls come to the dispatch table. The engine writes it, or its calls are forwarded
/// to netCDF.
struct File {
    thalweg_netcdf* library = nullptr;  ///< library through which the program opened it
    const Real* real = nullptr;         ///< functions of that library
    int outer = 0;                      ///< id that the program has, without the bits of a group
    std::atomic<int> inner{-1};         ///< id of a forwarded file in the library; -1: the engine
                                        ///< has the file
    bool ended = false;                 ///< a close has failed, so only abort is allowed
    bool fortran = false;               ///< the program passed its communicator as a Fortran handle
    Call call;

    File() = default;
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Duplicates the communicator and the info object of the call, which the program may free. The
    /// duplicates are freed with the file.
    /// @note Collective over the communicator
    void duplicate_handles();

    bool forwarded() const { return inner.load(std::memory_order_acquire) != -1; }
    /// Returns the library's id of a group.
    /// @param id  the program's id
    int inner_of(int id) const { return inner.load(std::memory_order_relaxed) | (id & 0xffff); }
    /// Returns the program's id of a group.
    /// @param id  the library's id
    int outer_of(int id) const { return outer | (id & 0xffff); }

private:
    bool has_duplicates_ = false;
};

/// Returns the file for a program's id in a library; null if its calls do not come to the table.
File* find_file(int library, int id);

/// Adds a file.
/// @param file  its id `outer` must be free
void add_file(int library, std::unique_ptr<File> file);

void remove_file(int library, int id);

}  // namespace thalweg::netcdf
