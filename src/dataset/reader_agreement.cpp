// What all ranks agree on before a call of a file that is read.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "dataset/reader.hpp"

namespace thalweg {

std::string Reader::describe(const Request& r) const {
    const Variable& v = source_->definitions().variables[static_cast<std::size_t>(r.variable)];
    std::string text = fmt::format("variable '{}'", v.name);
    if (v.record) text += fmt::format(", record {}", r.record);
    return text + (r.decomposition->replicated
                       ? std::string(", the whole")
                       : fmt::format(", decomposition {}", r.decomposition->serial));
}

/// The words are those of File::agree_on, so that a rank that is there is found.
Status Reader::agree_on(Call call, std::span<const Request> requests, const Status& mine) {
    Scatter::prepare(team_, *arena_);
    std::uint64_t hash = requests.size();
    if (mine.ok()) {
        for (const Request& r : requests)
            for (const std::int64_t word : {static_cast<std::int64_t>(r.variable), r.record,
                                            static_cast<std::int64_t>(r.decomposition->serial)})
                hash = (hash ^ static_cast<std::uint64_t>(word)) * 1099511628211ULL + 1;
    }
    const std::int64_t which = std::int64_t(serial_) << 32;
    const auto what = static_cast<std::int64_t>(hash);
    std::int64_t words[6] = {
        std::int64_t(1) << static_cast<int>(call), which, ~which, mine.ok() ? 0 : 2, what, ~what};
    team_.all_reduce(words, Reduce::bit_or);
    const bool same_file = (words[1] & words[2]) == 0;
    const bool closes = same_file && ((words[0] >> static_cast<int>(Call::close)) & 1) != 0;
    Status status;
    if (words[3] != 0)
        status = agree(team_.world(), mine);
    else if ((words[0] & (words[0] - 1)) != 0 || !same_file || (words[4] & words[5]) != 0)
        status = mismatch(call, requests, closes);
    if (!status.ok() && closes) broken_ = status;
    return status;
}

Status Reader::mismatch(Call call, std::span<const Request> requests, bool closes) {
    const char* name = call == Call::get        ? "tw_get"
                       : call == Call::read     ? "tw_read"
                       : call == Call::sync     ? "tw_sync"
                       : call == Call::prefetch ? "tw_prefetch"
                                                : "tw_close";
    std::string here;
    std::vector<char> first;
    Status status = alone([&]() -> Status {
        here = fmt::format("{} of {}", name, path_);
        for (const Request& r : requests) here += ", " + describe(r);
        first.assign(here.begin(), here.end());
        return {};
    });
    team_.world().broadcast(first, 0);
    const std::string_view theirs(first.data(), first.size());
    const auto compare = [&]() -> Status {
        if (theirs != here)
            return failure(TW_EMISMATCH,
                           "the ranks are in different calls: {} on rank 0, {} on rank {}", theirs,
                           here, team_.rank());
        return {};
    };
    status = agree(team_.world(), status.ok() ? alone(compare) : status);
    if (status.ok() && !closes)
        status = failure(TW_EMISMATCH, "{}: the ranks ask for different things", path_);
    return status;
}

}  // namespace thalweg
