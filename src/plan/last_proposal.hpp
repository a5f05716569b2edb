// What was proposed for the files of a session, and what their steps took.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/experience.hpp"
#include "plan/proposal.hpp"

namespace thalweg::planning {

/// What was proposed last for each kind of file, as programs create many of one kind; and what
/// their steps took, which the next proposal goes by. One rank is asked, and hears with the words
/// of all ranks what their files took since.
class LastProposal {
public:
    /// Kinds of files that are remembered.
    static constexpr std::size_t most_kinds = 8;
    static constexpr std::size_t words = 2 * most_kinds;

    /// Steps of a file of this rank took so long, each. Local.
    void note(const Proposed& what, double seconds);
    /// What is to be told: as many words, to be combined by their maximum over all ranks.
    std::array<std::int64_t, words> told() const;
    /// All ranks' words; those of this rank have been told then. Does not throw.
    void hear(std::span<const std::int64_t> all);
    /// The proposal for a file, on the rank that is asked.
    Proposal of(const Run& run, const Asked& asked);
    /// The same for a file that was proposed a way already, and names all of it that is left open.
    /// @return TW_ENOTFOUND: its kind is not remembered any more
    detail::Status again(int kind, Proposal& proposal) const;

private:
    struct Kind {
        int number = -1;
        Run run;
        Asked asked;
        std::vector<Candidate> ways;
        std::optional<Experience> experience;
    };
    struct Note {
        int kind = -1;  ///< none
        int way = 0;
        double seconds = 0;
    };
    Kind& kind_of(const Run& run, const Asked& asked);
    static Proposal proposal_of(const Kind& kind, bool always);

    std::array<Kind, most_kinds> kinds_;
    std::array<Note, most_kinds> notes_;  ///< of files since the last proposal
    int next_ = 0;                        ///< number of the next kind
};

}  // namespace thalweg::planning
