// SPDX-License-Identifier: Apache-2.0
#include "exchange/held_words.hpp"

#include "exchange/pieces.hpp"

namespace thalweg::detail {

void append_held(std::vector<std::int64_t>& words, const HeldBox& held) {
    const Box& box = held.box;
    words.insert(words.end(), box.low.begin(), box.low.begin() + box.nd);
    words.insert(words.end(), box.count.begin(), box.count.begin() + box.nd);
    words.push_back(held.list ? 1 : 0);
    if (held.list) append_listing(words, *held.list);
}

void append_boxes(std::vector<std::int64_t>& words, std::int64_t number,
                  std::span<const HeldBox> boxes) {
    words.push_back(number);
    words.push_back(boxes.size());
    for (const HeldBox& held : boxes) append_held(words, held);
}

HeldBox parse_held(const std::int64_t*& at, std::span<const std::int64_t> shape) {
    Box box;
    box.nd = shape.size();
    std::copy_n(at, box.nd, box.low.begin());
    std::copy_n(at + box.nd, box.nd, box.count.begin());
    at += 2 * box.nd;
    HeldBox held = held_box(box, shape);
    if (*at++ != 0) held.list = parse_listing(at, shape);
    return held;
}

void append_listing(std::vector<std::int64_t>& words, const Listing& listing) {
    words.push_back(listing.dims.size());
    words.insert(words.end(), listing.dims.begin(), listing.dims.end());
    append_runs(words, listing.list->runs);
}

std::shared_ptr<const Listing> parse_listing(const std::int64_t*& at,
                                             std::span<const std::int64_t> shape) {
    auto listing = std::make_shared<Listing>();
    for (std::int64_t n = *at++; n > 0; --n) {
        listing->dims.push_back(*at++);
        listing->shape.push_back(shape[listing->dims.back()]);
    }
    auto list = std::make_shared<IndexList>();
    at = parse_runs(at, *list);
    listing->list = std::move(list);
    return listing;
}

void add_frames(const Share& share, std::size_t place, const HeldBox& held,
                std::vector<Box>& frames) {
    const auto known = [&](const Box& box) {
        return std::any_of(frames.begin(), frames.end(), [&](const Box& frame) {
            bool same = true;
            for (int d = 0; d < box.nd; ++d)
                same &= (held.list && !held.list->covers(d)) ||
                        (frame.low[d] == box.low[d] && frame.count[d] == box.count[d]);
            return same;
        });
    };
    for (const Extent& extent : share.extents()) {
        const ElementRange range = elements_in(share.space().places[place], extent);
        if (range.begin >= range.end) continue;
        for_frames(share, place, range, {&held, 1}, [&](const HeldBox& h, const Box& common) {
            if (has_any(h, common) && !known(common)) frames.push_back(common);
        });
    }
}

HeldBox held_near(const HeldBox& held, std::span<const Box> frames) {
    if (!held.list) return held;
    for (const Box& frame : frames) {
        bool all = true;
        for (const int d : held.list->dims) all &= frame.count[d] == held.box.count[d];
        if (all) return held;
    }
    HeldBox near = held;
    near.list = held.list->touching(frames);
    return near;
}

}  // namespace thalweg::detail
