// What this rank holds of each variable of a file, and how it is packed for a queue: dense, in file
// order and in the byte order of the storage.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/packers.hpp"
#include "service/queue/holdings.hpp"

namespace thalweg::detail {

class HeldData {
public:
    /// @throw std::bad_alloc
    HeldData(const Definitions& definitions, Packers& packers, Order order);

    std::span<const HeldBox> of(int variable) const { return at(held_, variable); }
    /// The same as it lies in the queue.
    const Holdings& told() const { return told_; }
    /// Bytes of all that this rank holds of a variable.
    std::int64_t bytes(int variable) const;
    /// Of what it holds of a range.
    std::int64_t bytes(int variable, ElementRange range) const;

    // These return the number of values that did not fit.
    /// All that this rank holds of a variable, from an array of its decomposition.
    std::int64_t pack(int variable, const ArrayView& view, char* to) const;
    /// What it holds of a range.
    std::int64_t pack(int variable, ElementRange range, const ArrayView& view, char* to) const;
    /// A part of a held box, of any decomposition.
    /// @param from  the first element of the held box; of a list, position 0
    std::int64_t pack(int variable, const HeldBox& held, const Box& part, const Strided& from,
                      tw_type type, char* to) const;

private:
    template <class T>
    static const T& at(const std::vector<T>& of, int variable) {
        return of[variable];
    }
    const Variable& variable(int i) const { return at(definitions_.variables, i); }
    template <class Visit>
    void for_range(int variable, ElementRange range, Visit&& visit) const;

    const Definitions& definitions_;
    Packers& packers_;
    Order order_;
    std::vector<std::vector<HeldBox>> held_;
    Holdings told_;
    std::vector<FillValue> fill_;
};

}  // namespace thalweg::detail
