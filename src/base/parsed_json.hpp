// A parsed JSON text that is destroyed without allocating memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace thalweg::detail {

/// A parsed value. The destructor of nested JSON allocates memory, and ends the program if it gets
/// none, so this one takes the value apart first.
struct ParsedJson {
    nlohmann::json value;

    ~ParsedJson() { take_apart(value); }

    static void take_apart(nlohmann::json& value) {
        if (!value.is_structured()) return;
        for (nlohmann::json& inner : value) take_apart(inner);
        value.clear();
    }
};

}  // namespace thalweg::detail
