// SPDX-License-Identifier: Apache-2.0
#include "choose/ask_cost_model.hpp"

#include <algorithm>
#include <array>

#include "choose/described.hpp"
#include "plan/last_proposal.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::detail {

namespace {

using planning::LastProposal;

/// @param ask  called on one rank, with the proposal to be filled
/// @return a failure of this rank's memory, or of that one's. @note Collective
template <class Ask>
Status share(Team& team, Ask&& ask, planning::Proposal& proposal) {
    struct Answer {
        char method[16], writers[32], why[256];
        double seconds, usual;
        planning::Proposed what;
    } answer{};
    const Status asked = alone([&]() -> Status {
        if (team.rank() != 0) return {};
        planning::Proposal p;
        if (Status s = ask(p); !s.ok()) return s;
        p.method.copy(answer.method, sizeof answer.method - 1);
        p.writers.copy(answer.writers, sizeof answer.writers - 1);
        p.why.copy(answer.why, sizeof answer.why - 1);
        answer.seconds = p.seconds;
        answer.usual = p.usual;
        answer.what = p.what;
        return {};
    });
    team.world().broadcast(&answer, sizeof answer, 0);
    const Status taken = alone([&]() -> Status {
        proposal = {answer.method, answer.writers, answer.seconds,
                    answer.usual,  answer.why,     answer.what};
        return {};
    });
    return asked.ok() ? taken : asked;
}

}  // namespace

Status ask_cost_model(const FileContext& file, Surroundings& around) {
    if (!asks_cost_model(file.options, file.format, around)) return {};
    Team& team = file.team;
    auto& last = file.session.last_proposal;
    std::vector<std::int64_t> words;
    Status status = team.agree(alone([&]() -> Status {
        around.folder = folder_of(file.path);
        if (!last) last = std::make_shared<LastProposal>();
        // What files have taken goes along with what the ranks hold.
        const auto told = last->told();
        words.assign(told.begin(), told.end());
        const auto held = held_words(file.definitions, team.rank(), team.size());
        words.insert(words.end(), held.begin(), held.end());
        return {};
    }));
    if (!status.ok()) return status;
    team.all_reduce(words, Reduce::max);
    const std::span<const std::int64_t> all(words);
    last->hear(all.first(LastProposal::words));
    const auto ask = [&](planning::Proposal& proposal) -> Status {
        planning::Run run;
        const Held held = held_of(file.definitions, all.subspan(LastProposal::words), team.size());
        if (describe_run(file.options, file.definitions, around, held, run))
            proposal = last->of(run, asked_of(file.options));
        return {};
    };
    return share(team, ask, around.proposal);
}

bool ask_again(const FileContext& file, const planning::Proposed& what, bool can,
               planning::Proposal& proposal) {
    Team& team = file.team;
    LastProposal& last = *file.session.last_proposal;
    std::array<std::int64_t, LastProposal::words + 1> words{};
    const auto told = last.told();
    std::copy(told.begin(), told.end(), words.begin());
    words.back() = can ? 0 : 1;
    team.all_reduce(words, Reduce::max);
    const std::span<const std::int64_t> all(words);
    last.hear(all.first(LastProposal::words));
    if (words.back() != 0) return false;
    // A rank without memory for the answer goes on as before, and so all have to.
    const Status asked = share(
        team, [&](auto& p) { return last.again(what.kind, p); }, proposal);
    if (!team.agree(asked).ok()) return false;
    return proposal.what.kind == what.kind && proposal.what.way != what.way;
}

}  // namespace thalweg::detail
