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

/// A range of pieces, which are written in one call.
struct Round {
    std::size_t first = 0, end = 0;
    std::int64_t bytes = 0;
};

}  // namespace

/// A held box, or a run of a list, or a part of one that fits the buffer.
struct Direct::Piece {
    const Part* part;
    std::size_t at;  ///< index of the held box
    Box box;
    std::int64_t bytes, offset;  ///< size of the piece; offset of the variable in the space
};

/// Cuts this rank's boxes to pieces that fit the buffer.
std::vector<Direct::Piece> Direct::cut(const FileSection& space, std::span<const Action> actions,
                                       std::span<const Part* const> parts) const {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        if (actions[i] != Action::data || parts[i] == nullptr) continue;
        const VariableSlot& p = space.places[i];
        const std::span<const HeldBox> boxes = parts[i]->boxes();
        for (std::size_t at = 0; at < boxes.size(); ++at)
            for_runs(boxes[at], boxes[at].box, [&](const HeldBox&, const Box& whole) {
                // Halve along the slowest dimension until it fits.
                for (std::vector<Box> todo{whole}; !todo.empty();) {
                    Box box = todo.back();
                    todo.pop_back();
                    const std::int64_t bytes = box.volume() * p.element;
                    if (bytes > budget_ && box.volume() > 1) {
                        todo.push_back(halve(box));
                        todo.push_back(box);
                    } else {
                        pieces.push_back({parts[i], at, box, bytes, p.offset});
                    }
                }
            });
    }
    return pieces;
}

/// Packs pieces one after another into the buffer.
/// @param chunks  receive the addresses
Status Direct::pack(std::span<const Piece> round, std::int64_t record,
                    std::span<std::int64_t> misfits, std::span<Chunk> chunks) {
    std::int64_t bytes = 0;
    for (const Piece& piece : round) bytes += piece.bytes;
    if (!buffer_ || std::cmp_less(buffer_->size(), bytes))
        buffer_ = make_private_memory(std::max(bytes, budget_));
    if (!buffer_) return failure(TW_ENOMEM, "cannot allocate {} bytes", std::max(bytes, budget_));
    Stopwatch watch(pack_seconds_);
    char* to = buffer_->data();
    for (std::size_t i = 0; i < round.size(); ++i) {
        const Piece& piece = round[i];
        const int variable = piece.part->variable;
        const Variable& v = definitions_.variables[variable];
        Span span("pack");
        span.variable(v.name).record(v.record ? record : -1).bytes(piece.bytes);
        misfits[variable] +=
            detail::pack(packers_, v, order_, *piece.part, piece.at, piece.box, to);
        chunks[i].data = to;
        to += piece.bytes;
    }
    return {};
}

Status Direct::run(const FileSection& space, std::int64_t base, std::int64_t record,
                   std::span<const Action> actions, std::span<const Part* const> parts,
                   Storage& storage, std::span<std::int64_t> misfits) {
    std::vector<Piece> pieces;
    std::vector<Chunk> chunks;
    std::vector<Round> rounds;
    Status status = catch_errors([&] {
        pieces = cut(space, actions, parts);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Piece& piece = pieces[i];
            if (rounds.empty() || rounds.back().bytes + piece.bytes > budget_ ||
                i - rounds.back().first == most_boxes)
                rounds.push_back({i, i});
            rounds.back().end = i + 1;
            rounds.back().bytes += piece.bytes;
            chunks.push_back({.variable = piece.part->variable,
                              .record = record,
                              .elements = piece.box.volume(),
                              .offset = base + piece.offset,
                              .bytes = piece.bytes,
                              .box = &piece.box});
        }
    });
    const bool collective = storage.collective();
    std::int64_t calls = std::ssize(rounds);
    if (collective) team_.all_reduce({&calls, 1}, Reduce::max);
    // After a failure, this rank still takes part in collective writes, for which others wait.
    for (std::int64_t k = 0; k < calls && (collective || status.ok()); ++k) {
        std::span<Chunk> written;
        if (status.ok() && k < std::ssize(rounds)) {
            const auto [first, end, bytes] = rounds[k];
            written = std::span(chunks).subspan(first, end - first);
            status = pack({&pieces[first], end - first}, record, misfits, written);
            if (!status.ok()) written = {};
        }
        const Waiting system(the_file_system);
        Status own = catch_errors([&] { return storage.write(written); });
        if (status.ok()) status = std::move(own);
    }
    return status;
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
