// Writes a file of random batches, as the ranks of a model do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "batch_reference.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace batches {

class BatchWriter {
public:
    BatchWriter(tw_session session, int rank, int ranks, const Case& c, std::string path);

    /// @param again continue the file, which was closed
    /// @return true if the file is open
    bool create(bool again = false);
    /// Makes one operation of a step. A deferred operation keeps its array until the next step.
    void put(std::size_t step, const Op& op);
    /// Begins a step: frees the arrays that deferred operations of the last step kept. Must be
    /// called before the operations of a step.
    void begin_step() {
        ++step_;
        kept_.clear();
    }
    /// Reads a record of each variable through the handle that writes the file, which must have
    /// been synced: by a decomposition and as a section of each rank. Collective.
    void read_back(const Reference& reference, std::uint64_t seed);
    /// Keeps the first error of a call.
    void ok(int status, const char* call);
    bool good() const { return error.empty(); }

    std::string error;  ///< the first one; empty: none
    tw_file file = nullptr;

private:
    tw_session session_;
    int rank_, ranks_;
    const Case& case_;
    std::string path_;
    std::vector<tw_decomposition> cells_;
    std::vector<parts::Array> kept_;
    int step_ = 0;
    Random random_{1};
};

}  // namespace batches
