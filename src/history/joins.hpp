// The groups and maps by which ranks compute values of streams together, as streams ask for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "history/files/choices.hpp"
#include "history/maps/mapping.hpp"
#include "history/reductions/reduction.hpp"

namespace thalweg::history {

/// Makes the groups of the variables of streams. Variables with the same elements share them.
class Groupings {
public:
    Groupings(Ranks& ranks, const Table& table, Declarations& declared, Choices& choices)
        : ranks_(ranks), table_(table), declared_(declared), choices_(choices) {}

    /// Reports coordinates that streams name and the model does not declare, and coordinates that
    /// cannot be weights or numbers of regions. Local.
    void check(Problems& problems) const;
    /// Agrees on the numbers of regions, and on the fields whose groups have elements on several
    /// ranks. @note Collective
    Status find(const std::vector<ResolvedStream>& resolved,
                std::map<std::string, std::int64_t>& hashes);
    Status make(const StreamTable& stream, const StreamField& about, const Field& field,
                const Taken& taken, std::shared_ptr<const Grouping>& made);
    /// @return the coordinate with the numbers of a stream's regions; null if it has none
    const Coordinate* numbers(const StreamTable& stream) const;
    void clear() { made_.clear(); }

private:
    Status values_of(const StreamTable& stream, const std::string& name, const Part& part,
                     std::vector<double>& values) const;
    Status find_hashes(std::map<std::string, std::int64_t>& hashes);
    bool joins(const StreamTable& stream, const StreamField& about) const;

    Ranks& ranks_;
    const Table& table_;
    Declarations& declared_;
    Choices& choices_;
    Coordinates regions_;  ///< numbers of regions; key: coordinate
    std::map<std::pair<std::string, std::string>, bool> joins_;  ///< key: stream and variable
    using Key = std::tuple<const StreamTable*, const Taken*, Names>;
    std::map<Key, std::shared_ptr<const Grouping>> made_;  ///< key: also the reduced dimensions
};

/// Makes the mappings of the variables of streams. Variables with the same elements share them.
class Maps {
public:
    Maps(Ranks& ranks, const Table& table, Choices& choices)
        : ranks_(ranks), table_(table), choices_(choices) {}

    /// @note Collective
    Status read();
    /// Makes the mapping of a variable; null for a term of a formula without horizontal dimensions.
    /// Local.
    Status make(const StreamTable& stream, const StreamField& about, const Field& field,
                const Taken& taken, std::shared_ptr<const Mapping>& made);
    /// Connects the ranks for all mappings. @note Collective
    Status connect();
    void clear() { made_.clear(); }

private:
    std::shared_ptr<const Map> map_of(const StreamTable& stream, std::int64_t sources);

    Ranks& ranks_;
    const Table& table_;
    Choices& choices_;
    using Key = std::pair<std::string, int>;  ///< name of a map, and level of its pyramid
    std::map<Key, std::shared_ptr<const Map>> maps_;
    /// Elements, map, dimensions, and those of them that the target replaces.
    using Use = std::tuple<const Taken*, const Map*, Names, Names>;
    std::deque<std::pair<Use, std::shared_ptr<Mapping>>> made_;
};

}  // namespace thalweg::history
