// Method and writers of a file, where its settings leave them open and the machine was measured.
// Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plan/run.hpp"
#include "plan/way.hpp"

namespace thalweg::planning {

/// What the settings of a file say.
struct Asked {
    std::string method = "auto";
    bool queued = false;       ///< the steps are written in the background
    bool direct = false;       ///< each rank may write its own arrays: the service stays inline
    bool writers_open = true;  ///< their number is left to the library

    bool operator==(const Asked&) const = default;
};

/// A way to write, and what the model says of it.
struct Candidate {
    Way way;
    double seconds = 0;  ///< of a step

    bool operator==(const Candidate&) const = default;
};

/// The ways that may be proposed: only as many writers as were measured.
struct Candidates {
    std::vector<Candidate> ways;  ///< first the one that is chosen without measurements
    std::size_t proposed = 0;     ///< takes least time, if it is worth leaving the first one

    bool operator==(const Candidates&) const = default;
};

Candidates candidates(const Run& run, const Asked& asked);

/// A candidate.
struct Proposed {
    int kind = -1;  ///< of file; -1: none that the model was asked about
    int way = 0;    ///< which candidate it is
};

struct Proposal {
    std::string method;   ///< empty: as without measurements
    std::string writers;  ///< "N/node"; empty: likewise
    double seconds = 0;   ///< of a step, by the model
    double usual = 0;     ///< as without measurements
    std::string why{};    ///< what was measured in this run; empty: it is the model's proposal
    Proposed what{};
};

/// The model's proposal.
Proposal propose(const Run& run, const Asked& asked);

/// The proposal of a candidate. @param asked  says what is left open
/// @param always  names also what is chosen without measurements
Proposal proposal_of(const std::vector<Candidate>& ways, std::size_t at, const Asked& asked,
                     bool always);

/// "method=record and writers=4/node"
std::string in_words(const Way& way);

}  // namespace thalweg::planning
