// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_part.hpp"

#include <cstring>

#include "exchange/copy_runs.hpp"
#include "exchange/dense.hpp"
#include "exchange/parts.hpp"
#include "service/queue/clips.hpp"

namespace thalweg::detail {

namespace {

constexpr std::size_t unit_part_head_words = 13;

std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

UnitPart::Mask combined(std::span<const UnitPart> unit_parts, UnitPart::Mask UnitPart::*mask) {
    UnitPart::Mask all(unit_parts.front().*mask);
    for (const UnitPart& p : unit_parts)
        for (std::size_t i = 0; i < all.size(); ++i) all[i] |= (p.*mask)[i];
    return all;
}

std::vector<std::int64_t> describe_unit_part(const UnitPart& unit_part) {
    const UnitHead& h = unit_part.head;
    std::vector<std::int64_t> words{0,
                                    h.unit,
                                    static_cast<std::int64_t>(h.kind),
                                    h.rank,
                                    h.records,
                                    h.ends | h.given << 1 | h.boxed << 2,
                                    h.variable,
                                    h.begin,
                                    h.end,
                                    h.record,
                                    std::ssize(unit_part.put),
                                    std::ssize(unit_part.whole),
                                    std::ssize(unit_part.entries)};
    words.insert(words.end(), unit_part.put.begin(), unit_part.put.end());
    words.insert(words.end(), unit_part.lacking.begin(), unit_part.lacking.end());
    words.insert(words.end(), unit_part.bare.begin(), unit_part.bare.end());
    words.insert(words.end(), unit_part.with_halo.begin(), unit_part.with_halo.end());
    for (const UnitPart::Whole& t : unit_part.whole) words.insert(words.end(), {t.variable, t.at});
    // A list that several entries share is written once; the entries refer to it by number, from 1.
    std::vector<const Listing*> lists;
    for (const UnitPart::Entry& e : unit_part.entries) {
        const Box& box = e.held.box;
        std::size_t list = 0;
        if (e.held.list) {
            while (list < lists.size() && lists[list] != e.held.list.get()) ++list;
            if (list == lists.size()) lists.push_back(e.held.list.get());
            ++list;
        }
        words.insert(words.end(),
                     {e.variable, e.record, box.nd, e.at, static_cast<std::int64_t>(list)});
        words.insert(words.end(), box.low.begin(), box.low.begin() + box.nd);
        words.insert(words.end(), box.count.begin(), box.count.begin() + box.nd);
    }
    words.push_back(lists.size());
    for (const Listing* listing : lists) append_listing(words, *listing);
    words[0] = words.size();
    return words;
}

UnitHead head_of(const std::int64_t* words) {
    UnitHead head;
    head.unit = words[1];
    head.kind = static_cast<UnitKind>(words[2]);
    head.rank = words[3];
    head.records = words[4];
    head.ends = (words[5] & 1) != 0;
    head.given = (words[5] & 2) != 0;
    head.boxed = (words[5] & 4) != 0;
    head.variable = words[6];
    head.begin = words[7];
    head.end = words[8];
    head.record = words[9];
    return head;
}

UnitPart parse_unit_part(const std::int64_t* words, const char* base,
                         std::span<const Variable> variables, const PackedBoxes& holdings) {
    UnitPart p;
    p.head = head_of(words);
    const std::int64_t masks = words[10], whole = words[11], entries = words[12];
    const std::int64_t* at = words + unit_part_head_words;
    for (auto* mask : {&p.put, &p.lacking, &p.bare, &p.with_halo}) {
        mask->assign(at, at + masks);
        at += masks;
    }
    for (std::int64_t t = 0; t < whole; ++t, at += 2)
        p.whole.push_back({static_cast<int>(at[0]), at[1]});
    p.entries.resize(entries);
    std::vector<std::int64_t> list_of;
    for (UnitPart::Entry& e : p.entries) {
        e.variable = at[0];
        e.record = at[1];
        Box box;
        box.nd = at[2];
        e.at = at[3];
        list_of.push_back(at[4]);
        at += 5;
        std::copy_n(at, box.nd, box.low.begin());
        std::copy_n(at + box.nd, box.nd, box.count.begin());
        at += 2 * box.nd;
        e.held = held_box(box, variables[e.variable].shape);
    }
    std::vector<std::shared_ptr<const Listing>> lists(*at++);
    for (std::size_t l = 0; l < lists.size(); ++l) {
        std::size_t first = 0;
        while (list_of[first] != static_cast<std::int64_t>(l) + 1) ++first;
        const std::size_t variable = p.entries[first].variable;
        lists[l] = parse_listing(at, variables[variable].shape);
    }
    for (std::size_t i = 0; i < p.entries.size(); ++i)
        if (list_of[i] > 0)
            p.entries[i].held.list = lists[static_cast<std::size_t>(list_of[i]) - 1];
    return with_data(std::move(p), base, variables, holdings);
}

UnitPart with_data(UnitPart p, const char* base, std::span<const Variable> variables,
                   const PackedBoxes& holdings) {
    for (const UnitPart::Whole& whole : p.whole) {
        const Variable& v = variables[whole.variable];
        std::int64_t at = whole.at;
        const auto add = [&](const HeldBox& held) {
            UnitPart::Entry entry;
            entry.variable = whole.variable;
            entry.record = v.record ? p.head.record : 0;
            entry.held = held;
            entry.at = at;
            at += elements_of(held) * v.element();
            p.entries.push_back(std::move(entry));
        };
        const std::span<const HeldBox> all = holdings.of(whole.variable);
        if (p.head.kind == UnitKind::part)
            for (const HeldBox& held : held_of_range(all, v.shape, {p.head.begin, p.head.end}))
                add(held);
        else
            for (const HeldBox& held : all) add(held);
    }
    p.whole.clear();
    for (UnitPart::Entry& e : p.entries) e.data = base + e.at;
    return p;
}

UnitPart without_data(const UnitPart& unit_part) {
    UnitPart left;
    left.head = unit_part.head;
    left.put = unit_part.put;
    left.lacking = unit_part.lacking;
    left.bare = unit_part.bare;
    left.with_halo = unit_part.with_halo;
    return left;
}

bool append_clipped(const UnitPart& unit_part, const Layout& layout, int writer,
                    const Spaces& spaces, std::span<const Variable> variables,
                    std::vector<char>& message) {
    UnitPart clipped = without_data(unit_part);
    std::vector<char> data;
    std::int64_t most = 0;
    for (const UnitPart::Entry& e : unit_part.entries)
        most += rounded(elements_of(e.held, e.within != nullptr ? *e.within : e.held.box) *
                        variables[e.variable].element());
    data.reserve(most);
    Clips clips;
    for (const UnitPart::Entry& e : unit_part.entries) {
        const Variable& v = variables[e.variable];
        const Space& space = spaces.of(v.record);
        const std::int64_t base = spaces.base(v.record, e.record);
        const std::size_t place = space.place_of(e.variable);
        const Share share = layout.share(writer, space, base);
        const Place& p = share.space().places[place];
        const auto size = p.element;
        const Index from_stride = dense_strides(e.held, size);
        const RowKernel kernel = move_kernel(size);
        for (const Extent& extent : share.extents()) {
            const ElementRange range = elements_in(p, extent);
            if (range.begin >= range.end) continue;
            for_frames(share, place, range, {&e.held, 1}, [&](const HeldBox& held, Box box) {
                if (e.within != nullptr && !intersect(Box(box), *e.within, box)) return;
                if (!has_any(held, box)) return;
                UnitPart::Entry entry;
                entry.variable = e.variable;
                entry.record = e.record;
                entry.held = held_box(box, v.shape);
                if (held.list) entry.held.list = clips.of(held.list, box);
                entry.at = rounded(data.size());
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
    const std::vector<std::int64_t> words = describe_unit_part(clipped);
    const auto length = static_cast<std::int64_t>(words.size() * 8) + rounded(data.size());
    const auto start = message.size();
    message.resize(start + 8 + length);
    std::memcpy(message.data() + start, &length, 8);
    std::memcpy(message.data() + start + 8, words.data(), words.size() * 8);
    if (!data.empty())
        std::memcpy(message.data() + start + 8 + words.size() * 8, data.data(), data.size());
    return !clipped.entries.empty();
}

std::vector<UnitPart> parse_message(std::span<const char> message,
                                    std::span<const Variable> variables) {
    std::vector<UnitPart> unit_parts;
    const PackedBoxes none;
    for (std::size_t at = 0; at < message.size();) {
        std::int64_t length, n;
        std::memcpy(&length, message.data() + at, 8);
        std::memcpy(&n, message.data() + at + 8, 8);
        std::vector<std::int64_t> words(n);
        std::memcpy(words.data(), message.data() + at + 8, words.size() * 8);
        unit_parts.push_back(parse_unit_part(
            words.data(), message.data() + at + 8 + words.size() * 8, variables, none));
        at += 8 + static_cast<std::size_t>(length);
    }
    return unit_parts;
}

}  // namespace thalweg::detail
