// SPDX-License-Identifier: Apache-2.0
#include "exchange/direct.hpp"

#include <algorithm>

#include "comm/clock.hpp"
#include "comm/waiting.hpp"
#include "exchange/copy.hpp"

namespace thalweg {

Direct::Direct(Team& team, Packers& packers, const Definitions& definitions, Order order,
               std::int64_t budget)
    : team_(team), packers_(packers), definitions_(definitions), order_(order), budget_(budget) {
    for (const Variable& v : definitions.variables)
        held_.push_back(in_file_order(v.decomposition->blocks, v.order, v.shape));
}

std::vector<Direct::Part> Direct::cut(const Space& space, std::span<const Action> actions,
                                      std::span<const ArrayView* const> arrays) const {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        if (actions[i] != Action::data || arrays[i] == nullptr) continue;
        const Place& p = space.places[i];
        for (const HeldBox& held : held_[static_cast<std::size_t>(p.variable)]) {
            // Halve along the slowest dimension until it fits.
            std::vector<Box> todo{held.box};
            while (!todo.empty()) {
                Box box = todo.back();
                todo.pop_back();
                const std::int64_t bytes = box.volume() * p.element;
                if (bytes > budget_ && box.volume() > 1) {
                    todo.push_back(halve(box));
                    todo.push_back(box);
                } else {
                    parts.push_back({i, held.block, box, held.box, bytes});
                }
            }
        }
    }
    return parts;
}

Status Direct::run(const Space& space, std::int64_t base, std::int64_t record,
                   std::span<const Action> actions, std::span<const ArrayView* const> arrays,
                   Storage& storage, std::span<std::int64_t> misfits) {
    const std::vector<Part> parts = cut(space, actions, arrays);
    std::vector<std::size_t> rounds{0};  // first part of each round, and the end
    for (std::size_t i = 0, bytes = 0; i < parts.size(); ++i) {
        const auto n = static_cast<std::size_t>(parts[i].bytes);
        if (bytes > 0 && bytes + n > static_cast<std::size_t>(budget_)) {
            rounds.push_back(i);
            bytes = 0;
        }
        bytes += n;
    }
    if (!parts.empty()) rounds.push_back(parts.size());
    auto number = static_cast<std::int64_t>(rounds.size()) - 1;
    if (storage.collective()) team_.all_reduce({&number, 1}, Reduce::max);

    Status status;
    for (std::int64_t r = 0; r < number; ++r) {
        std::vector<Chunk> chunks;
        const auto at = static_cast<std::size_t>(r);
        if (at + 1 < rounds.size()) {
            Stopwatch watch(pack_seconds_);
            std::size_t total = 0;
            for (std::size_t i = rounds[at]; i < rounds[at + 1]; ++i)
                total += static_cast<std::size_t>(parts[i].bytes);
            if (!buffer_ || buffer_->size() < total) buffer_ = make_private_memory(total);
            // The other ranks still wait for a rank that has no memory.
            if (!buffer_ && status.ok())
                status = failure(TW_ENOMEM, "no memory for {} bytes", total);
            char* to = buffer_ ? buffer_->data() : nullptr;
            for (std::size_t i = rounds[at]; i < rounds[at + 1] && buffer_; ++i) {
                const Part& part = parts[i];
                const Place& p = space.places[part.place];
                const auto variable = static_cast<std::size_t>(p.variable);
                const Variable& v = definitions_.variables[variable];
                const ArrayView& array = *arrays[part.place];
                Strided from = locate(*v.decomposition, v.order, part.block, array);
                Index stride = strides_of(
                    std::span(part.box.count.data(), static_cast<std::size_t>(part.box.nd)));
                for (int d = 0; d < part.box.nd; ++d) {
                    from.base += (part.box.low[d] - part.whole.low[d]) * from.stride[d];
                    stride[d] *= p.element;
                }
                char fill[8];
                v.fill_value(fill);
                if (order_ == Order::big_endian) to_big_endian(v.type, fill);
                misfits[variable] +=
                    packers_.copy_box(part.box.nd, part.box.count, to, stride, from.base,
                                      from.stride, pack_kernel(array.type, v.type, order_), fill);
                Chunk chunk;
                chunk.variable = p.variable;
                chunk.record = record;
                chunk.elements = part.box.volume();
                chunk.offset = base + p.offset;
                chunk.data = to;
                chunk.bytes = part.bytes;
                chunk.box = &part.box;
                chunks.push_back(chunk);
                to += part.bytes;
            }
        }
        if (!storage.collective() && !status.ok()) break;
        const Waiting system("the file system");
        Status written = storage.write(chunks);
        if (status.ok()) status = std::move(written);
    }
    if (storage.collective() || team_.rank() != 0 || !status.ok()) return status;

    // The padding behind odd-sized variables belongs to no box.
    for (std::size_t i = 0; i < space.places.size() && status.ok(); ++i) {
        const Place& p = space.places[i];
        if (actions[i] != Action::data || p.padded == p.bytes) continue;
        const Variable& v = definitions_.variables[static_cast<std::size_t>(p.variable)];
        char fill[8], padding[8];
        v.fill_value(fill);
        to_big_endian(v.type, fill);
        for (std::int64_t b = 0; b < p.padded - p.bytes; ++b) padding[b] = fill[b % p.element];
        Chunk chunk;
        chunk.variable = p.variable;
        chunk.record = record;
        chunk.offset = base + p.offset + p.bytes;
        chunk.data = padding;
        chunk.bytes = p.padded - p.bytes;
        status = storage.write({&chunk, 1});
    }
    return status;
}

}  // namespace thalweg
