// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_part.hpp"

#include <algorithm>
#include <cstring>

#include "base/wire.hpp"
#include "exchange/pack/copy_runs.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/pieces.hpp"

namespace thalweg::detail {

template <class Wire>
void carry(Wire& wire, Carried<Wire, UnitHead> head) {
    wire(head.bytes, head.unit, head.kind, head.rank, head.record, head.records, head.boxed,
         head.given);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, PackedValues> entry) {
    auto& box = entry.held.box;
    wire(entry.variable, entry.record, entry.at, box.nd);
    for (int d = 0; d < box.nd; ++d) wire(box.low[d], box.count[d]);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, UnitPart> part) {
    wire(part.head, part.put, part.lacking, part.bare, part.with_halo, part.whole, part.entries);
}

namespace {

std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

UnitPart::Mask combined(std::span<const UnitPart> unit_parts, UnitPart::Mask UnitPart::*mask) {
    UnitPart::Mask all(unit_parts.front().*mask);
    for (const UnitPart& p : unit_parts)
        for (std::size_t i = 0; i < all.size(); ++i) all[i] |= (p.*mask)[i];
    return all;
}

std::vector<char> describe_unit_part(const UnitPart& unit_part) {
    // A list that several entries share is written once; the entries refer to it by number, from 1.
    std::vector<const Listing*> lists;
    std::vector<int> list_of;
    std::vector<std::int64_t> words;
    for (const PackedValues& e : unit_part.entries) {
        const auto known = std::find(lists.begin(), lists.end(), e.held.list.get());
        list_of.push_back(e.held.list ? static_cast<int>(known - lists.begin()) + 1 : 0);
        if (!e.held.list || known != lists.end()) continue;
        lists.push_back(e.held.list.get());
        append_listing(words, *e.held.list);
    }
    std::vector<char> descriptor = message_of(unit_part, list_of, words);
    // The data that follow in a message are aligned.
    const std::int64_t bytes = rounded(std::ssize(descriptor));
    descriptor.resize(bytes);
    std::memcpy(descriptor.data(), &bytes, sizeof bytes);
    return descriptor;
}

UnitHead head_of(const char* descriptor) {
    return value_in<UnitHead>({descriptor, sizeof(UnitHead)});
}

UnitPart parse_unit_part(const char* descriptor, const char* base,
                         std::span<const Variable> variables, const PackedBoxes& holdings,
                         const char* copies) {
    UnitPart p;
    std::vector<int> list_of;
    std::vector<std::int64_t> words;
    WireReader in({descriptor, static_cast<std::size_t>(head_of(descriptor).bytes)});
    in(p, list_of, words);
    std::vector<std::shared_ptr<const Listing>> lists{nullptr};
    const std::int64_t* at = words.data();
    for (std::size_t i = 0; i < p.entries.size(); ++i) {
        PackedValues& e = p.entries[i];
        const std::vector<std::int64_t>& shape = variables[e.variable].shape;
        const std::size_t list = list_of[i];
        if (list == lists.size()) lists.push_back(parse_listing(at, shape));
        e.held = held_box(e.held.box, shape);
        e.held.list = lists[list];
    }
    return with_data(std::move(p), base, variables, holdings, copies);
}

UnitPart with_data(UnitPart p, const char* base, std::span<const Variable> variables,
                   const PackedBoxes& holdings, const char* copies) {
    for (int i = 0; i < std::ssize(p.whole); ++i) {
        std::int64_t at = p.whole[i];
        if (at < 0) continue;
        const Variable& v = variables[i];
        for (const HeldBox& held : holdings.of(i)) {
            p.entries.push_back({i, v.record ? p.head.record : 0, held, at});
            at += elements_of(held) * v.element();
        }
    }
    p.whole.clear();
    for (PackedValues& e : p.entries) e.data = e.at < 0 ? copies + ~e.at : base + e.at;
    return p;
}

bool append_clipped(const UnitPart& unit_part, const Layout& layout, int writer,
                    const FileSections& sections, std::span<const Variable> variables,
                    std::vector<char>& message) {
    UnitPart clipped;
    clipped.head = unit_part.head;
    clipped.put = unit_part.put;
    clipped.lacking = unit_part.lacking;
    clipped.bare = unit_part.bare;
    clipped.with_halo = unit_part.with_halo;
    std::vector<char> data;
    std::int64_t most = 0;
    for (const PackedValues& e : unit_part.entries)
        most += rounded(elements_of(e.held, e.within.value_or(e.held.box)) *
                        variables[e.variable].element());
    data.reserve(most);
    Clips clips;
    for (const PackedValues& e : unit_part.entries) {
        const Variable& v = variables[e.variable];
        const FileSection& space = sections.of(v.record);
        const std::int64_t base = sections.base(v.record, e.record);
        const std::size_t place = space.place_of(e.variable);
        const Share share = layout.share(writer, space, base);
        const VariableSlot& p = share.space().places[place];
        const auto size = p.element;
        const Index from_stride = dense_strides(e.held, size);
        const RowKernel kernel = move_kernel(size);
        for (const Extent& extent : share.extents()) {
            const ElementRange range = elements_in(p, extent);
            if (range.begin >= range.end) continue;
            for_frames(share, place, range, {&e.held, 1}, [&](const HeldBox& held, Box box) {
                if (e.within && !intersect(Box(box), *e.within, box)) return;
                if (!has_any(held, box)) return;
                PackedValues entry{e.variable, e.record, held_box(box, v.shape),
                                   rounded(data.size())};
                if (held.list) entry.held.list = clips.of(held.list, box);
                data.resize(entry.at + elements_of(entry.held) * size);
                const Index stride = dense_strides(entry.held, size);
                char* const to = data.data() + entry.at;
                const char* const from = e.data + offset_in(held, box, from_stride);
                copy_held(held, box, {RunOrder::dense, to, stride},
                          {RunOrder::positions, from, from_stride}, kernel, nullptr);
                clipped.entries.push_back(std::move(entry));
            });
        }
    }
    const std::vector<char> descriptor = describe_unit_part(clipped);
    data.resize(rounded(data.size()));
    const auto length = static_cast<std::int64_t>(descriptor.size() + data.size());
    const auto* const first = reinterpret_cast<const char*>(&length);
    message.insert(message.end(), first, first + sizeof length);
    message.insert(message.end(), descriptor.begin(), descriptor.end());
    message.insert(message.end(), data.begin(), data.end());
    return !clipped.entries.empty();
}

std::vector<UnitPart> parse_message(std::span<const char> message,
                                    std::span<const Variable> variables) {
    std::vector<UnitPart> unit_parts;
    const PackedBoxes none;
    for (std::size_t at = 0; at < message.size();) {
        std::int64_t length;
        std::memcpy(&length, message.data() + at, sizeof length);
        const char* const descriptor = message.data() + at + sizeof length;
        unit_parts.push_back(
            parse_unit_part(descriptor, descriptor + head_of(descriptor).bytes, variables, none));
        at += sizeof length + static_cast<std::size_t>(length);
    }
    return unit_parts;
}

}  // namespace thalweg::detail
