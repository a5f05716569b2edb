// What all ranks agree on before they work together: the call, failures, and who has put what.
// SPDX-License-Identifier: Apache-2.0

#include "comm/clock.hpp"
#include "comm/text.hpp"
#include "dataset/file.hpp"

namespace thalweg::detail {

namespace {

std::int64_t bit(int i) { return static_cast<std::int64_t>(std::uint64_t(1) << (i % 64)); }

bool has_bit(std::span<const std::int64_t> words, std::size_t i) {
    return (static_cast<std::uint64_t>(words[i / 64]) >> (i % 64)) & 1;
}

}  // namespace

/// The meeting of all ranks with which every call begins that they make together.
Status File::enter(Call call, int variable, const Status& mine, std::span<std::int64_t> words) {
    const auto describe = [&] {
        std::string text = "of " + path_;
        if (variable >= 0)
            text += ", variable '" +
                    definitions_.variables[static_cast<std::size_t>(variable)].name + "'";
        return text;
    };
    auto outcome = arena_source_.meeting().enter(
        {call, serial_, variable + 1, leaving_, std::ref(describe)}, mine, failed_, words);
    if (outcome.failed && failed_.ok()) failed_ = outcome.status;
    return std::move(outcome.status);
}

/// What the ranks tell each other in it: who has put what.
Status File::agree_on(Call call, int variable, const Status& mine, Agreed& agreed) {
    Stopwatch watch(figures_.wait);
    (void)poll_service();
    if (stream_) stream_->prepare();
    stream_used_ = false;
    const std::size_t n = definitions_.variables.size();
    const std::size_t map_words = (n + 63) / 64;
    std::vector<std::int64_t> words(4 * map_words + 1, 0);
    const std::span put(words.data(), map_words);
    const std::span lacking(words.data() + map_words, map_words);
    const std::span bare(words.data() + 2 * map_words, map_words);
    const std::span with_halo(words.data() + 3 * map_words, map_words);
    for (std::size_t i = 0; i < n; ++i) {
        const Variable& v = definitions_.variables[i];
        const Pending& p = pending_[i];
        const auto s = static_cast<int>(i);
        if (p.put)
            put[i / 64] |= bit(s);
        else if (v.decomposition->held > 0 || v.decomposition->replicated)
            lacking[i / 64] |= bit(s);
        if (call == Call::put ? s != variable : !p.put) continue;
        if (p.form == Form::without_halo) bare[i / 64] |= bit(s);
        if (p.form == Form::with_halo) with_halo[i / 64] |= bit(s);
    }
    words.back() = boxed_;
    if (Status status = enter(call, variable, mine, words); !status.ok()) return status;
    if (words.back() != 0) {
        if (!service_)
            if (Status status = turn_to_boxes(); !status.ok()) return status;
        boxed_ = true;
    }
    std::vector<std::int64_t> missing(map_words, 0);
    bool any_missing = false;
    agreed.put.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        agreed.put[i] = has_bit(put, i);
        agreed.any_record |= agreed.put[i] && definitions_.variables[i].record;
        if (agreed.put[i] && has_bit(lacking, i) && call != Call::put) {
            missing[i / 64] |= bit(static_cast<int>(i));
            any_missing = true;
        }
    }
    if (any_missing) return missing_variables(missing);
    for (std::size_t i = 0; i < n; ++i)
        if (has_bit(bare, i) && has_bit(with_halo, i))
            return mixed_forms(i, call == Call::put || pending_[i].put);
    return {};
}

/// Where boxes are unlike, an array without a halo can look like a smaller box with its halo: then
/// one of the ranks is wrong.
/// @param put  whether this rank has put it
Status File::mixed_forms(std::size_t variable, bool put) {
    const Variable& v = definitions_.variables[variable];
    std::string mine;
    if (put && pending_[variable].form != Form::either) {
        const bool with = pending_[variable].form == Form::with_halo;
        mine =
            fmt::format("{}{} on rank {}", with ? '+' : '-',
                        extents_in_words(*v.decomposition, pending_[variable].form), team_.rank());
    }
    const auto all = team_.world().gather({mine.data(), mine.size()}, 0);
    std::vector<char> text;
    if (team_.rank() == 0) {
        const auto first = [&](char form) {
            for (const auto& one : all)
                if (!one.empty() && one[0] == form) return std::string(one.begin() + 1, one.end());
            return std::string();
        };
        const std::string message = fmt::format(
            "{}: variable '{}': the ranks pass arrays of different forms: without halo, {}; with "
            "halo, {}. If the boxes share an array of fixed extents, declare them with tw_pad",
            path_, v.name, first('-'), first('+'));
        text.assign(message.begin(), message.end());
    }
    team_.world().broadcast(text, 0);
    return {TW_EMISMATCH, std::string(text.begin(), text.end())};
}

/// Names the ranks that lack the first variable that is missing.
Status File::missing_variables(const std::vector<std::int64_t>& missing) {
    std::size_t variable = 0;
    while (!has_bit(missing, variable)) ++variable;
    const Variable& v = definitions_.variables[variable];
    const char lacks =
        !pending_[variable].put && (v.decomposition->held > 0 || v.decomposition->replicated);
    const auto all = team_.world().gather({&lacks, 1}, 0);
    std::vector<char> text;
    if (team_.rank() == 0) {
        std::vector<std::string> ranks;
        std::size_t number = 0;
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!all[r][0]) continue;
            if (++number <= 16) ranks.push_back(std::to_string(r));
        }
        if (number > 16) ranks.push_back(fmt::format("and {} more", number - 16));
        const std::string message =
            fmt::format("{}: variable '{}' of record {} was not put on rank {}, but was on others",
                        path_, v.name, options_.wording.index(records_), joined(ranks, ", "));
        text.assign(message.begin(), message.end());
    }
    team_.world().broadcast(text, 0);
    return {TW_EMISSING, std::string(text.begin(), text.end())};
}

}  // namespace thalweg::detail
