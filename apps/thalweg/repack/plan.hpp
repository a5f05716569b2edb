// The plan of repack.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "definitions/definitions.hpp"
#include "inspect/inspected.hpp"
#include "repack/options.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::app {

struct RepackPlan {
    detail::Definitions definitions;
    detail::Format format = detail::Format::cdf2;
    std::int64_t records = 0;
    /// Properties of the input, other than data, that the output does not have, each with the names
    /// of the variables or dimensions that lose it.
    std::map<std::string, std::vector<std::string>> notes;
};

/**
 * Plans a copy.
 * @return TW_OK; TW_EUNSUPPORTED (groups, strings, user-defined types, an unlimited dimension that
 *     is not the first of a variable), TW_EFORMAT (the output format cannot hold the data),
 *     TW_ESETTING; the text names the variable, dimension or attribute
 * @note Local, with the same result on every rank
 */
detail::Status plan_repack(const Reader& in, const Inspection& inspection,
                           const RepackOptions& options, RepackPlan& plan);

}  // namespace thalweg::app
