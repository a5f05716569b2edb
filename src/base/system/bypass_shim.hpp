// The library's own calls of netCDF and PnetCDF, in a process whose calls Thalweg replaces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the nesting depth of this thread's calls into the shim library that replaces netCDF's
// functions in unchanged programs. While the depth is above 0, the shim passes calls on to netCDF.
// The symbol is null if the shim is not loaded.
extern "C" [[gnu::weak]] int* thalweg_shim_depth();

namespace thalweg::detail {

/// For the duration of a scope, makes this thread's calls of netCDF and PnetCDF reach these
/// libraries instead of the shim.
class BypassShim {
public:
    BypassShim() { change(1); }
    ~BypassShim() { change(-1); }
    BypassShim(const BypassShim&) = delete;
    BypassShim& operator=(const BypassShim&) = delete;

private:
    static void change(int by) {
        if (thalweg_shim_depth != nullptr) *thalweg_shim_depth() += by;
    }
};

}  // namespace thalweg::detail
