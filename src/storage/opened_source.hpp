// Makes and opens sources of one type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "base/reserve.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// Makes a source of type `Made` and opens it. Returns null after a failure.
/// @note Collective; the same status on every rank
template <class Made, class... Args>
std::unique_ptr<Source> opened_source(Comm& comm, Status& status, const Args&... args) {
    auto source = with_reserve([&] { return std::make_unique<Made>(args...); });
    status = source->open(comm);
    if (!status.ok()) return nullptr;
    return source;
}

}  // namespace thalweg::detail
