// Detects deferred arrays that have changed or gone since their addresses were passed. A
// compiler may pass a temporary, as Fortran's do for a section given to a contiguous dummy
// argument; its memory is free, or another array's, when the address is used. Not all such mistakes
// can be detected.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// A sample of the values of an array whose address the library keeps.
class Fingerprint {
public:
    Fingerprint() = default;
    /// @param held  boxes of the variable that this rank holds
    /// @param order  dimension order of the variable
    Fingerprint(const Decomposition& decomposition, std::span<const int> order,
                std::span<const HeldBox> held, const ArrayView& array);

    /// Returns the first sampled address; null if nothing is held.
    const char* first() const { return places_.empty() ? nullptr : places_.front(); }
    /// Checks that the memory still exists and has the same contents.
    Status compare() const;

private:
    bool is_there() const;
    std::uint64_t hash() const;
    std::vector<const char*> places_;  ///< addresses of sampled elements
    std::size_t size_ = 0;             ///< bytes of an element
    std::uint64_t hash_ = 0;
};

/// A variable, and the sample of its array.
struct SeenArray {
    const std::string* variable;
    const Fingerprint* fingerprint;
};

/// Compares all samples; arrays with the same address are an error, too.
Status compare_fingerprints(std::vector<SeenArray> all);

}  // namespace thalweg::detail
