// Functions that fill in parts of the engine's dispatch table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "files.hpp"
#include "front/table.hpp"

namespace thalweg::netcdf::engine {

// Passes the file to the real library, and repeats the call there.
template <auto Entry, class... Arguments>
int leave_and_call(const std::string& reason, int ncid, Arguments... arguments) {
    const int code = attempt([&] { return leave(ncid, reason); });
    return code != 0 ? code : (file_table().*Entry)(ncid, arguments...);
}

void add_storage(Table& table);
void add_groups_and_types(Table& table);

}  // namespace thalweg::netcdf::engine
