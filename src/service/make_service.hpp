// Makes the service of a file: inline, background or servers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/// Makes the service that a file's options name; inline where the system cannot support it.
/// @param status  this rank's own failure so far, with service=inline; becomes that of all ranks
/// @note Collective
std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status);

}  // namespace thalweg::detail
