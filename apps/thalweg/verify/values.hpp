// Compares the values of a variable of two files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "in_session.hpp"
#include "progress.hpp"
#include "verify/definitions.hpp"

namespace thalweg::app {

/// Compares variables one after another, reusing its memory.
class ValueComparison {
public:
    ValueComparison(Reader& a, Reader& b, const Ranks& ranks, const VerifyOptions& options);

    /// Adds the differences to the findings. Throws Error on every rank if a file cannot be read.
    /// @note Collective
    void compare(const CommonVariable& variable, Progress& progress, Findings& found);

private:
    std::vector<std::int64_t> chunks(const std::string& variable) const;

    Reader &a_, &b_;
    const Ranks& ranks_;
    const VerifyOptions& options_;
    std::vector<char> of_a_, of_b_;
};

}  // namespace thalweg::app
