// The differences of two files, for people and for programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "thalweg/thalweg.hpp"

namespace thalweg::app {

struct Difference {
    std::string text;
    nlohmann::ordered_json json;
};

/// The results of a comparison.
struct Findings {
    std::vector<Difference> differences;
    /// Objects that could not be compared, each with the reason.
    std::vector<std::string> not_compared;
    std::int64_t variables = 0, values = 0;  ///< numbers of variables and values that were compared
};

/// Formats a value. Values with different bits have different texts. Text is quoted.
std::string text_of(Type type, const char* value);
/// Formats several values. Long lists are shortened.
std::string text_of(Type type, const std::vector<char>& values);
/// Returns a value as JSON: as a number, or as text if JSON cannot represent it.
nlohmann::ordered_json json_of(Type type, const char* value);
std::string name_of(Type type);
std::size_t size_of(Type type);

/// Calls f with a null pointer to the C++ type that corresponds to an external type.
template <class F>
void with_type(Type type, F&& f) {
    switch (type) {
        case Type::none: return;
        case Type::int8: return f(static_cast<std::int8_t*>(nullptr));
        case Type::text: return f(static_cast<char*>(nullptr));
        case Type::int16: return f(static_cast<std::int16_t*>(nullptr));
        case Type::int32: return f(static_cast<std::int32_t*>(nullptr));
        case Type::float32: return f(static_cast<float*>(nullptr));
        case Type::float64: return f(static_cast<double*>(nullptr));
        case Type::uint8: return f(static_cast<std::uint8_t*>(nullptr));
        case Type::uint16: return f(static_cast<std::uint16_t*>(nullptr));
        case Type::uint32: return f(static_cast<std::uint32_t*>(nullptr));
        case Type::int64: return f(static_cast<std::int64_t*>(nullptr));
        case Type::uint64: return f(static_cast<std::uint64_t*>(nullptr));
    }
}

}  // namespace thalweg::app
