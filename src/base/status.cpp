// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

namespace thalweg::detail {

Status exception_status() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::exception& e) {
        try {
            return failure(TW_EINTERNAL, "internal error: {}", e.what());
        } catch (const std::exception&) {
            return out_of_memory();
        }
    }
}

}  // namespace thalweg::detail
