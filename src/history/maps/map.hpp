// Maps of fields to other grids: links between elements, with weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <map>
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

/// A map, and the links of those elements of the target that this rank computes, which are adjacent
/// in the file. A link is never divided among ranks, and the links of an element keep the order of
/// the map's file, so its sum has the same bits on any number of ranks.
struct Map {
    MapTable rules;
    std::int64_t sources = 0;          ///< number of elements of the source
    Integers source_shape;             ///< lengths of its two dimensions; empty: they are not known
    std::int64_t hash = 0;             ///< hash of all links
    std::vector<std::string> dims;     ///< dimensions of the target
    Integers shape;                    ///< their lengths
    std::int64_t first = 0;            ///< first element of this rank
    Integers begin;                    ///< first link of each of its elements, and their number
    Integers columns;                  ///< elements of the source that have links, in their order
    std::vector<std::int32_t> column;  ///< for each link, position in `columns`
    std::vector<double> weight;        ///< for each link
    int serial = 0;                    ///< serial number of the target's decomposition
    std::deque<Coordinate> coordinates;
    std::vector<Attribute> attributes;  ///< attributes of variables on the target
    bool conserves = false;

    std::int64_t rows() const { return std::ssize(begin) - 1; }
};

/// Returns the part of an array on the target's grid, of which this rank has all of the other
/// dimensions.
/// @param dims  dimensions, among them those of the target, which are adjacent
Part target_part(const Map& map, const std::vector<std::string>& dims, const Integers& shape);

/// Sorts links by rows. Links of a row keep their order.
/// @param links  links of this rank's elements
void sort_links(const std::vector<MapLink>& links, std::int64_t rows, Map& map);

/// Replaces the elements of a target in HEALPix's nested order by the means of those that have
/// links, by 4 for each level.
void coarsen(Map& map, int levels);
/// Describes a target in HEALPix's nested order.
void describe_healpix(Map& map, int level);
/// Returns the level of a HEALPix grid with this number of elements; -1 if there is none.
int healpix_level(std::int64_t elements);

/// An array for, or from, each of some ranks.
template <class T>
using Letters = std::map<int, std::vector<T>>;

/// Sends each array to its rank, and replaces them by those that have come.
/// @param mine  this rank's own failure so far: it sends nothing
/// @return the same on every rank @note Collective
template <class T>
Status exchange(Ranks& ranks, Letters<T>& letters, Status mine = {}) {
    std::vector<detail::Packet> packets;
    if (mine.ok())
        mine = detail::catch_errors([&] {
            for (auto& [rank, values] : letters) {
                const auto* const bytes = reinterpret_cast<const char*>(values.data());
                packets.push_back({rank, {bytes, bytes + values.size() * sizeof(T)}});
                values = {};
            }
        });
    if (!mine.ok()) packets.clear();
    letters.clear();
    if (Status own = ranks.exchange(packets); mine.ok()) mine = std::move(own);
    if (mine.ok())
        mine = detail::catch_errors([&] {
            for (detail::Packet& packet : packets) {
                std::vector<T>& values = letters[packet.rank];
                values.resize(packet.bytes.size() / sizeof(T));
                std::memcpy(values.data(), packet.bytes.data(), packet.bytes.size());
                packet.bytes = {};
            }
        });
    return ranks.agree(mine, 0, {});
}

/// Reads a map from a file.
/// @param zoom  level of HEALPix to which the target, in its nested order, is made coarser; -1: the
///              target is that of the file
/// @return TW_OK, TW_ESETTING, TW_EUNSUPPORTED, or errors of tw_open and tw_get_box; the same on
///         every rank
/// @note Collective
Status read_map(Ranks& ranks, const MapTable& rules, int zoom, Map& map);

}  // namespace thalweg::history
