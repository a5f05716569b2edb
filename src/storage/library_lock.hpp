// One thread at a time in netCDF-C, HDF5 and PnetCDF's headers: sessions of several threads share
// them, and they bear no two threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace thalweg::detail {

/// For a scope that waits for no other rank.
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
