// Which units a writer takes where ranks write by boxes: they are taken as they come, and steps end
// apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/queue/desk_host.hpp"
#include "service/queue/desk_sources.hpp"

namespace thalweg::detail {

/// A unit of a source that is written now.
struct BoxUnit {
    DeskSource* source;
    std::vector<Parcel> parcels;
    std::vector<Parcel> ended;  ///< what is left of them when they are written, see end_of()
    bool ends = true;           ///< its ranks have ended their step, or wait at a mark
    bool any = false;           ///< has boxes, or tells how many records there are
    bool sent = false;          ///< to the other nodes, before boxes came
    bool goes_on = false;       ///< to the other nodes, when it is written here
};

/// With one node, boxes of all ranks are written together: alone they may be parts of rows, of
/// which the rest would be read and written again. A rank that is ahead does not wait for the
/// others: it needs the room in its queue.
std::vector<BoxUnit> units_together(DeskSources& sources);

/// With several nodes, what is there is written, unless it is the end of a step of a rank that can
/// wait. A node's boxes go to the others when they are written here, so that nodes which waited for
/// all ranks would wait for each other.
std::vector<BoxUnit> units_as_they_come(DeskSources& sources, DeskHost& host);

/// The parcels of some units, by ranks. They stay in those that go on.
std::vector<Parcel> take_parcels(std::vector<BoxUnit>& units);

}  // namespace thalweg::detail
