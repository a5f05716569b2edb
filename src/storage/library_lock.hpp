// Admits one thread at a time to netCDF-C, HDF5 and PnetCDF's header functions, which sessions of
// several threads share and which are not thread-safe.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace thalweg::detail {

/// Holds the lock of the libraries (netCDF-C, HDF5) for a scope that must not wait for other ranks.
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
