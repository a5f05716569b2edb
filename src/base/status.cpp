// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg::detail {

namespace {

/// The beginning of a packed error. The names of file and variable, and the text, follow it.
struct PackedHead {
    std::int64_t record;
    std::int32_t rank, system;
    std::uint32_t file, variable;  ///< lengths of the names in bytes
};

}  // namespace

std::string packed(const Status& status) {
    const ErrorLocation& place = status.place;
    const PackedHead head{place.record, place.rank, place.system,
                          static_cast<std::uint32_t>(place.file.size()),
                          static_cast<std::uint32_t>(place.variable.size())};
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    return bytes.append(place.file).append(place.variable).append(status.text);
}

Status unpacked(tw_status code, std::string_view bytes) {
    PackedHead head{-1, -1, 0, 0, 0};
    std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
    const auto take = [&](std::size_t size) {
        const std::string_view taken = bytes.substr(0, size);
        bytes.remove_prefix(taken.size());
        return std::string(taken);
    };
    (void)take(sizeof head);
    ErrorLocation place{take(head.file), take(head.variable), head.record, head.rank, head.system};
    return {code, std::string(bytes), std::move(place)};
}

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
