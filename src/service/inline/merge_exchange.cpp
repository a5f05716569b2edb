// SPDX-License-Identifier: Apache-2.0
#include "service/inline/merge_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bits.hpp"
#include "exchange/pack/dense.hpp"

namespace thalweg::detail {

namespace {

/// Bytes per rank below which another round is not worth it.
constexpr std::int64_t least_round = 4 << 10;

/// Returns the layout by which MergeExchange writes. Method direct also uses it to fill elements
/// that no rank holds.
LayoutChoice layout_of(const FileContext& file, const Target& target) {
    LayoutChoice layout = target.layout;
    if (file.options.method == "direct") {
        layout.method = "record";
        layout.writers = file.team.size();
    }
    return layout;
}

}  // namespace

std::int64_t message_bytes(const PackedValues& box, std::span<const Variable> variables) {
    constexpr std::int64_t description = 256;
    const std::int64_t n = elements_of(box.held, *box.within);
    return n == 0 ? 0 : n * variables[box.variable].element() + description;
}

std::vector<std::vector<PackedValues>> cut_to_rounds(std::span<const PackedValues> boxes,
                                                     std::span<const Variable> variables,
                                                     std::int64_t most) {
    std::vector<std::vector<PackedValues>> rounds(1);
    std::int64_t room = most;
    const auto add = [&](const auto& again, PackedValues box) -> void {
        const std::int64_t bytes = message_bytes(box, variables);
        if (bytes > room && bytes > most / 4 && box.within->volume() > 1) {
            PackedValues second = box;
            second.within = halve(*box.within);
            again(again, std::move(box));
            return again(again, std::move(second));
        }
        if (bytes == 0) return;
        if (bytes > room && !rounds.back().empty()) {
            rounds.emplace_back();
            room = most;
        }
        rounds.back().push_back(std::move(box));
        room -= bytes;
    };
    for (const PackedValues& box : boxes) add(add, box);
    return rounds;
}

MergeExchange::MergeExchange(FileContext& file, Target& target, const FileSections& sections,
                             Progress& progress)
    : file_(file),
      target_(target),
      sections_(sections),
      layout_(make_layout(layout_of(file, target))) {
    const std::vector<int>& writers = target.writers;
    const auto mine = std::find(writers.begin(), writers.end(), file.team.rank());
    if (mine == writers.end()) return;
    constexpr std::int64_t usual_piece = 2 << 20;
    record_writer_.emplace(file.definitions, are_whole(file.holdings), sections, *layout_,
                           static_cast<int>(mine - writers.begin()), *target.storage, progress,
                           file.options.piece > 0 ? file.options.piece : usual_piece, nullptr);
}

Status MergeExchange::fill(std::span<const int> variables) {
    if (!record_writer_) return {};
    UnitPart unit;
    unit.head.kind = UnitKind::fill;
    unit.head.boxed = true;
    unit.put.assign((file_.definitions.variables.size() + 63) / 64, 0);
    for (const int v : variables) set_bit(unit.put, v);
    return record_writer_->write({&unit, 1});
}

/// Returns the boxes of packed parts.
std::vector<PackedValues> MergeExchange::boxes_of(std::span<const Part> parts) const {
    std::vector<PackedValues> boxes;
    for (const Part& part : parts)
        for (std::size_t at = 0; at < part.boxes().size(); ++at) {
            const HeldBox& held = part.boxes()[at];
            const char* const data =
                part.packed + part.holding->packed_at[at] * file_.variable(part.variable).element();
            boxes.push_back({part.variable, part.record, held, 0, data, held.box});
        }
    return boxes;
}

/// Writes this rank's own boxes, without a message.
Status MergeExchange::write_own(std::vector<PackedValues> boxes) {
    UnitPart unit;
    unit.head.kind = UnitKind::boxes;
    unit.head.rank = file_.team.rank();
    unit.entries = std::move(boxes);
    for (PackedValues& box : unit.entries) box.within.reset();
    return record_writer_->write({&unit, 1});
}

/// Makes a message to each writer whose share has some of the boxes.
std::vector<Packet> MergeExchange::cut(std::vector<PackedValues> boxes) const {
    UnitPart unit_part;
    unit_part.head.kind = UnitKind::boxes;
    unit_part.head.rank = file_.team.rank();
    unit_part.entries = std::move(boxes);
    std::vector<Packet> packets;
    for (std::size_t w = 0; w < target_.writers.size() && !unit_part.entries.empty(); ++w) {
        Packet packet{target_.writers[w], {}};
        if (append_clipped(unit_part, *layout_, w, sections_, file_.definitions.variables,
                           packet.bytes))
            packets.push_back(std::move(packet));
    }
    return packets;
}

Status MergeExchange::write(std::span<const Part> parts, std::int64_t records, bool last) {
    const std::vector<Variable>& variables = file_.definitions.variables;
    std::vector<PackedValues> boxes = boxes_of(parts);
    Status mine;
    if (file_.team.size() == 1) {  // the writer reads the parts themselves
        if (record_writer_) mine = write_own(std::move(boxes));
        return mine.ok() && record_writer_ ? end(records, last) : mine;
    }
    std::int64_t bytes = 0;
    for (const PackedValues& box : boxes) bytes += message_bytes(box, variables);
    std::int64_t all = bytes;
    file_.team.all_reduce({&all, 1}, Reduce::sum);
    // In each round, every rank sends the same fraction of its parts.
    const std::int64_t wanted = all / std::max<std::int64_t>(1, file_.options.staging) + 1;
    const std::int64_t most = wanted == 1 ? bytes : std::max(least_round, bytes / wanted);
    std::vector<std::vector<PackedValues>> rounds;
    Status status;
    std::size_t round = 0;
    for (bool more = true; more; ++round) {
        std::vector<Packet> sent, received;
        const auto prepare = [&] {
            if (round == 0) rounds = cut_to_rounds(std::exchange(boxes, {}), variables, most);
            if (round < rounds.size()) sent = cut(std::move(rounds[round]));
        };
        if (mine.ok()) mine = catch_errors(prepare);
        std::int64_t words[] = {mine.ok() ? 0 : 1, round + 1 < rounds.size() ? 1 : 0};
        file_.team.all_reduce(words, Reduce::max);
        if (words[0] != 0) return file_.team.agree(mine);
        more = words[1] != 0;
        bool have = true;
        received = exchange_by_nodes(file_.team, sent, have);
        const Status moved = file_.team.agree(have ? Status{} : out_of_memory());
        if (!moved.ok()) return moved;
        if (status.ok() && record_writer_) status = catch_errors([&] { return merge(received); });
    }
    return status.ok() && record_writer_ ? end(records, last) : status;
}

/// Writes this writer's share of the parts received from all ranks.
Status MergeExchange::merge(const std::vector<Packet>& received) {
    std::vector<UnitPart> unit_parts;
    for (const Packet& p : received) {
        auto its = parse_message(p.bytes, file_.definitions.variables);
        std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
    }
    std::stable_sort(
        unit_parts.begin(), unit_parts.end(),
        [](const UnitPart& a, const UnitPart& b) { return a.head.rank < b.head.rank; });
    return record_writer_->write(unit_parts);
}

/// Completes records, and with `last` the file.
Status MergeExchange::end(std::int64_t records, bool last) {
    UnitPart unit;
    unit.head.kind = last ? UnitKind::last : UnitKind::fixed;
    unit.head.boxed = true;
    unit.head.records = records;
    return record_writer_->write({&unit, 1});
}

}  // namespace thalweg::detail
