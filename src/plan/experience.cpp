// SPDX-License-Identifier: Apache-2.0
#include "plan/experience.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::planning {

namespace {

/// Less time by this factor is worth another way. Times of files differ more than predictions do.
constexpr double worth_a_try = 0.9;

/// Ways that are tried because the model promises that they are faster than a measured one.
constexpr int most_tries = 3;

/// A file counts as much as the mean of so many before it at least, as machines change.
constexpr int remembered_files = 8;

}  // namespace

Experience::Experience(std::vector<double> predicted, std::size_t usual, std::size_t proposed)
    : predicted_(std::move(predicted)),
      tried_(predicted_.size()),
      usual_(usual),
      way_(proposed),
      instead_of_(proposed) {}

void Experience::add(std::size_t way, double seconds) {
    Tried& t = tried_[way];
    t.files = std::min(t.files + 1, remembered_files);
    t.seconds += (seconds - t.seconds) / t.files;
    // Not before the way that was chosen last has been measured.
    if (tried_[way_].files > 0) reconsider();
}

void Experience::go_to(std::size_t way) { instead_of_ = std::exchange(way_, way); }

/// How much longer than predicted all ways take that were tried: the machine's part of the error.
double Experience::slowdown() const {
    double least = 0;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        const double part = tried_[i].seconds / predicted_[i];
        if (tried_[i].files > 0 && (least == 0 || part < least)) least = part;
    }
    return least;
}

void Experience::reconsider() {
    const double took = tried_[way_].seconds;
    if (tried_[usual_].files == 0 && took > predicted_[usual_]) return go_to(usual_);
    const double slower = slowdown();
    std::size_t best = way_;
    double least = took;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        const bool known = tried_[i].files > 0;
        if (!known && tries_ == most_tries) continue;
        const double seconds = known ? tried_[i].seconds : slower * predicted_[i];
        if (seconds >= least) continue;
        least = seconds;
        best = i;
    }
    if (!(least < worth_a_try * took)) return;
    if (tried_[best].files == 0) ++tries_;
    go_to(best);
}

}  // namespace thalweg::planning
