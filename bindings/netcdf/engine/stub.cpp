// An engine that takes no file.
//
// SPDX-License-Identifier: Apache-2.0
#include "front/table.hpp"

namespace thalweg::netcdf {

namespace {

int leave(Call& call) {
    call.reason = "this build has no engine for netCDF's calls";
    return step_aside;
}

Table make() {
    Table table{};
    table.create = [](const char*, int, std::size_t, int, std::size_t*, void* call, const Table*,
                      int) { return leave(*static_cast<Call*>(call)); };
    table.open = [](const char*, int, int, std::size_t*, void* call, const Table*, int) {
        return leave(*static_cast<Call*>(call));
    };
    return table;
}

}  // namespace

const Table engine_table = make();

bool engine_prepare(const char*, int, Use) { return false; }

void engine_finish() {}

}  // namespace thalweg::netcdf
