// SPDX-License-Identifier: Apache-2.0
#include "service/queue/packed_boxes.hpp"

#include <algorithm>
#include <map>

#include "exchange/held_words.hpp"

namespace thalweg::detail {

namespace {

/// Parses a list whose runs have their positions in the words; moves `at` past them.
std::shared_ptr<const Listing> parse_positions(const std::int64_t*& at, const Listing& listing) {
    auto list = std::make_shared<IndexList>(*listing.list);
    for (Run& r : list->runs) r = Run(r.global(), *at++, r.length());
    auto result = std::make_shared<Listing>(listing);
    result->list = std::move(list);
    return result;
}

}  // namespace

PackedBoxes::PackedBoxes(const Holdings& holdings) {
    std::map<const Holding*, std::int64_t> known;
    for (const auto& holding : holdings) {
        const auto [at, fresh] = known.try_emplace(holding.get(), std::ssize(views_));
        view_of_.push_back(at->second);
        if (fresh) views_.push_back(holding->packed);
    }
}

std::vector<std::int64_t> PackedBoxes::words() const {
    std::vector<std::int64_t> words{std::ssize(view_of_)};
    words.insert(words.end(), view_of_.begin(), view_of_.end());
    for (const auto& view : views_) {
        words.push_back(view.size());
        for (const HeldBox& held : view) {
            append_held(words, held);
            if (!held.list) continue;
            for (const Run& r : held.list->list->runs) words.push_back(r.position());
        }
    }
    return words;
}

PackedBoxes::PackedBoxes(const std::int64_t* words, std::span<const Variable> variables)
    : view_of_(words + 1, words + 1 + words[0]) {
    const std::int64_t* at = words + 1 + words[0];
    for (std::size_t i = 0; i < view_of_.size(); ++i) {
        if (view_of_[i] < std::ssize(views_)) continue;
        auto& view = views_.emplace_back(static_cast<std::size_t>(*at++));
        for (HeldBox& held : view) {
            held = parse_held(at, variables[i].shape);
            if (held.list) held.list = parse_positions(at, *held.list);
        }
    }
}

}  // namespace thalweg::detail
