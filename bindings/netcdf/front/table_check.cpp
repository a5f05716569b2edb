// Compares the front's dispatch table with that of the installed netCDF-C, at compile time.
//
// SPDX-License-Identifier: Apache-2.0
#if __has_include(<netcdf_dispatch.h>)
#include <netcdf.h>

#include <netcdf_dispatch.h>

#include <cstddef>

#include "front/real.hpp"

namespace thalweg::netcdf {

static_assert(NC_DISPATCH_VERSION <= 5, "netCDF-C has a newer dispatch table than this front");
static_assert(sizeof(NC_Dispatch) <= sizeof(Table));
static_assert(NC_DISPATCH_VERSION < 5 || sizeof(NC_Dispatch) == sizeof(Table));

#if NC_DISPATCH_VERSION == 5
#define X(name) static_assert(offsetof(NC_Dispatch, name) == offsetof(Table, name));
THALWEG_PLAIN_ENTRIES(X)
THALWEG_GROUP_ENTRIES(X)
THALWEG_SPECIAL_ENTRIES(X)
THALWEG_TYPED_ENTRIES(X)
X(model)
X(dispatch_version)
X(create)
X(open)
X(abort)
X(close)
X(put_att)
X(inq_var_all)
#undef X
#endif

}  // namespace thalweg::netcdf
#endif
