// SPDX-License-Identifier: Apache-2.0
#include "service/queue/region.hpp"

#include <cstring>

namespace thalweg::detail {

Status Region::failure() const {
    if (!has_failed()) return {};
    return {code, text};
}

void Region::fail(const Status& status) {
    std::uint32_t none = 0;
    if (!failed.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
    code = status.code;
    const std::size_t n = std::min(status.text.size(), max_text - 1);
    std::memcpy(text, status.text.data(), n);
    text[n] = '\0';
    failed.store(2, std::memory_order_release);
}

}  // namespace thalweg::detail
