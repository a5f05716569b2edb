// The elements of fields that regions of points and lists pick.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "history/centres.hpp"
#include "history/declarations.hpp"
#include "history/pick.hpp"
#include "history/ranks.hpp"

namespace thalweg::history {

/// The elements that a region picks of fields that are held alike.
struct RegionPick {
    const RegionTable* region;
    const Field* field;  ///< one of these fields
    Centres centres;
    Pick pick;
};

class RegionPicks {
public:
    /// @param table  receives the points and lists of its regions when they are read
    RegionPicks(Ranks& ranks, Table& table, const Declarations& declared)
        : ranks_(ranks), table_(table), declared_(declared) {}

    /// Lists the regions of points and lists, each with the fields of which it picks elements.
    /// Local.
    Status list(const std::vector<ResolvedStream>& resolved);
    /// Finds the elements of all picks. @note Collective
    Status find();
    /// Returns the pick of a field in a stream; null if there is none.
    const RegionPick* of(const StreamTable& stream, const Field& field) const;
    /// Returns the names of a region's stations; null if they have none.
    const Coordinate* station_names(const std::string& region) const;
    /// Returns the names of the coordinates that describe picked elements, for the attribute
    /// `coordinates`: the pick has replaced the dimensions of these names by one of stations.
    std::vector<std::string> names_beside(const RegionPick& one) const;

private:
    Status read_regions();
    Status read_list(RegionTable& region);
    Status find_centres(const RegionPick& one, std::vector<Centre>& found) const;
    Status find_nearest(std::vector<Integers>& indices);

    Ranks& ranks_;
    Table& table_;
    const Declarations& declared_;
    std::deque<RegionPick> picks_;
    std::map<std::string, Coordinate> station_names_;  ///< by region
};

/// Checks that two fields of a file do not pick different elements of the same dimensions.
Status check_picks(const StreamTable& stream, const RegionPick& one, const RegionPick& other);

}  // namespace thalweg::history
