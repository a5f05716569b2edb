// The library's own calls of netCDF and PnetCDF, in a process whose calls Thalweg replaces.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depth of this thread in the library that replaces netCDF's calls of unchanged programs, if that
// is loaded: above 0 the calls reach netCDF.
extern "C" [[gnu::weak]] int* thalweg_shim_depth();

namespace thalweg::detail {

/// Guard for a scope in which this thread's calls of netCDF and PnetCDF reach these libraries.
class Untaken {
public:
    Untaken() { change(1); }
    ~Untaken() { change(-1); }
    Untaken(const Untaken&) = delete;
    Untaken& operator=(const Untaken&) = delete;

private:
    static void change(int by) {
        if (thalweg_shim_depth != nullptr) *thalweg_shim_depth() += by;
    }
};

}  // namespace thalweg::detail
