// Copies the data of repack from a file that is read to one that is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "progress.hpp"
#include "repack/output.hpp"
#include "repack/plan.hpp"

namespace thalweg::app {

/// Copies all variables. Records are written in groups: all variables in the records of one group,
/// then the next group.
class Copy {
public:
    /// Prepares the copy. @param memory memory of each rank in bytes
    Copy(Reader& in, Output& out, const RepackPlan& plan, std::int64_t memory);

    /// Runs the copy. Throws Error on every rank if the input cannot be read.
    /// @return the same status on every rank
    /// @note Collective
    detail::Status run(Progress& progress);

private:
    detail::Status copy_variable(int number, std::int64_t first, std::int64_t records,
                                 Progress& progress);
    void read(const detail::Variable& v, std::int64_t first, const Block& block);
    std::vector<detail::Chunk> pack(int number, std::int64_t first, const Block& block);

    Reader& in_;
    Output& out_;
    const RepackPlan& plan_;
    std::int64_t piece_;  ///< bytes
    std::vector<char> read_, written_;
};

}  // namespace thalweg::app
