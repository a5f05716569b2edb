// SPDX-License-Identifier: Apache-2.0
#include "plan/last_proposal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace thalweg::planning {

namespace {

/// More than a kind of file has candidates.
constexpr std::int64_t most_ways = 1 << 10;
constexpr double ns = 1e9;

/// What was measured, of a way that is not the model's proposal.
std::string reason_of(const std::vector<Candidate>& ways, const Experience& e) {
    const std::size_t way = e.way(), other = e.instead_of();
    if (way == other) return "";
    const std::string took = fmt::format("steps of this run took {:.3g} s with {}",
                                         e.measured(other), in_words(ways[other].way));
    if (e.measured(way) > 0) return fmt::format("{:.3g} s with it; ", e.measured(way)) + took;
    return took + fmt::format(", where the cost model says {:.3g} s, and {:.3g} s of this way",
                              e.predicted(other), e.predicted(way));
}

}  // namespace

void LastProposal::note(const Proposed& what, double seconds) {
    if (what.kind < 0) return;
    notes_[static_cast<std::size_t>(what.kind) % most_kinds] = {what.kind, what.way, seconds};
}

std::array<std::int64_t, LastProposal::words> LastProposal::told() const {
    std::array<std::int64_t, words> all{};
    for (std::size_t i = 0; i < most_kinds; ++i) {
        const Note& n = notes_[i];
        all[2 * i] = n.kind < 0 ? -1 : n.kind * most_ways + n.way;
        // Of the rank that takes least: it comes last to the steps, and waits for no other.
        all[2 * i + 1] = n.kind < 0 ? INT64_MIN : -std::llround(n.seconds * ns);
    }
    return all;
}

void LastProposal::hear(std::span<const std::int64_t> all) {
    notes_ = {};
    for (std::size_t i = 0; i < most_kinds; ++i) {
        const std::int64_t which = all[2 * i], took = all[2 * i + 1];
        Kind& kind = kinds_[i];
        if (which < 0 || took >= 0 || kind.number != which / most_ways) continue;
        kind.experience->add(static_cast<std::size_t>(which % most_ways),
                             -static_cast<double>(took) / ns);
    }
}

LastProposal::Kind& LastProposal::kind_of(const Run& run, const Asked& asked) {
    for (Kind& kind : kinds_)
        if (kind.number >= 0 && kind.run == run && kind.asked == asked) return kind;
    Kind made{next_, run, asked, {}, {}};
    Candidates found = candidates(run, asked);
    std::vector<double> seconds;
    for (const Candidate& c : found.ways) seconds.push_back(std::max(1e-12, c.seconds));
    made.experience.emplace(std::move(seconds), 0, found.proposed);
    made.ways = std::move(found.ways);
    return kinds_[static_cast<std::size_t>(next_++) % most_kinds] = std::move(made);
}

Proposal LastProposal::of(const Run& run, const Asked& asked) {
    const Kind& kind = kind_of(run, asked);
    const bool always = kind.experience->way() != kind.experience->instead_of();
    return proposal_of(kind, always);
}

detail::Status LastProposal::again(int number, Proposal& proposal) const {
    const Kind& kind = kinds_[static_cast<std::size_t>(number) % most_kinds];
    if (kind.number != number) return {TW_ENOTFOUND, {}};
    proposal = proposal_of(kind, true);
    return {};
}

Proposal LastProposal::proposal_of(const Kind& kind, bool always) {
    const Experience& e = *kind.experience;
    Proposal proposal = planning::proposal_of(kind.ways, e.way(), kind.asked, always);
    proposal.what.kind = kind.number;
    proposal.why = reason_of(kind.ways, e);
    return proposal;
}

}  // namespace thalweg::planning
