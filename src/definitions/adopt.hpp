// Compares a model's definitions with those of an existing file that it continues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/**
 * Compares the model's definitions with those of a file, in any order. Variables must have the same
 * types, dimensions and _FillValue, as the existing data were filled with it.
 * @param file  definitions of the file; they receive the model's settings, but keep the file's
 *              order and attributes
 * @param late  receives the attributes of the model that differ from those of the file: pairs of
 *              the variable's number in the file (or -1) and the attribute
 * @return TW_OK, TW_EDIFFERENT with the first difference. Local; depends on the arguments only
 */
Status adopt(const Definitions& model, Definitions& file, LateAttributes& late,
             IndexConvention wording = {});

}  // namespace thalweg::detail
