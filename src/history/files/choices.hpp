// The elements of fields and coordinates that streams take: levels and regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "history/files/output.hpp"
#include "history/selection/declarations.hpp"

namespace thalweg::history {

/// Renames the dimensions of a part by position and length, so that they differ from the model's.
Part restart_part(const Part& part);

class Choices {
public:
    Choices(const Table& table, const Declarations& declared)
        : table_(table), declared_(declared) {}

    void clear() {
        taken_.clear();
        coordinate_data_.clear();
    }
    /// Finds the elements that a stream selects along dimensions of a field or coordinate.
    Status find(const StreamTable& stream, const Names& dims, const Pick& pick,
                Choice& choice) const;
    Taken& take(int serial, const Part& part, const Choice& choice);
    /// @param others  coordinates that the model has not declared, such as names of stations
    std::vector<WrittenCoordinate> coordinates_of(const StreamTable& stream,
                                                  const std::vector<Variable*>& variables,
                                                  const std::vector<const Coordinate*>& others);
    std::deque<Taken>& all() { return taken_; }
    /// Declares the decompositions of the elements as they are written, or as a restart keeps them.
    /// @note Collective
    Status declare(const Ranks& ranks, bool restart = false);

private:
    void turn_eastward(const StreamTable& stream, const Coordinate& c, const Choice& choice,
                       std::vector<char>& data) const;

    const Table& table_;
    const Declarations& declared_;
    std::deque<Taken> taken_;
    std::map<std::pair<const Coordinate*, const Taken*>, std::shared_ptr<const std::vector<char>>>
        coordinate_data_;
};

}  // namespace thalweg::history
