// SPDX-License-Identifier: Apache-2.0
#include "service/queue/region.hpp"

#include <algorithm>
#include <cstring>

#include "base/reserve.hpp"

namespace thalweg::detail {

Status Region::failure() const {
    if (!has_failed()) return {};
    return unpacked(code, {error, error_bytes});
}

void Region::fail(const Status& status) {
    std::uint32_t none = 0;
    if (!failed.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
    code = status.code;
    std::string bytes;
    (void)alone([&]() -> Status {
        bytes = with_reserve([&] { return packed(status); });
        return {};
    });
    error_bytes = std::min(bytes.size(), sizeof error);
    std::memcpy(error, bytes.data(), error_bytes);
    failed.store(2, std::memory_order_release);
}

}  // namespace thalweg::detail
