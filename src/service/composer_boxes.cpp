// Boxes: what is in the file already stays where no box covers it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/composer.hpp"

namespace thalweg {

Status Composer::write_boxes(std::span<const Parcel> parcels) {
    // Boxes change records that are there already; steps begin where they were told to.
    if (!boxed_) records_ = std::max(records_, existing_.kept);
    boxed_ = true;
    std::map<std::pair<int, std::int64_t>, std::vector<const Parcel::Entry*>> groups;
    for (const Parcel& p : parcels)
        for (const Parcel::Entry& e : p.entries)
            if (e.held.box.volume() > 0) groups[{e.variable, e.record}].push_back(&e);
    for (const auto& [key, boxes] : groups)
        if (Status status = write_planes(key.first, key.second, boxes); !status.ok()) return status;
    return {};
}

/// Runs of planes that some box meets, those that were written before apart from the others.
Status Composer::write_planes(int variable, std::int64_t record,
                              std::span<const Parcel::Entry* const> boxes) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const auto planes = static_cast<std::size_t>(v.shape.empty() ? 1 : v.shape[0]);
    // Of a record that has ended every plane is there, as of what was there before.
    const bool ended = v.record ? record < records_ : existing_.is;
    std::vector<char> all(planes, 1);
    std::vector<char>& touched = ended ? all : touched_[{variable, record}];
    touched.resize(planes, 0);
    std::vector<char> met(planes, 0);
    for (const Parcel::Entry* e : boxes) {
        const Box& box = e->held.box;
        const std::int64_t low = box.nd == 0 ? 0 : box.low[0], n = box.nd == 0 ? 1 : box.count[0];
        std::fill_n(met.begin() + low, n, 1);
    }
    for (std::size_t first = 0; first < planes;) {
        std::size_t last = first + 1;
        while (last < planes && met[last] == met[first] && touched[last] == touched[first]) ++last;
        if (met[first]) {
            Status status = write_rows(variable, record, static_cast<std::int64_t>(first),
                                       static_cast<std::int64_t>(last), !touched[first], boxes);
            if (!status.ok()) return status;
        }
        first = last;
    }
    for (std::size_t i = 0; i < planes; ++i) touched[i] |= met[i];
    return {};
}

/// Planes [first, last) of a variable: fill values or what the file has, then the boxes in their
/// order.
Status Composer::write_rows(int variable, std::int64_t record, std::int64_t first,
                            std::int64_t last, bool fresh,
                            std::span<const Parcel::Entry* const> boxes) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const Space& space = spaces_.of(v.record);
    const std::size_t place = space.place_of(variable);
    const std::int64_t base = spaces_.base(v.record, record);
    const std::int64_t plane =
        v.shape.empty() ? 1 : v.elements() / std::max<std::int64_t>(v.shape[0], 1);
    const Share share = layout_.share(writer_, space, base);
    PieceCursor cursor(share.space(), wanted_of(share, place, {first * plane, last * plane}),
                       piece_);
    for (Extent piece; cursor.next(piece);) {
        buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(piece.size())));
        std::deque<Box> parts;
        const auto chunks = chunks_of(share, space, piece, buffer_.data(), base, record, parts);
        if (fresh) {
            prefill_piece(share.space(), piece, buffer_.data(), fill_,
                          [](std::size_t) { return false; });
        } else {
            for (const Chunk& chunk : chunks) {
                Status status =
                    storage_.read(chunk, buffer_.data() + (chunk.data - buffer_.data()));
                if (!status.ok()) return status;
            }
        }
        const ElementRange range = elements_in(share.space().places[place], piece);
        for (const Parcel::Entry* e : boxes) {
            entries_.assign(1, e);
            HeldBox held = e->held;
            held.block = 0;
            copy_parts(share, piece, place, range, {&held, 1}, buffer_.data());
        }
        if (Status status = storage_.write(chunks); !status.ok()) return status;
        if (between_) between_();
    }
    return {};
}

Status Composer::fill_untouched(int variable, std::int64_t record) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const auto planes = static_cast<std::size_t>(v.shape.empty() ? 1 : v.shape[0]);
    std::vector<char>& touched = touched_[{variable, record}];
    touched.resize(planes, 0);
    for (std::size_t first = 0; first < planes;) {
        std::size_t last = first + 1;
        while (last < planes && touched[last] == touched[first]) ++last;
        if (!touched[first]) {
            Status status = write_rows(variable, record, static_cast<std::int64_t>(first),
                                       static_cast<std::int64_t>(last), true, {});
            if (!status.ok()) return status;
        }
        first = last;
    }
    std::fill(touched.begin(), touched.end(), 1);
    return {};
}

Status Composer::end_boxes(std::int64_t records) {
    for (; records_ < records; ++records_) {
        for (const Place& p : spaces_.record.places) {
            if (Status status = fill_untouched(p.variable, records_); !status.ok()) return status;
            touched_.erase({p.variable, records_});
        }
    }
    return {};
}

Status Composer::fill_fixed() {
    if (existing_.is) return {};
    for (const Place& p : spaces_.fixed.places)
        if (Status status = fill_untouched(p.variable, 0); !status.ok()) return status;
    return {};
}

}  // namespace thalweg
