// SPDX-License-Identifier: Apache-2.0
#include "service/inline/box_writer.hpp"

#include <algorithm>
#include <vector>

#include "definitions/fill.hpp"
#include "exchange/pack.hpp"

namespace thalweg::detail {

namespace {

/// Calls visit(slab) for slabs of a box with at most `limit` elements, in file order, until a call
/// fails.
template <class Visit>
Status for_slabs(Box box, std::int64_t limit, Visit& visit) {
    int d = 0;
    while (d < box.nd && box.count[d] == 1) ++d;
    if (box.volume() <= limit || d == box.nd) return visit(box);
    const std::int64_t all = box.count[d], inner = box.volume() / all;
    const std::int64_t rows = std::max<std::int64_t>(1, limit / inner);
    for (std::int64_t done = 0; done < all; done += rows) {
        Box slab = box;
        slab.low[d] += done;
        slab.count[d] = std::min(rows, all - done);
        if (Status s = for_slabs(slab, limit, visit); !s.ok()) return s;
    }
    return {};
}

}  // namespace

bool can_write_box(const FileContext& file, const Target& target, const Part& part) {
    const std::optional<VariableStorage> stored = target.storage->stored(part.variable);
    return target.storage->traits().opens_alone && !target.storage->collective() &&
           (!stored || stored->chunk.empty()) && !file.options.checksums && !file.several_files() &&
           !file.existing.is && stays_hole(file.variable(part.variable)) &&
           part.boxes().size() == 1 && part.boxes().front().list == nullptr;
}

Status write_box(FileContext& file, Target& target, const Part& part, std::int64_t& misfits) {
    constexpr std::int64_t piece = 1 << 20;
    const Variable& v = file.variable(part.variable);
    const Box& box = part.boxes().front().box;
    const std::int64_t limit = std::max<std::int64_t>(1, piece / v.element());
    std::vector<char> packed(std::min(limit, box.volume()) * v.element());
    const auto write = [&](const Box& slab) -> Status {
        misfits += pack(file.packers, v, target.order, part, 0, slab, packed.data());
        Chunk chunk;
        chunk.variable = part.variable;
        chunk.elements = slab.volume();
        chunk.offset = target.map.offset[part.variable];
        chunk.data = packed.data();
        chunk.bytes = slab.volume() * v.element();
        chunk.box = &slab;
        return target.storage->write({&chunk, 1});
    };
    return for_slabs(box, limit, write);
}

}  // namespace thalweg::detail
