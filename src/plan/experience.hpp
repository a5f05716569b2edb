// What the steps of files have taken in this run by the ways in which they were written, and which
// way follows from that and from the cost model. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace thalweg::planning {

/**
 * Of files of one kind. The model's proposal comes first. It is left for a way that takes a tenth
 * less: by what was measured or, of ways that nobody has tried, by the model's prediction, times
 * what all ways that were tried took longer than predicted. A way that takes longer than the model
 * says of the usual one is compared with that one, too. So each way is tried once at most, and
 * there are few tries.
 */
class Experience {
public:
    /// @param predicted  seconds of a step by each way, all > 0
    /// @param usual      the way that is taken without a model
    /// @param proposed   the one that the model proposes
    Experience(std::vector<double> predicted, std::size_t usual, std::size_t proposed);

    /// A file was written so; its steps took so many seconds each. Does not throw.
    void add(std::size_t way, double seconds);

    /// How the next file is to be written.
    std::size_t way() const { return way_; }
    /// Which way it was chosen in place of; the same: none, it is the model's proposal.
    std::size_t instead_of() const { return instead_of_; }
    /// Seconds of a step, of all files that were written so; 0: none was.
    double measured(std::size_t way) const { return tried_[way].seconds; }
    double predicted(std::size_t way) const { return predicted_[way]; }

private:
    struct Tried {
        int files = 0;
        double seconds = 0;
    };
    void reconsider();
    void go_to(std::size_t way);
    double slowdown() const;

    std::vector<double> predicted_;
    std::vector<Tried> tried_;
    std::size_t usual_, way_, instead_of_;
    int tries_ = 0;
};

}  // namespace thalweg::planning
