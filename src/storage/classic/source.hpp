// The source of the classic formats: plain reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// Opens a classic file; see open_source().
std::unique_ptr<Source> open_classic_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status);

}  // namespace thalweg::detail
