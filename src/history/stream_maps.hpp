// The maps of the variables of streams.
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

namespace thalweg::history {

/// Makes the mappings of the variables of streams. Variables with the same elements share them.
class Maps {
public:
    Maps(Ranks& ranks, const Table& table, Choices& choices)
        : ranks_(ranks), table_(table), choices_(choices) {}

    /// Reads the maps of all streams. @note Collective
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
    using Use =
        std::tuple<const Taken*, const Map*, std::vector<std::string>, std::vector<std::string>>;
    std::deque<std::pair<Use, std::shared_ptr<Mapping>>> made_;
};

}  // namespace thalweg::history
