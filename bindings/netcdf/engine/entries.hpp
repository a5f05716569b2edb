// Functions that fill in parts of the engine's dispatch table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/table.hpp"

namespace thalweg::netcdf::engine {

void add_storage(Table& table);
void add_groups_and_types(Table& table);

}  // namespace thalweg::netcdf::engine
