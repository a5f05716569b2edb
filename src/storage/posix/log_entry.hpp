// Entries of logs. After a crash, their checksums show which ones are complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/wire.hpp"

namespace thalweg::detail {

/// The bytes by which a log is recognized.
using LogMark = std::array<char, 16>;

/// Removes the mark from the front of a log. @return false if it begins with another one
inline bool take_log_mark(std::span<const char>& from, const LogMark& mark) {
    if (from.size() < mark.size() || !std::equal(mark.begin(), mark.end(), from.begin()))
        return false;
    from = from.subspan(mark.size());
    return true;
}

/// The first bytes of an entry.
struct LogEntryHead {
    std::int64_t bytes = 0;  ///< size in bytes of the rest of the entry
    std::uint64_t checksum = 0;
};

/// Appends an entry with the given values to a log; see base/wire.hpp.
template <class... T>
void append_log_entry(std::vector<char>& log, const T&... values) {
    const std::vector<char> body = message_of(values...);
    const LogEntryHead head{std::ssize(body), hash_of({body.data(), body.size()})};
    const auto* const first = reinterpret_cast<const char*>(&head);
    log.insert(log.end(), first, first + sizeof head);
    log.insert(log.end(), body.begin(), body.end());
}

/// Removes the next entry from the front of a log, and reads its values.
/// @return false if it is incomplete; nothing is read then
template <class... T>
bool take_log_entry(std::span<const char>& from, T&... values) {
    LogEntryHead head;
    if (from.size() < sizeof head) return false;
    std::memcpy(&head, from.data(), sizeof head);
    from = from.subspan(sizeof head);
    if (head.bytes < 0 || head.bytes > std::ssize(from)) return false;
    const std::span<const char> body = from.first(head.bytes);
    from = from.subspan(head.bytes);
    if (hash_of({body.data(), body.size()}) != head.checksum) return false;
    WireReader in(body);
    in(values...);
    return true;
}

}  // namespace thalweg::detail
