// The groups of elements that a reduction combines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "history/selection/part.hpp"

namespace thalweg::history {

/// The elements of a variable in groups. Each group gives one value.
struct Grouping {
    const Taken* results = nullptr;  ///< the groups, as elements of the reduced variable
    /// A group has elements on several ranks, so every rank gets all groups. Otherwise each rank
    /// gets the groups whose elements it holds.
    bool joins_ranks = false;
    std::string region_dim;       ///< dimension of regions; empty: there is none
    Integers begin;               ///< first element of each group in `order`, and their number
    Integers order;               ///< elements, group after group; empty: they are in this order
    std::vector<double> weights;  ///< weights of the elements in this order; empty: all are 1
    std::int64_t groups() const { return std::ssize(begin) - 1; }
};

/// Returns the dimensions of a reduced variable.
/// @param region_dim  dimension of regions; may be empty
std::vector<std::string> reduced_dims(const std::vector<std::string>& dims,
                                      const std::vector<std::string>& reduced,
                                      const std::string& region_dim);
/// Tests if each rank holds all elements along some dimensions of those that it holds.
bool holds_whole(const Part& part, const std::vector<std::string>& dims);
/// Returns a dense part without some dimensions, along which each rank holds all elements.
Part without(const Part& part, const std::vector<std::string>& dims);
/// Sorts elements into groups. @param group  number of the group of each element; -1: it has none
void sort_groups(const Integers& group, std::int64_t groups, Grouping& made);

}  // namespace thalweg::history
