// SPDX-License-Identifier: Apache-2.0
#include "service/queue/share_writer.hpp"

#include "exchange/copy_runs.hpp"
#include "exchange/delivery.hpp"
#include "exchange/dense.hpp"

namespace thalweg::detail {

ShareWriter::ShareWriter(const Definitions& definitions, const Spaces& spaces, const Layout& layout,
                         int writer, Storage& storage, std::int64_t piece, BetweenPieces* pause)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(layout),
      writer_(writer),
      storage_(storage),
      piece_(piece),
      pause_(pause) {
    for (const Variable& v : definitions.variables) fill_.push_back(v.fill_value(storage.order()));
}

void ShareWriter::copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
                       std::span<const HeldBox> held,
                       std::span<const UnitPart::Entry* const> entries, char* to) const {
    const Place& p = share.space().places[place];
    const Index to_stride = byte_strides(p);
    const RowKernel kernel = move_kernel(p.element);
    for_frames(share, place, range, held, [&](const HeldBox& h, const Box& part) {
        const UnitPart::Entry& entry = *entries[h.block];
        const Index stride = dense_strides(h, p.element);
        const char* const from = entry.data + offset_in(h, part, stride);
        char* const into =
            to + (p.offset + share.position(place, part.low) * p.element - piece.begin);
        copy_held(h, part, {RunOrder::indices, into, to_stride},
                  {RunOrder::positions, from, stride}, kernel, nullptr);
    });
}

}  // namespace thalweg::detail
