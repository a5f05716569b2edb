// Chooses the units that a writer takes if the file is written by boxes (see unit_part.hpp): boxes
// are taken as they come, and the ends of steps separately.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/queue/unit_sources.hpp"
#include "service/queue/unit_writer_host.hpp"

namespace thalweg::detail {

/// A unit of a source that is written now.
struct BoxUnit {
    UnitSource* source;
    std::vector<UnitPart> unit_parts;
    std::vector<UnitPart> ended;  ///< the unit parts without their data, see end_of()
    bool ends = true;             ///< all its ranks have ended their step, or wait at a mark
    bool any = false;             ///< has boxes, or announces a number of records
    bool sent = false;            ///< was sent to the other nodes before any rank wrote by boxes
    bool goes_on = false;         ///< must be sent to the other nodes after it is written here
};

/// Takes the next units of all ranks together; used on a single node. The boxes of one rank may be
/// only parts of rows: written alone, the rows would have to be read and written again for the
/// other ranks. A rank that is ahead of the others does not wait, as it needs the room in its
/// queue.
std::vector<BoxUnit> units_together(UnitWriterSources& sources);

/// Takes all available units; used on several nodes. Leaves a unit that ends the step of a rank if
/// this rank can wait. A node sends boxes to the others only after writing them itself, so nodes
/// that waited for all ranks would wait for each other.
std::vector<BoxUnit> units_as_they_come(UnitWriterSources& sources, UnitWriterHost& host);

/// Returns the unit parts of some units, sorted by rank. Units that go on to other nodes keep
/// copies.
std::vector<UnitPart> take_unit_parts(std::vector<BoxUnit>& units);

}  // namespace thalweg::detail
