// SPDX-License-Identifier: Apache-2.0
#include "exchange/pieces.hpp"

namespace thalweg::detail {

std::vector<Chunk> chunks_of(const Share& share, const FileSection& whole, Extent piece,
                             const char* from, std::int64_t base, std::int64_t record,
                             std::deque<Box>& boxes) {
    std::vector<Chunk> chunks;
    for (const auto& [place, range] : places_in(share.space(), piece)) {
        const VariableSlot& seen = share.space().places[place];
        const VariableSlot& p = share.own_file() ? seen : whole.places[place];
        std::int64_t at = range.begin;
        auto add = [&](std::int64_t first, std::int64_t elements, const Box* box) {
            Chunk chunk;
            chunk.variable = p.variable;
            chunk.record = record;
            chunk.first = first;
            chunk.elements = elements;
            chunk.offset = base + p.offset + first * p.element;
            chunk.data = from + (seen.offset + at * p.element - piece.begin);
            chunk.bytes = elements * p.element;
            chunk.box = box;
            chunks.push_back(chunk);
            at += elements;
        };
        if (!share.boxed() || share.own_file())
            add(range.begin, range.end - range.begin, nullptr);
        else
            for_boxes_of_range(seen.shape, range.begin, range.end, [&](const Box& part) {
                const Box box = share.placed(place, part);
                if (contiguous(box, p.shape))
                    add(linear(p.shape, box.low), box.volume(), nullptr);
                else
                    add(0, box.volume(), &boxes.emplace_back(box));
            });
        const std::int64_t padding = seen.padded - seen.bytes;
        if (at < seen.bytes / seen.element || padding == 0) continue;
        if (chunks.back().box != nullptr) add(p.bytes / p.element, 0, nullptr);
        chunks.back().bytes += padding;
    }
    return chunks;
}

}  // namespace thalweg::detail
