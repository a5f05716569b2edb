// Admits one thread at a time to netCDF-C, HDF5 and PnetCDF's header functions, which sessions of
// several threads share and which are not thread-safe.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace thalweg::detail {

/// Locks netCDF-C and HDF5, which are not thread-safe, for the duration of a scope. The scope must
/// not wait for other ranks.
class LibraryLock {
public:
    LibraryLock() : lock_(mutex()) {}

private:
    static std::recursive_mutex& mutex() {
        static std::recursive_mutex one;
        return one;
    }
    std::lock_guard<std::recursive_mutex> lock_;
};

}  // namespace thalweg::detail
