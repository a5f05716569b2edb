// The description of a file for a server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "definitions/wire.hpp"
#include "service/queue/publisher.hpp"

namespace thalweg::detail {

struct FileDescription {
    ServicePlan plan;  ///< without definitions
    Definitions definitions;
};

std::vector<char> describe_file(const ServicePlan& plan);
FileDescription read_file(const std::vector<char>& bytes);

}  // namespace thalweg::detail
