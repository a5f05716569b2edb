// Service inline: writes parts that not all ranks have put alike, such as sections. Each rank sends
// every writer the elements of its share; the writer merges them with the elements in the file. In
// each round, all ranks together send at most the number of bytes that the setting `staging` allows
// one rank.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/node_exchange.hpp"
#include "exchange/part.hpp"
#include "service/queue/writer/record_writer.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

/// Returns the bytes of a packed box in a message, with its description.
std::int64_t message_bytes(const PackedValues& box, std::span<const Variable> variables);

/// Cuts packed boxes to rounds of at most `most` bytes, in their order, so that no writer receives
/// more at a time than it has memory for.
std::vector<std::vector<PackedValues>> cut_to_rounds(std::span<const PackedValues> boxes,
                                                     std::span<const Variable> variables,
                                                     std::int64_t most);

class MergeExchange {
public:
    /// Local.
    /// @param sections    the file's sections
    /// @param progress  what was written of the file
    MergeExchange(FileContext& file, Target& target, const FileSections& sections,
                  Progress& progress);

    /// Fills elements of fixed-size variables that were never put, in this writer's share. Local.
    Status fill(std::span<const int> variables);

    /**
     * Writes parts.
     * @param parts    parts of this rank, packed, in the order of its calls
     * @param records  number in the file when they are written; the same on every rank
     * @param last     fill elements of fixed-size variables that were never put
     * @return this rank's own failure
     * @note Collective
     */
    Status write(std::span<const Part> parts, std::int64_t records, bool last);

private:
    std::vector<PackedValues> boxes_of(std::span<const Part> parts) const;
    std::vector<Packet> cut(std::vector<PackedValues> boxes) const;
    Status write_own(std::vector<PackedValues> boxes);
    Status merge(const std::vector<Packet>& received);
    Status end(std::int64_t records, bool last);

    FileContext& file_;
    Target& target_;
    const FileSections& sections_;
    std::unique_ptr<Layout> layout_;
    std::optional<RecordWriter> record_writer_;  ///< set on writers
};

}  // namespace thalweg::detail
