// The description of a file for a server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "definitions/wire.hpp"
#include "service/queue/service_plan.hpp"

namespace thalweg::detail {

std::vector<char> describe_file(const ServicePlan& plan);
/// Reads a description. @param plan  does not receive its pointer to the definitions
void read_file(const std::vector<char>& bytes, ServicePlan& plan, Definitions& definitions);

}  // namespace thalweg::detail
