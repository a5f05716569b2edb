// Makes the services background and servers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/service.hpp"

namespace thalweg::detail {

/// Makes the service background or servers. Background needs memory that processes share: if the
/// system provides none, the file's service becomes inline, and the result is null.
/// @param existing  complete contents that the file already has
/// @note Collective; the status is the same on every rank
std::unique_ptr<Service> make_queue_service(FileContext& file, Target& target, Batch& batch,
                                            const Existing& existing, Status& status);

}  // namespace thalweg::detail
