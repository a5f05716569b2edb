// What all ranks agree on before they work together: the call, failures, and who has put what.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include "comm/clock.hpp"
#include "dataset/file.hpp"

namespace thalweg {

namespace {

std::int64_t bit(int i) { return static_cast<std::int64_t>(std::uint64_t(1) << (i % 64)); }

bool has_bit(std::span<const std::int64_t> words, std::size_t i) {
    return (static_cast<std::uint64_t>(words[i / 64]) >> (i % 64)) & 1;
}

}  // namespace

/// One exchange of words before any collective work: which call this is, whether anyone failed, and
/// who has put what.
Status File::agree_on(Call call, int variable, const Status& mine, Agreed& agreed) {
    Stopwatch watch(figures_.wait);
    (void)poll_service();
    if (service_) service_->outbox().meet();
    if (stream_) stream_->prepare();
    stream_used_ = false;
    const std::size_t n = definitions_.variables.size();
    const std::size_t map_words = (n + 63) / 64;
    const std::int64_t which = (std::int64_t(serial_) << 32) | (variable + 1);
    std::vector<std::int64_t> words(4 + 2 * map_words, 0);
    words[0] = std::int64_t(1) << static_cast<int>(call);
    words[1] = which;
    words[2] = ~which;
    words[3] = (failed_.ok() ? 0 : 1) | (mine.ok() ? 0 : 2);
    const std::span put(words.data() + 4, map_words);
    const std::span lacking(words.data() + 4 + map_words, map_words);
    for (std::size_t i = 0; i < n; ++i) {
        const Variable& v = definitions_.variables[i];
        const Pending& p = pending_[i];
        const auto s = static_cast<int>(i);
        if (p.put)
            put[i / 64] |= bit(s);
        else if (v.decomposition->held > 0 || v.decomposition->replicated)
            lacking[i / 64] |= bit(s);
    }
    team_.all_reduce(words, Reduce::bit_or);
    // A rank that closes cannot come back, so the others follow it.
    const bool closes = ((words[0] >> static_cast<int>(Call::close)) & 1) != 0;
    const bool same_file = ((words[1] & words[2]) >> 32) == 0;
    if ((words[3] & 1) != 0) {
        // Ranks may learn of a service's failure at different times, and only some close then.
        broken_ = closes && same_file;
        Status status = thalweg::agree(team_.world(), failed_);
        if (failed_.ok()) failed_ = status;
        return status;
    }
    if ((words[3] & 2) != 0) {
        Status status = thalweg::agree(team_.world(), mine);
        broken_ = closes && same_file;
        return broken_ ? keep(std::move(status)) : status;
    }
    if ((words[0] & (words[0] - 1)) != 0 || (words[1] & words[2]) != 0) {
        static const char* const names[] = {"tw_enddef", "tw_put", "tw_end_step", "tw_sync",
                                            "tw_close"};
        std::string here = fmt::format("{} of {}", names[static_cast<int>(call)], path_);
        if (variable >= 0)
            here += ", variable '" +
                    definitions_.variables[static_cast<std::size_t>(variable)].name + "'";
        std::vector<char> first(here.begin(), here.end());
        team_.world().broadcast(first, 0);
        const std::string theirs(first.begin(), first.end());
        Status status;
        if (theirs != here)
            status = failure(TW_EMISMATCH,
                             "the ranks are in different calls: {} on rank 0, {} on rank {}",
                             theirs, here, team_.rank());
        status = thalweg::agree(team_.world(), status);
        broken_ = closes;
        return broken_ ? keep(std::move(status)) : status;
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
    return any_missing ? missing_variables(missing) : Status{};
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
            fmt::format("{}: variable '{}' of record {} was not put on rank {}, but on others",
                        path_, v.name, records_, fmt::join(ranks, ", "));
        text.assign(message.begin(), message.end());
    }
    team_.world().broadcast(text, 0);
    return {TW_EMISSING, std::string(text.begin(), text.end())};
}

}  // namespace thalweg
