// Compares a model's definitions with those of an existing file that it continues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/**
 * Compares the model's definitions with a file's, in any order. Variables, their types and
 * dimensions must be the same, and so must _FillValue, with which the existing data were filled.
 * @param file  definitions of the file; receive the model's settings, and keep their numbers and
 *              attributes
 * @param late  receives the model's attributes that the file lacks or has with other values, by the
 *              file's numbers: (variable or -1, attribute)
 * @return TW_OK, TW_EDIFFERENT with the first difference. Local; depends on the arguments only
 */
Status adopt(const Definitions& model, Definitions& file,
             std::vector<std::pair<int, Attribute>>& late, Wording wording = {});

}  // namespace thalweg::detail
