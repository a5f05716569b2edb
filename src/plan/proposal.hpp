// Method and writers of a file, where its settings leave them open and the machine was measured.
// Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "plan/run.hpp"

namespace thalweg::planning {

/// What the settings of a file say.
struct Asked {
    std::string method = "auto";
    bool queued = false;       ///< the steps are written in the background
    bool direct = false;       ///< each rank may write its own arrays: the service stays inline
    bool writers_open = true;  ///< their number is left to the library

    bool operator==(const Asked&) const = default;
};

struct Proposal {
    std::string method;   ///< empty: as without measurements
    std::string writers;  ///< "N/node"; empty: likewise
    double seconds = 0;   ///< of a step
    double usual = 0;     ///< as without measurements
};

/// The way to write a step that takes least time by the cost model, if it is worth leaving that
/// which is chosen without measurements. Only as many writers are proposed as were measured.
Proposal propose(const Run& run, const Asked& asked);

/// The last proposal: programs create many files of one kind.
class LastProposal {
public:
    const Proposal& of(const Run& run, const Asked& asked);

private:
    std::optional<Run> run_;  ///< none: of nothing yet
    Asked asked_;
    Proposal proposal_;
};

}  // namespace thalweg::planning
