// SPDX-License-Identifier: Apache-2.0
#include "service/queue/composer.hpp"

#include <algorithm>

#include "comm/trace.hpp"
#include "exchange/copy_runs.hpp"
#include "exchange/dense.hpp"

namespace thalweg::detail {

Composer::Composer(const Definitions& definitions, const Spaces& spaces, const Layout& layout,
                   int writer, Storage& storage, std::int64_t piece, BetweenPieces* pause,
                   Existing existing)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(layout),
      writer_(writer),
      storage_(storage),
      piece_(piece),
      pause_(pause),
      existing_(existing),
      filled_(definitions.variables.size(), existing.is),
      parted_(definitions.variables.size(), 0),
      records_(existing.first) {
    for (const Variable& v : definitions.variables) fill_.push_back(v.fill_value(storage.order()));
}

/// Sorts the parcels' boxes by variable and position, and remembers who put what.
void Composer::collect(std::span<const Parcel> parcels) {
    put_.assign((definitions_.variables.size() + 63) / 64, 0);
    entries_.clear();
    held_.assign(definitions_.variables.size(), {});
    for (const Parcel& p : parcels) {
        for (std::size_t i = 0; i < put_.size() && i < p.put.size(); ++i) put_[i] |= p.put[i];
        for (const Parcel::Entry& e : p.entries) {
            HeldBox held = e.held;
            held.block = entries_.size();
            entries_.push_back(&e);
            held_[e.variable].push_back(held);
        }
    }
    for (auto& held : held_)
        std::sort(held.begin(), held.end(),
                  [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
}

bool Composer::was_put(int variable) const {
    const std::size_t v = variable;
    return (static_cast<std::uint64_t>(put_[v / 64]) >> (v % 64)) & 1;
}

Status Composer::write(std::span<const Parcel> parcels) {
    if (parcels.empty()) return {};
    switch (parcels.front().head.kind) {
        case UnitKind::step: return write_step(parcels);
        case UnitKind::fixed: return write_fixed(parcels, false);
        case UnitKind::last: return write_fixed(parcels, true);
        case UnitKind::part: return write_part(parcels);
        case UnitKind::boxes: break;
    }
    return write_boxes(parcels);
}

void Composer::go_on(std::int64_t records, std::vector<char> filled, std::vector<char> written) {
    records_ = records;
    filled_ = std::move(filled);
    parted_ = std::move(written);
}

Status Composer::write_step(std::span<const Parcel> parcels) {
    Status status = write_fixed(parcels, false);
    if (!status.ok() || spaces_.record.places.empty()) return status;
    std::vector<Action> actions;
    for (const Place& p : spaces_.record.places)
        actions.push_back(was_put(p.variable)        ? Action::data
                          : parted_[p.variable] != 0 ? Action::skip
                                                     : Action::fill);
    std::vector<char> wanted;
    for (Action a : actions) wanted.push_back(a != Action::skip);
    const Share share = layout_.share(writer_, spaces_.record, spaces_.base(true, records_));
    status = pass(spaces_.record, true, records_, actions, share, wanted_of(share, wanted));
    for (const Place& p : spaces_.record.places) parted_[p.variable] = 0;
    ++records_;
    return status;
}

Status Composer::write_fixed(std::span<const Parcel> parcels, bool last) {
    collect(parcels);
    std::vector<Action> actions;
    std::vector<char> wanted;
    for (const Place& p : spaces_.fixed.places) {
        const std::size_t v = p.variable;
        actions.push_back(was_put(p.variable)   ? Action::data
                          : last && !filled_[v] ? Action::fill
                                                : Action::skip);
        wanted.push_back(actions.back() != Action::skip);
        if (wanted.back()) filled_[v] = 1;
    }
    const Share share = layout_.share(writer_, spaces_.fixed, spaces_.fixed_base);
    return pass(spaces_.fixed, false, 0, actions, share, wanted_of(share, wanted));
}

Status Composer::write_part(std::span<const Parcel> parcels) {
    collect(parcels);
    const UnitHead& head = parcels.front().head;
    const std::size_t v = head.variable;
    const bool records = definitions_.variables[v].record;
    const Space& space = spaces_.of(records);
    const std::size_t at = space.place_of(head.variable);
    std::vector<Action> actions(space.places.size(), Action::skip);
    actions[at] = Action::data;
    (records ? parted_ : filled_)[v] = 1;
    const std::int64_t record = records ? records_ : 0;
    const Share share = layout_.share(writer_, space, spaces_.base(records, record));
    return pass(space, records, record, actions, share,
                wanted_of(share, at, {head.begin, head.end}));
}

void Composer::copy_parts(const Share& share, Extent piece, std::size_t place, ElementRange range,
                          std::span<const HeldBox> held, char* to) {
    const Place& p = share.space().places[place];
    Index to_stride = strides_of(p.shape);
    for (std::size_t d = 0; d < p.shape.size(); ++d) to_stride[d] *= p.element;
    const RowKernel kernel = move_kernel(p.element);
    for_frames(share, place, range, held, [&](const HeldBox& h, const Box& part) {
        const Parcel::Entry& entry = *entries_[h.block];
        const Index stride = dense_strides(h, p.element);
        const char* const from = entry.data + offset_in(h, part, stride);
        char* const into =
            to + (p.offset + share.position(place, part.low) * p.element - piece.begin);
        if (!h.list) {
            copy_box(part.nd, part.count, into, to_stride, from, stride, kernel, nullptr);
            return;
        }
        copy_runs(*h.list, part, {RunOrder::indices, into, to_stride},
                  {RunOrder::positions, from, stride}, kernel, nullptr);
    });
}

/// A piece, into the buffer.
void Composer::pack(const Space& space, std::int64_t record, std::span<const Action> actions,
                    const Share& share, Extent piece) {
    Span span("pack");
    span.record(record).bytes(piece.size());
    prefill_piece(share.space(), piece, buffer_.data(), fill_, [&](std::size_t place) {
        const std::size_t v = space.places[place].variable;
        return actions[place] == Action::data && definitions_.variables[v].decomposition->whole;
    });
    for_places(share.space(), piece, [&](std::size_t place, ElementRange range) {
        if (actions[place] != Action::data) return;
        const std::size_t v = space.places[place].variable;
        copy_parts(share, piece, place, range, held_[v], buffer_.data());
    });
}

/// The wanted bytes of this writer's share of a space.
Status Composer::pass(const Space& space, bool records, std::int64_t record,
                      std::span<const Action> actions, const Share& share,
                      std::vector<Extent> wanted) {
    const std::int64_t base = spaces_.base(records, record);
    PieceCursor cursor(share.space(), std::move(wanted), piece_);
    for (Extent piece; cursor.next(piece);) {
        buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(piece.size())));
        pack(space, records ? record : -1, actions, share, piece);
        std::deque<Box> boxes;
        const auto chunks = chunks_of(share, space, piece, buffer_.data(), base, record, boxes);
        if (Status status = storage_.write(chunks); !status.ok()) return status;
        if (pause_ != nullptr) pause_->between_pieces();
    }
    return {};
}

}  // namespace thalweg::detail
