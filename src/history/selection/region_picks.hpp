// The elements of fields that regions of points and lists pick.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "history/selection/declarations.hpp"
#include "history/selection/ranks.hpp"

namespace thalweg::history {

struct Centre {
    std::array<double, 3> at{};
    std::int64_t index = 0;  ///< global index of the element
};

/// Tests if two numbers are a point in degrees; fill values are not.
bool is_place(double longitude, double latitude);
/// The elements that a region picks of fields that are held alike.
struct RegionPick {
    std::size_t number;  ///< position in the list of picks
    const RegionTable* region;
    const Field* field;  ///< one of these fields
    /// Stream that owns the pick, as its stations avoid land; empty: streams share it.
    std::string owner;
    Centres centres;
    enum class State : std::uint8_t {
        found,   ///< known when the declarations end
        waits,   ///< the elements are found only when a sample shows where land is
        settled  ///< they were found so
    } state = State::found;
    Pick pick = {};
    Integers shape = {};    ///< lengths of the dimensions that the pick replaces
    Integers nearest = {};  ///< indices of the elements before elements on land were replaced
};

/// The indices of elements on land, for the number of each pick whose elements are to be found
/// again. Picks have the same numbers on every rank.
using Land = std::map<std::size_t, std::set<std::int64_t>>;

class RegionPicks {
public:
    /// @param table  receives the points and lists of its regions when they are read
    RegionPicks(Ranks& ranks, Table& table, const Declarations& declared)
        : ranks_(ranks), table_(table), declared_(declared) {}

    /// Lists the regions of points and lists with the fields of which they pick elements. Local.
    Status list(const std::vector<ResolvedStream>& resolved);
    /// @note Collective
    Status find();
    /// Tests if a field's stations are found only when a sample shows where land is.
    bool waits(const StreamTable& stream, const Field& field) const;
    bool any_waits() const;
    /// Finds the elements of picks again, excluding elements on land.
    /// @param mine  this rank's own failure so far
    /// @note Collective
    Status skip_land(const Status& mine, const Land& land);
    /// The nearest elements of a pick, and the replacements for elements on land.
    using Settled = std::map<std::string, std::pair<Integers, Integers>>;
    Settled settled() const;
    /// Sets the elements of picks as the run before this one has found them.
    /// @param continues  tests if a stream continues one of that run
    /// @return these picks
    std::set<const RegionPick*> restore(const Settled& settled,
                                        const std::function<bool(const std::string&)>& continues);
    const RegionPick* of(const StreamTable& stream, const Field& field) const;
    const Coordinate* station_names(const std::string& region) const;
    /// Returns the names of the coordinates that describe picked elements, for the attribute
    /// `coordinates`: the pick has replaced the dimensions of these names by one of stations.
    Names names_beside(const RegionPick& one) const;

private:
    Status read_regions();
    Status find_nearest(const Status& mine, const Land& land, Integers& lowest);
    Status find(const Status& mine, const Land& land);

    Ranks& ranks_;
    Table& table_;
    const Declarations& declared_;
    std::deque<RegionPick> picks_;
    std::set<std::string> with_own_picks_;  ///< names of streams whose stations skip land
    Coordinates station_names_;             ///< by region
};

}  // namespace thalweg::history
