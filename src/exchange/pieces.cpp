// SPDX-License-Identifier: Apache-2.0
#include "exchange/pieces.hpp"

namespace thalweg::detail {

void add_chunks(const Share& share, const FileSection& whole, Extent part, const char* from,
                std::int64_t base, std::int64_t record, std::deque<Box>& boxes,
                std::vector<Chunk>& chunks) {
    const FileSection& space = share.space();
    for (std::size_t i = space.place_at(part.begin);
         i < space.places.size() && space.places[i].offset < part.end; ++i) {
        const VariableSlot& seen = space.places[i];
        const VariableSlot& p = share.own_file() ? seen : whole.places[i];
        const ElementRange range = elements_in(seen, part);
        std::int64_t at = range.begin;
        auto add = [&](std::int64_t first, std::int64_t elements, const Box* box) {
            Chunk& chunk = chunks.emplace_back();
            chunk.variable = p.variable;
            chunk.record = record;
            chunk.first = first;
            chunk.elements = elements;
            chunk.offset = base + p.offset + first * p.element;
            chunk.data = from + (seen.offset + at * p.element - part.begin);
            chunk.bytes = elements * p.element;
            chunk.box = box;
            at += elements;
        };
        const bool any = range.begin < range.end;
        if (any && (!share.boxed() || share.own_file()))
            add(range.begin, range.end - range.begin, nullptr);
        else if (any)
            for_boxes_of_range(seen.shape, range.begin, range.end, [&](const Box& some) {
                const Box box = share.placed(i, some);
                if (contiguous(box, p.shape))
                    add(linear(p.shape, box.low), box.volume(), nullptr);
                else
                    add(0, box.volume(), &boxes.emplace_back(box));
            });
        const std::int64_t padding = std::min(part.end, seen.offset + seen.padded) -
                                     std::max(part.begin, seen.offset + seen.bytes);
        if (padding <= 0) continue;
        if (!any || chunks.back().box != nullptr) add(p.bytes / p.element, 0, nullptr);
        chunks.back().bytes += padding;
    }
}

}  // namespace thalweg::detail
