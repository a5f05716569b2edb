// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.hpp>

#include "support/checks.hpp"

/// Returns the code of the thalweg::Error that f throws; TW_OK if it throws nothing.
template <class F>
int code_of(F&& f) {
    try {
        f();
        return TW_OK;
    } catch (const thalweg::Error& e) {
        CHECK(*e.what() != '\0');
        return e.code();
    }
}
