// The description of a file for a server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/wire.hpp"
#include "service/queue/publisher.hpp"

namespace thalweg::detail {

struct FileDescription {
    ServicePlan plan;  ///< without definitions
    Definitions definitions;
};

void describe_file(const ServicePlan& plan, WireWriter& out);
FileDescription read_file(const std::vector<char>& bytes);

/// Encodes attributes that were set after the definitions ended, as pairs of a variable (or -1) and
/// an attribute.
void put_late(WireWriter& out, const LateAttributes& late);
LateAttributes get_late(WireReader& in);

void put_status(WireWriter& out, const Status& status);
Status get_status(WireReader& in);

}  // namespace thalweg::detail
