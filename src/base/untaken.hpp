// The library's own calls of netCDF and PnetCDF, in a process whose calls are taken.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depth of this thread in the library that takes netCDF's calls of unchanged programs, if it is
// there: above 0 the calls reach netCDF.
extern "C" [[gnu::weak]] int* thalweg_shim_depth();

namespace thalweg::detail {

/// Keeps calls of netCDF and PnetCDF of this thread from being taken, for a scope.
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
