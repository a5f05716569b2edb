// SPDX-License-Identifier: Apache-2.0
#include "service/queue/packed_boxes.hpp"

#include <algorithm>
#include <map>

#include "decomposition/varint.hpp"
#include "exchange/held_words.hpp"

namespace thalweg::detail {

namespace {

/// Appends the positions of runs in their list, each as the distance from the end of the run
/// before.
void append_positions(std::vector<std::int64_t>& words, std::span<const Run> runs) {
    std::vector<char> bytes;
    std::int64_t end = 0;
    for (const Run& r : runs) {
        const std::int64_t step = r.position() - end;
        // Encode small numbers of either sign in few bits.
        put_varint(bytes, static_cast<std::uint64_t>(step) << 1 ^ (step >> 63));
        end = r.position() + r.length();
    }
    const std::size_t n = (bytes.size() + 7) / 8, at = words.size() + 1;
    words.push_back(n);
    words.resize(at + n);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(words.data() + at));
}

/// Parses a list whose runs have their positions in the words; moves `at` past them.
std::shared_ptr<const Listing> parse_positions(const std::int64_t*& at, const Listing& listing) {
    auto list = std::make_shared<IndexList>(*listing.list);
    const char* bytes = reinterpret_cast<const char*>(at + 1);
    std::int64_t end = 0;
    for (Run& r : list->runs) {
        const std::uint64_t word = get_varint(bytes);
        end += static_cast<std::int64_t>(word >> 1) ^ -static_cast<std::int64_t>(word & 1);
        r = Run(r.global(), end, r.length());
        end += r.length();
    }
    at += 1 + at[0];
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
            if (held.list) append_positions(words, held.list->list->runs);
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
