// Serializes definitions, for messages between processes of one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/wire.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

void put_attribute(WireWriter& out, const Attribute& attribute);
Attribute get_attribute(WireReader& in);

void put_attributes(WireWriter& out, const std::vector<Attribute>& attributes);
std::vector<Attribute> get_attributes(WireReader& in);

void put_dims(WireWriter& out, const std::vector<Dimension>& dims);
std::vector<Dimension> get_dims(WireReader& in);

/// Serializes a variable without its decomposition and packing.
void put_variable(WireWriter& out, const Variable& variable);
Variable get_variable(WireReader& in);

}  // namespace thalweg::detail
