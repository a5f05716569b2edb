// SPDX-License-Identifier: Apache-2.0
#include "service/inline/rest_writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace thalweg::detail {

namespace {

/// Method direct fills what no rank holds by this layout, too.
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

void RestWriter::begin(std::int64_t records, std::vector<char> filled) {
    if (!composer_) return;
    composer_->go_on(records, std::move(filled));
    (void)composer_->boxes();
}

Status RestWriter::fill(std::span<const int> variables) {
    if (!composer_) return {};
    Parcel unit;
    unit.head.kind = UnitKind::fill;
    unit.put.assign((file_.definitions.variables.size() + 63) / 64, 0);
    for (const std::size_t v : variables) unit.put[v / 64] |= std::uint64_t(1) << (v % 64);
    return composer_->boxes().fill_fixed(unit);
}

void RestWriter::note_written(int variable, std::int64_t record) {
    if (composer_) composer_->boxes().note_written(variable, record);
}

void RestWriter::note_records(std::int64_t records) {
    if (composer_) composer_->boxes().note_records(records);
}

/// A message to each writer that something belongs to.
std::vector<Packet> RestWriter::cut(std::span<const Part> parts) const {
    Parcel parcel;
    parcel.head.rank = file_.team.rank();
    for (const Part& part : parts)
        for (std::size_t at = 0; at < part.boxes().size(); ++at) {
            Parcel::Entry entry;
            entry.variable = part.variable;
            entry.record = part.record;
            entry.held = part.boxes()[at];
            entry.data =
                part.packed + part.holding->packed_at[at] * file_.variable(part.variable).element();
            parcel.entries.push_back(std::move(entry));
        }
    std::vector<Packet> packets;
    for (std::size_t w = 0; w < target_.writers.size() && !parcel.entries.empty(); ++w) {
        Packet packet{target_.writers[w], {}};
        if (append_clipped(parcel, *layout_, w, spaces_, file_.definitions.variables, packet.bytes))
            packets.push_back(std::move(packet));
    }
    return packets;
}

Status RestWriter::write(std::span<const Part> parts, std::int64_t records, bool last) {
    std::vector<Packet> sent;
    const Status mine = alone([&]() -> Status {
        sent = cut(parts);
        return {};
    });
    if (Status status = file_.team.agree(mine); !status.ok()) return status;
    std::vector<Packet> received;
    Status status = together([&]() -> Status {
        received = exchange_by_nodes(file_.team, sent);
        return {};
    });
    if (!status.ok() || !composer_) return status;
    return alone([&] { return merge(received, records, last); });
}

/// This writer's share of all ranks' parts; then records are complete, and at the end the file.
Status RestWriter::merge(const std::vector<Packet>& received, std::int64_t records, bool last) {
    std::vector<Parcel> parcels;
    for (const Packet& p : received) {
        auto its = parse_message(p.bytes, file_.definitions.variables);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    std::stable_sort(parcels.begin(), parcels.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    BoxComposer& boxes = composer_->boxes();
    Status status = boxes.write(parcels);
    if (status.ok()) status = boxes.end_step(records, true);
    if (!status.ok() || !last) return status;
    Parcel unit;
    unit.head.kind = UnitKind::last;
    return boxes.fill_fixed(unit);
}

}  // namespace thalweg::detail
