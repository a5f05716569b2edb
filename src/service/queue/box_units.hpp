// Chooses the units that a writer takes if ranks write by boxes: boxes are taken as they come, and
// the ends of steps separately.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/queue/unit_sources.hpp"
#include "service/queue/unit_writer_host.hpp"

namespace thalweg::detail {

/// A unit of a source that is to be written now.
struct BoxUnit {
    UnitSource* source;
    std::vector<UnitPart> unit_parts;
    std::vector<UnitPart> ended;  ///< remains of the unit parts after writing, see end_of()
    bool ends = true;             ///< its ranks have ended their step, or wait at a mark
    bool any = false;             ///< has boxes, or the number of records
    bool sent = false;            ///< sent to the other nodes before boxes came
    bool goes_on = false;         ///< is sent to the other nodes when it is written here
};

/// Takes boxes of all ranks together, for a single node: boxes of one rank may be parts of rows,
/// and the rest would be read and written again. A rank that is ahead does not wait for the others,
/// as it needs the room in its queue.
std::vector<BoxUnit> units_together(UnitWriterSources& sources);

/// Takes all available units, for several nodes, except ends of steps of ranks that can wait. A
/// node's boxes are sent to the others only after they are written here, so nodes that waited for
/// all ranks would wait for each other.
std::vector<BoxUnit> units_as_they_come(UnitWriterSources& sources, UnitWriterHost& host);

/// Returns the unit parts of some units, by ranks. Units that go on to other nodes keep theirs.
std::vector<UnitPart> take_unit_parts(std::vector<BoxUnit>& units);

}  // namespace thalweg::detail
