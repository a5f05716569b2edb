// Service inline: what not all ranks have put alike, such as sections. Each rank sends every writer
// what belongs into its share; the writer merges it with what is in the file. What all ranks send
// in a round is at most as much as the setting `staging` allows each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/node_exchange.hpp"
#include "exchange/part.hpp"
#include "service/inline/rest_rounds.hpp"
#include "service/queue/composer.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

class RestWriter {
public:
    /// @param spaces  of the file; outlives this
    RestWriter(FileContext& file, Target& target, const Spaces& spaces);

    /// Takes over the state of the file. Local.
    /// @param filled  see Composer::go_on
    void begin(std::int64_t records, std::vector<char> filled);
    /// Fills what was never put of fixed-size variables, in this writer's share. Local.
    Status fill(std::span<const int> variables);
    /// Others have written all of a variable, of a record.
    void note_written(int variable, std::int64_t record);
    /// Others have completed all records before this one.
    void note_records(std::int64_t records);

    /**
     * Writes parts.
     * @param parts    of this rank, packed, in the order of its calls
     * @param records  of the file when they are written; the same on every rank
     * @param last     fixed-size variables are filled where they were never put
     * @return this rank's own failure
     * @note Collective
     */
    Status write(std::span<const Part> parts, std::int64_t records, bool last);

private:
    std::vector<Packet> cut(std::span<const RestPiece> pieces) const;
    Status merge(const std::vector<Packet>& received);
    Status end(std::int64_t records, bool last);

    FileContext& file_;
    Target& target_;
    const Spaces& spaces_;
    std::unique_ptr<Layout> layout_;
    std::optional<Composer> composer_;  ///< on writers
};

}  // namespace thalweg::detail
