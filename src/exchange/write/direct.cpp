// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/direct.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "exchange/pack/pack.hpp"

namespace thalweg::detail {

namespace {

/// Largest number of boxes in a round, since their descriptions take memory as well.
constexpr std::size_t most_boxes = 65536;

}  // namespace

/// A box that is written in one call: a piece of a held box, or of a run of a list.
struct Direct::Piece {
    std::size_t at;  ///< index of the held box
    Box box;
};

/// Boxes that are written together.
struct Direct::Round {
    std::int64_t base, record;
    /// Values may be written from where they lie. PnetCDF, the storage that is collective, may swap
    /// the bytes of what it is given, so it gets copies.
    bool from_place = false;
    std::vector<Chunk> chunks{};
    std::deque<Box> boxes{};
    std::int64_t bytes = 0;
    std::size_t number = 0;  ///< number of boxes in the round
    Status status{};

    void clear() {
        chunks.clear();
        boxes.clear();
        bytes = 0;
        number = 0;
    }
};

Direct::Direct(Team& team, Packers& packers, const Definitions& definitions, Order order,
               std::int64_t budget)
    : team_(team), packers_(packers), definitions_(definitions), order_(order), budget_(budget) {}

/// Calls visit(place number, piece) for this rank's boxes, cut to pieces that fit the buffer.
template <class Visit>
void Direct::for_boxes(const FileSection& space, std::span<const Action> actions,
                       std::span<const Part* const> parts, Visit&& visit) const {
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        if (actions[i] != Action::data || parts[i] == nullptr) continue;
        const VariableSlot& p = space.places[i];
        const std::span<const HeldBox> boxes = parts[i]->boxes();
        for (std::size_t at = 0; at < boxes.size(); ++at)
            for_runs(boxes[at], boxes[at].box, [&](const HeldBox&, const Box& whole) {
                // Halve along the slowest dimension until it fits.
                std::vector<Box> todo{whole};
                while (!todo.empty()) {
                    Box box = todo.back();
                    todo.pop_back();
                    if (box.volume() * p.element > budget_ && box.volume() > 1) {
                        todo.push_back(halve(box));
                        todo.push_back(box);
                    } else {
                        visit(i, Piece{at, box});
                    }
                }
            });
    }
}

bool Direct::fits(const Round& round, std::int64_t bytes) const {
    return round.number == 0 || (round.bytes + bytes <= budget_ && round.number < most_boxes);
}

void Direct::pack(Round& round, const VariableSlot& p, const Part& part, const Piece& piece,
                  std::span<std::int64_t> misfits) {
    const Box& box = piece.box;
    const std::int64_t bytes = box.volume() * p.element;
    const Variable& v = definitions_.variables[p.variable];
    const char* data = round.from_place ? find_packed(v, order_, part, piece.at, box) : nullptr;
    if (data == nullptr) {
        if (!buffer_ || std::cmp_less(buffer_->size(), bytes))
            buffer_ = make_private_memory(std::max(bytes, budget_));
        if (!buffer_) {  // without memory, this rank still takes part: other ranks wait for it
            round.status = failure(TW_ENOMEM, "cannot allocate {} bytes", std::max(bytes, budget_));
            return;
        }
        Stopwatch watch(pack_seconds_);
        char* const to = buffer_->data() + round.bytes;
        Span span("pack");
        span.variable(v.name).record(v.record ? round.record : -1).bytes(bytes);
        misfits[p.variable] += detail::pack(packers_, v, order_, part, piece.at, box, to);
        data = to;
    }
    round.chunks.push_back({.variable = p.variable,
                            .record = round.record,
                            .elements = box.volume(),
                            .offset = round.base + p.offset,
                            .data = data,
                            .bytes = bytes,
                            .box = &round.boxes.emplace_back(box)});
}

Status Direct::write(Round& round, Storage& storage) {
    if (!storage.collective() && !round.status.ok()) return round.status;
    const Waiting system(the_file_system);
    Status written = catch_errors([&] { return storage.write(round.chunks); });
    round.clear();
    if (round.status.ok()) round.status = std::move(written);
    return round.status;
}

Status Direct::run(const FileSection& space, std::int64_t base, std::int64_t record,
                   std::span<const Action> actions, std::span<const Part* const> parts,
                   Storage& storage, std::span<std::int64_t> misfits) {
    std::int64_t rounds = 0;  // number of rounds of the rank that needs the most
    if (storage.collective()) {
        Round counted{base, record};
        for_boxes(space, actions, parts, [&](std::size_t i, const Piece& piece) {
            const std::int64_t bytes = piece.box.volume() * space.places[i].element;
            if (!fits(counted, bytes)) counted.clear();
            if (counted.number++ == 0) ++rounds;
            counted.bytes += bytes;
        });
        team_.all_reduce({&rounds, 1}, Reduce::max);
    }
    Round round{base, record, !storage.collective()};
    const auto add = [&](std::size_t i, const Piece& piece) {
        const std::int64_t bytes = piece.box.volume() * space.places[i].element;
        if (!fits(round, bytes)) {
            (void)write(round, storage);
            --rounds;
        }
        if (round.status.ok()) pack(round, space.places[i], *parts[i], piece, misfits);
        round.bytes += bytes;
        ++round.number;
    };
    Status own = catch_errors([&] { for_boxes(space, actions, parts, add); });
    if (round.status.ok()) round.status = std::move(own);
    if (round.number > 0) {
        (void)write(round, storage);
        --rounds;
    }
    for (; storage.collective() && rounds > 0; --rounds) (void)write(round, storage);
    return round.status;
}

Status Direct::write_padding(const FileSection& space, std::int64_t base, std::int64_t record,
                             std::span<const Action> actions, Storage& storage) const {
    Status status;
    for (std::size_t i = 0; i < space.places.size() && status.ok(); ++i) {
        const VariableSlot& p = space.places[i];
        if (actions[i] != Action::data || p.padded == p.bytes) continue;
        const Variable& v = definitions_.variables[p.variable];
        const FillValue fill = v.fill_value(Order::big_endian);
        char padding[8];
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

}  // namespace thalweg::detail
