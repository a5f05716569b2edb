// Maps of fields to other grids: links between elements, with weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "history/selection/field.hpp"
#include "history/selection/ranks.hpp"

namespace thalweg::history {

/// A link: an element of the target is the sum of the elements of the source times weights.
struct MapLink {
    std::int64_t row = 0, column = 0;  ///< elements of the target and of the source, from 0
    double weight = 0;
};

/// Columns in their order, without repetition, and the number of each among them.
class ColumnSet {
public:
    ColumnSet() = default;
    /// @param some  columns in any order, also repeated ones
    explicit ColumnSet(Integers some);
    const Integers& list() const { return list_; }
    std::int64_t size() const { return std::ssize(list_); }
    /// Returns the number of a column; -1: it is not among them.
    std::int64_t number(std::int64_t column) const;

private:
    /// A bit for each of 64 columns, and the number of columns before them.
    struct Word {
        std::uint64_t bits = 0;
        std::int64_t before = 0;
    };
    Integers list_;
    std::vector<Word> words_;  ///< empty: the columns are too far apart
};

/// A map, and the links of those elements of the target that this rank computes, which are adjacent
/// in the file. A link is never divided among ranks, and the links of an element keep the order of
/// the map's file, so its sum has the same bits on any number of ranks.
struct Map {
    MapTable rules;
    std::int64_t sources = 0;          ///< number of elements of the source
    Integers source_shape;             ///< lengths of its two dimensions; empty: they are not known
    std::int64_t hash = 0;             ///< hash of all links
    Names dims;                        ///< dimensions of the target
    Integers shape;                    ///< their lengths
    std::int64_t first = 0;            ///< first element of this rank
    Integers begin;                    ///< first link of each of its elements, and their number
    ColumnSet columns;                 ///< elements of the source that have links
    std::vector<std::int32_t> column;  ///< for each link, position in `columns`
    std::vector<double> weight;        ///< for each link
    int serial = 0;                    ///< serial number of the target's decomposition
    std::deque<Coordinate> coordinates;
    Attributes attributes;  ///< attributes of variables on the target
    bool conserves = false;

    std::int64_t rows() const { return std::ssize(begin) - 1; }
};

/// Returns the part of an array on the target's grid, of which this rank has all of the other
/// dimensions.
/// @param dims  dimensions, among them those of the target, which are adjacent
Part target_part(const Map& map, const Names& dims, const Integers& shape);

/// Sorts links by rows. Links of a row keep their order.
/// @param links  links of this rank's elements
void sort_links(std::span<const MapLink> links, std::int64_t rows, Map& map);

/// Replaces the elements of a target in HEALPix's nested order by the means of those that have
/// links, by 4 for each level.
void coarsen(Map& map, int levels);

/// Adds a coordinate of the target, or one that every rank has as a whole.
template <class T>
Coordinate& add_coordinate(Map& map, const std::string& name, const Part& part,
                           const std::vector<T>& values, const Attributes& attributes) {
    Coordinate& c = map.coordinates.emplace_back(make_coordinate(name, part, values, attributes));
    c.serial = part.replicated ? 0 : map.serial;
    return c;
}

/// Describes a target in HEALPix's nested order.
void describe_healpix(Map& map, int level);
/// Returns the level of a HEALPix grid with this number of elements; -1 if there is none.
int healpix_level(std::int64_t elements);

/// Bytes for, or from, each of some ranks.
using Letters = std::map<int, std::vector<char>>;

template <class T>
void append(std::vector<char>& letter, const T& value) {
    letter.resize(letter.size() + sizeof value);
    std::memcpy(letter.data() + letter.size() - sizeof value, &value, sizeof value);
}

template <class T>
std::span<T> values_in(std::vector<char>& letter) {
    return {reinterpret_cast<T*>(letter.data()), letter.size() / sizeof(T)};
}

/// Sends each letter to its rank, and replaces them by those that have come.
/// @param mine  this rank's own failure so far: it sends nothing
/// @return the failure of this rank alone @note Collective
Status send(Ranks& ranks, Letters& letters, Status mine);
/// Sends letters likewise. @return the same on every rank @note Collective
Status exchange(Ranks& ranks, Letters& letters, Status mine = {});

/// Reads a map from a file.
/// @param zoom  level of HEALPix to which the target, in its nested order, is made coarser; -1: the
///              target is that of the file
/// @return TW_OK, TW_ESETTING, TW_EUNSUPPORTED, or errors of tw_open and tw_get_box; the same on
///         every rank
/// @note Collective
Status read_map(Ranks& ranks, const MapTable& rules, int zoom, Map& map);

}  // namespace thalweg::history
