// SPDX-License-Identifier: Apache-2.0
#include "service/inline/rest_writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "service/bits.hpp"

namespace thalweg::detail {

namespace {

/// Bytes per rank below which another round is not worth it.
constexpr std::int64_t least_round = 4 << 10;

/// Returns the layout by which RestWriter writes. Method direct also uses it to fill elements that
/// no rank holds.
LayoutChoice layout_of(const FileContext& file, const Target& target) {
    LayoutChoice layout = target.layout;
    if (file.options.method == "direct") {
        layout.method = "record";
        layout.writers = file.team.size();
    }
    return layout;
}

}  // namespace

RestWriter::RestWriter(FileContext& file, Target& target, const Spaces& spaces)
    : file_(file), target_(target), spaces_(spaces), layout_(make_layout(layout_of(file, target))) {
    const std::vector<int>& writers = target.writers;
    const auto mine = std::find(writers.begin(), writers.end(), file.team.rank());
    if (mine == writers.end()) return;
    constexpr std::int64_t usual_piece = 2 << 20;
    composer_.emplace(file.definitions, are_whole(file.holdings), spaces, *layout_,
                      static_cast<int>(mine - writers.begin()), *target.storage,
                      file.options.piece > 0 ? file.options.piece : usual_piece, nullptr,
                      file.existing);
}

void RestWriter::begin(std::int64_t records, std::span<const char> filled) {
    if (composer_) composer_->go_on(records, filled);
}

Status RestWriter::fill(std::span<const int> variables) {
    if (!composer_) return {};
    UnitPart unit;
    unit.head.kind = UnitKind::fill;
    unit.put.assign((file_.definitions.variables.size() + 63) / 64, 0);
    for (const int v : variables) set_bit(unit.put, v);
    return composer_->write({&unit, 1});
}

void RestWriter::note_written(int variable, std::int64_t record) {
    if (composer_) composer_->note_written(variable, record);
}

void RestWriter::note_records(std::int64_t records) {
    if (composer_) composer_->note_records(records);
}

/// Makes a message to each writer whose share has some of the pieces.
std::vector<Packet> RestWriter::cut(std::span<const RestPiece> pieces) const {
    UnitPart unit_part;
    unit_part.head.kind = UnitKind::boxes;
    unit_part.head.rank = file_.team.rank();
    for (const RestPiece& piece : pieces) {
        const Part& part = *piece.part;
        UnitPart::Entry entry;
        entry.variable = part.variable;
        entry.record = part.record;
        entry.held = part.boxes()[piece.at];
        entry.within = &piece.within;
        entry.data = part.packed +
                     part.holding->packed_at[piece.at] * file_.variable(part.variable).element();
        unit_part.entries.push_back(std::move(entry));
    }
    std::vector<Packet> packets;
    for (std::size_t w = 0; w < target_.writers.size() && !unit_part.entries.empty(); ++w) {
        Packet packet{target_.writers[w], {}};
        if (append_clipped(unit_part, *layout_, w, spaces_, file_.definitions.variables,
                           packet.bytes))
            packets.push_back(std::move(packet));
    }
    return packets;
}

Status RestWriter::write(std::span<const Part> parts, std::int64_t records, bool last) {
    const std::vector<Variable>& variables = file_.definitions.variables;
    const std::int64_t bytes = message_bytes(parts, variables);
    std::int64_t all = bytes;
    file_.team.all_reduce({&all, 1}, Reduce::sum);
    // In each round, every rank sends the same fraction of its parts.
    const std::int64_t wanted = all / std::max<std::int64_t>(1, file_.options.staging) + 1;
    const std::int64_t most = wanted == 1 ? bytes : std::max(least_round, bytes / wanted);
    std::vector<std::vector<RestPiece>> rounds;
    Status status;
    std::size_t round = 0;
    for (bool more = true; more; ++round) {
        std::vector<Packet> sent, received;
        const Status mine = alone([&] {
            if (round == 0) rounds = cut_to_rounds(parts, variables, most);
            if (round < rounds.size()) sent = cut(rounds[round]);
        });
        std::int64_t words[] = {mine.ok() ? 0 : 1, round + 1 < rounds.size() ? 1 : 0};
        file_.team.all_reduce(words, Reduce::max);
        if (words[0] != 0) return file_.team.agree(mine);
        more = words[1] != 0;
        Status moved = together([&] { received = exchange_by_nodes(file_.team, sent); });
        if (!moved.ok()) return moved;
        if (status.ok() && composer_) status = alone([&] { return merge(received); });
    }
    return status.ok() && composer_ ? alone([&] { return end(records, last); }) : status;
}

/// Writes this writer's share of the parts received from all ranks.
Status RestWriter::merge(const std::vector<Packet>& received) {
    std::vector<UnitPart> unit_parts;
    for (const Packet& p : received) {
        auto its = parse_message(p.bytes, file_.definitions.variables);
        std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
    }
    std::stable_sort(
        unit_parts.begin(), unit_parts.end(),
        [](const UnitPart& a, const UnitPart& b) { return a.head.rank < b.head.rank; });
    return composer_->write(unit_parts);
}

/// Completes records, and with `last` the file.
Status RestWriter::end(std::int64_t records, bool last) {
    UnitPart unit;
    unit.head.kind = last ? UnitKind::last : UnitKind::fixed;
    unit.head.records = records;
    return composer_->write({&unit, 1});
}

}  // namespace thalweg::detail
