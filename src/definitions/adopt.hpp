// Writing on in a file that is there: what the model defines beside what the file holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/**
 * Compares the model's definitions with a file's, in whatever order they come. Variables, their
 * types and dimensions must be the same, and so must _FillValue, with which what is there was
 * filled.
 * @param file  receives the model's settings; its own numbers and attributes stay
 * @param late  receives the model's attributes that the file lacks or has otherwise, by the file's
 *              numbers: (variable or -1, attribute)
 * @return TW_OK, TW_EDIFFERENT with the first thing that differs. Local; follows from the arguments
 */
Status adopt(const Definitions& model, Definitions& file,
             std::vector<std::pair<int, Attribute>>& late, Wording wording = {});

}  // namespace thalweg::detail
