// SPDX-License-Identifier: Apache-2.0
#include "service/inline/rest_rounds.hpp"

#include "exchange/dense.hpp"

namespace thalweg::detail {

namespace {

std::int64_t bytes_of(const RestPiece& piece, std::span<const Variable> variables) {
    constexpr std::int64_t description = 256;
    const std::int64_t n = elements_of(piece.part->boxes()[piece.at], piece.within);
    return n == 0 ? 0 : n * variables[piece.part->variable].element() + description;
}

template <class Visit>
void for_boxes(std::span<const Part> parts, Visit&& visit) {
    for (const Part& part : parts)
        for (std::size_t at = 0; at < part.boxes().size(); ++at)
            visit(RestPiece{&part, at, part.boxes()[at].box});
}

}  // namespace

std::int64_t message_bytes(std::span<const Part> parts, std::span<const Variable> variables) {
    std::int64_t sum = 0;
    for_boxes(parts, [&](const RestPiece& box) { sum += bytes_of(box, variables); });
    return sum;
}

std::vector<std::vector<RestPiece>> cut_to_rounds(std::span<const Part> parts,
                                                  std::span<const Variable> variables,
                                                  std::int64_t most) {
    std::vector<std::vector<RestPiece>> rounds(1);
    std::int64_t room = most;
    const auto add = [&](const auto& again, RestPiece piece) -> void {
        const std::int64_t bytes = bytes_of(piece, variables);
        if (bytes > room && bytes > most / 4 && piece.within.volume() > 1) {
            RestPiece second = piece;
            second.within = halve(piece.within);
            again(again, piece);
            return again(again, second);
        }
        if (bytes == 0) return;
        if (bytes > room && !rounds.back().empty()) {
            rounds.emplace_back();
            room = most;
        }
        rounds.back().push_back(piece);
        room -= bytes;
    };
    for_boxes(parts, [&](const RestPiece& box) { add(add, box); });
    return rounds;
}

}  // namespace thalweg::detail
