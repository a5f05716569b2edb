// Lists of the objects of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "thalweg/thalweg.hpp"

namespace thalweg::app {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name);

/// Returns the names of the dimensions in the file's order.
Names dims_of(const Reader& file);
Names variables_of(const Reader& file);
/// Returns the names of the attributes of a variable, or of the file if the name is empty.
Names attributes_of(const Reader& file, const std::string& variable);

struct AttributeValue {
    Type type = Type::none;    ///< type of the values; `none` if they cannot be read
    std::vector<char> values;  ///< values in the machine's byte order
    bool operator==(const AttributeValue&) const = default;
};
AttributeValue attribute_of(const Reader& file, const std::string& variable,
                            const std::string& name);

}  // namespace thalweg::app
