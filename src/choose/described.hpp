// A file's definitions as the planner's description of a run, so that the cost model can be asked
// of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "comm/team.hpp"
#include "plan/run.hpp"

namespace thalweg::detail {

/// How the ranks hold the largest record variable.
struct Held {
    bool regular = false;  ///< blocks of a grid of ranks, or lists; else nothing is known
    std::vector<planning::Cuts> grid;  ///< of the file's dimensions
    double list_run = 0;               ///< as planning::Run
};

/// Whether there is something to ask the cost model: a setting that it may choose, a plain file, a
/// machine that was measured. The same on every rank.
bool asks_cost_model(const FileOptions& options, Format format, const Surroundings& around);

/// What one rank holds: words that all ranks combine by their maximum.
std::vector<std::int64_t> held_words(const Definitions& definitions, int rank, int ranks);
/// What the maxima over all ranks mean.
Held held_of(const Definitions& definitions, std::span<const std::int64_t> words, int ranks);

/// The run that writes the record variables, on the machine that was measured.
/// @return whether it can be described: `run` is to be used only then
bool describe_run(const FileOptions& options, const Definitions& definitions,
                  const Surroundings& around, const Held& held, planning::Run& run);

/// The settings that are left open to the cost model.
planning::Asked asked_of(const FileOptions& options);

}  // namespace thalweg::detail
