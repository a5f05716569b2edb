// SPDX-License-Identifier: Apache-2.0
#include "front/real.hpp"

#include <dlfcn.h>

#include <string>

namespace thalweg::netcdf {

namespace {

/// Suffixes of typed functions, indexed by netCDF's number of the type in memory.
constexpr const char* type_names[memory_types] = {
    "",       "_schar",  "_text", "_short",    "_int",       "_float", "_double",
    "_uchar", "_ushort", "_uint", "_longlong", "_ulonglong", "_string"};

template <class Function>
void find(void* handle, const std::string& name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, ("nc_" + name).c_str()));
}

template <class Function>
void find_typed(void* handle, const char* name, Function* (&functions)[memory_types]) {
    for (int type = 0; type < memory_types; ++type)
        find(handle, std::string(name) + type_names[type], functions[type]);
}

}  // namespace

Real find_real(void* handle) {
    Real real;
#define X(name, ...) find(handle, #name, real.name);
    THALWEG_PLAIN_ENTRIES(X)
    THALWEG_GROUP_ENTRIES(X)
    THALWEG_OTHER_FUNCTIONS(X)
#undef X
#define X(name) find_typed(handle, #name, real.name)
    X(get_vara);
    X(put_vara);
    X(get_vars);
    X(put_vars);
    X(get_varm);
    X(put_varm);
    X(get_att);
#undef X
    find_typed(handle, "put_att", real.put_att_numbers);
    find(handle, "put_att", real.put_att);
    return real;
}

}  // namespace thalweg::netcdf
