// The definitions of a restart's files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "system/check.hpp"
#include "thalweg/thalweg.h"

/// Returns a handle for tw_def_dim, tw_put_att and tw_set_var.
inline tw_file definitions_of(tw_restart restart) {
    tw_file file = nullptr;
    CHECK(tw_restart_file(restart, &file) == TW_OK);
    return file;
}
