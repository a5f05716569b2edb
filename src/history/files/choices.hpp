// The elements of fields and coordinates that streams take: levels and regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "history/files/output.hpp"
#include "history/selection/declarations.hpp"

namespace thalweg::history {

class Choices {
public:
    Choices(const Table& table, const Declarations& declared)
        : table_(table), declared_(declared) {}

    void clear() {
        taken_.clear();
        coordinate_data_.clear();
    }
    /// Finds the elements that a stream selects along each of these dimensions of a field or
    /// coordinate.
    Status find(const StreamTable& stream, const std::vector<std::string>& dims, const Pick& pick,
                Choice& choice) const;
    Taken& take(int serial, const Part& part, const Choice& choice);
    /// Returns the coordinates of a file of these variables.
    /// @param others  coordinates that the model has not declared, such as names of stations
    std::vector<WrittenCoordinate> coordinates_of(const StreamTable& stream,
                                                  const std::vector<Variable*>& variables,
                                                  const std::vector<const Coordinate*>& others);
    std::deque<Taken>& all() { return taken_; }
    /// Declares the decompositions of the elements that are written. @note Collective
    Status declare(Ranks& ranks);

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
