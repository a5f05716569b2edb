// Requests of a restart to a reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reading/reader.hpp"
#include "restart/registry.hpp"

namespace thalweg::detail {

/// Checks that a type can represent every value of a variable in a file.
Status check_exact(const Source& source, tw_type type, const Variable& theirs);

/// Prepares the read of one array of a restart. Local.
/// @param definitions  the model's definitions, which contain the variable `own`
Status ask_for(const Source& source, const std::string& path, const Definitions& definitions,
               const Variable& own, const Wording& wording, const RegisteredArray& array,
               GetArguments& arguments);

}  // namespace thalweg::detail
