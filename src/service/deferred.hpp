// Arrays that are kept by their address until a later call uses them: what shows that they are not
// what they were. A compiler may have handed over a temporary, as Fortran's do for a section given
// to a contiguous dummy argument; its memory is free, or another array's, when the address is used.
// Not all such mistakes can be seen.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// What an array showed when its address was taken.
class Glimpse {
public:
    Glimpse() = default;
    /// @param held  what this rank has of the variable; `order` is the variable's
    Glimpse(const Decomposition& decomposition, std::span<const int> order,
            std::span<const HeldBox> held, const ArrayView& array);

    /// Null if nothing is held.
    const char* first() const { return places_.empty() ? nullptr : places_.front(); }
    /// Whether the memory is still there, and still holds the same.
    Status compare() const;

private:
    bool is_there() const;
    std::uint64_t hash() const;
    std::vector<const char*> places_;  ///< of some of the elements
    std::size_t size_ = 0;             ///< of an element
    std::uint64_t hash_ = 0;
};

/// A variable, and what was seen of its array.
struct Glimpsed {
    const std::string* variable;
    const Glimpse* glimpse;
};

/// Compares all of them; arrays at the same address are a failure, too.
Status compare_glimpses(std::vector<Glimpsed> all);

}  // namespace thalweg::detail
