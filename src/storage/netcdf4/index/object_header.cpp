// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/object_header.hpp"

#include <cstddef>
#include <string_view>

namespace thalweg::detail {

namespace {

constexpr unsigned dataspace = 1;  ///< type number of the message with a data set's shape

unsigned byte_at(std::span<const char> block, std::size_t at) {
    return static_cast<unsigned char>(block[at]);
}

unsigned word_at(std::span<const char> block, std::size_t at) {
    return byte_at(block, at) | byte_at(block, at + 1) << 8;
}

enum class Found { no, yes, unreadable };

/// Searches for a dataspace among messages.
/// @param type_bytes  size in bytes of a message's type; the message's length follows it
/// @param head        size in bytes of what comes before a message's data
/// @param gap         bytes that may be left over at the end
Found find_in(std::span<const char> messages, std::size_t type_bytes, std::size_t head,
              std::size_t gap) {
    std::size_t at = 0;
    bool found = false;
    while (at + head <= messages.size()) {
        found |= dataspace == (type_bytes == 1 ? byte_at(messages, at) : word_at(messages, at));
        at += head + word_at(messages, at + type_bytes);
    }
    if (at > messages.size() || messages.size() - at > gap) return Found::unreadable;
    return found ? Found::yes : Found::no;
}

/// Searches for a dataspace in a block of version 2, which is passed without its signature and
/// checksum.
/// @param ordered  messages contain their number, which makes them longer
Found find_in_version_2(std::span<const char> messages, bool ordered) {
    const std::size_t head = ordered ? 6 : 4;
    return find_in(messages, 1, head, head - 1);
}

}  // namespace

bool has_length(std::span<const char> block) {
    constexpr std::size_t checksum = 4, signature = 4;
    const std::string_view begin(block.data(), block.size() < signature ? 0 : signature);
    if (begin == "OHDR" && block.size() > 24 + checksum) {
        const unsigned flags = byte_at(block, 5);
        const std::size_t at = 6U + ((flags & 0x20) != 0 ? 16U : 0U) +
                               ((flags & 0x10) != 0 ? 4U : 0U) + (1U << (flags & 3));
        return find_in_version_2(block.subspan(at, block.size() - at - checksum),
                                 (flags & 4) != 0) != Found::no;
    }
    if (begin == "OCHK" && block.size() >= signature + checksum) {
        // Messages are longer if they are numbered. Only the first block tells if they are, so try
        // both in continuation blocks.
        const auto messages = block.subspan(signature, block.size() - signature - checksum);
        const Found numbered = find_in_version_2(messages, true),
                    plain = find_in_version_2(messages, false);
        return numbered == Found::yes || plain == Found::yes ||
               (numbered == Found::unreadable && plain == Found::unreadable);
    }
    constexpr std::size_t first = 16;  // size in bytes of a version 1 header before its messages
    if (block.size() < first) return true;
    const bool main = byte_at(block, 0) == 1 && byte_at(block, 1) == 0;
    const Found in_main = main ? find_in(block.subspan(first), 2, 8, 0) : Found::unreadable;
    return (in_main == Found::unreadable ? find_in(block, 2, 8, 0) : in_main) != Found::no;
}

}  // namespace thalweg::detail
