// Comparing the values of a variable of two files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "progress.hpp"
#include "verify_definitions.hpp"

namespace thalweg::app {

/// Compares variables one after another, and keeps the memory for it.
class ValueComparison {
public:
    ValueComparison(Reader& a, Reader& b, const VerifyOptions& options);

    /// Adds what differs to the findings. Throws Error if a file cannot be read, on every rank.
    /// @note Collective
    void compare(const CommonVariable& variable, Progress& progress, Findings& found);

private:
    Reader &a_, &b_;
    const VerifyOptions& options_;
    std::vector<char> of_a_, of_b_;
    int rank_ = 0, ranks_ = 1;
};

}  // namespace thalweg::app
