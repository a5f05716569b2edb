// The settings of files, and the resources of a session that its files share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/processors.hpp"
#include "base/wording.hpp"
#include "comm/meeting.hpp"
#include "comm/segment.hpp"
#include "definitions/definitions.hpp"
#include "exchange/packers.hpp"
#include "telemetry/output_times.hpp"

namespace thalweg::detail {

class Background;
class Port;

/// The settings of a file.
struct FileOptions {
    Wording wording;  ///< wording of texts
    std::string method = "auto", storage = "auto", format = "auto", writers = "auto";
    std::string readers = "auto";
    bool read_ahead = false;
    bool common_records = false;
    std::string tiles = "auto";                         ///< auto or MxN
    bool tile_files = false;                            ///< with method tiles: one file per tile
    bool by_variable = false;                           ///< a folder, with one file per variable
    bool shards = false;                                ///< these files are shards of a Zarr store
    std::int64_t writer_first = 0, writer_stride = -1;  ///< -1: spread evenly
    std::int64_t stripe_count = -1, stripe_size = -1;   ///< -1: the folder's
    std::int64_t alignment = -1;                        ///< -1: the file system's
    std::int64_t piece = 0;
    std::int64_t straight = -1;  ///< bytes of a run from which on each rank reads its own data
    std::int64_t buffer = 0;     ///< bytes per rank
    std::int64_t staging = 0;    ///< bytes per rank
    std::int64_t header_pad = 0;
    bool first_attributes = false;  ///< they are rank 0's, and may differ
    std::string references = "no";  ///< Zarr references to the file: no, yes, or a path
    std::string stream;             ///< path of references to all files that name it; may be empty
    bool append = false;            ///< the file exists, and is continued under its name
    bool pnetcdf_blocking = false, live = false, durable = false;
    std::string service = "inline";      ///< auto, inline, background or servers
    std::int64_t background_after = -1;  ///< service=auto: number of steps; -1: measured
    bool close_later = false;            ///< tw_close does not wait until a service has written
    std::int64_t queue = -1;             ///< bytes per rank; -1: two steps, at most `staging`
    bool queue_inline = false;           ///< a rank that finds the queue full writes itself
    std::int64_t bandwidth = 0;          ///< bytes a second of all writers, or readers; 0: no limit
    VariableSettings packing;            ///< for all variables
};

/// Resources that all files of a session share, made when they are first needed.
class SessionResources {
public:
    virtual ~SessionResources() = default;
    /// Memory of a queue of this rank that no file uses: touching new memory costs more than the
    /// copies into it. May be null.
    std::unique_ptr<Segment> spare_queue;
    /// Memory of copies, likewise, which the system may take back meanwhile. May be null.
    std::unique_ptr<Memory> spare_copies;
    /// Returns the node's memory for exchanges.
    /// @note Collective
    virtual Memory* arena(Status& status) = 0;
    /// Returns the threads that write in the background.
    /// @note Collective
    virtual Background* background(Status& status) = 0;
    /// Returns the threads that copy.
    virtual Packers& packers() = 0;
    /// The way to the servers; null where there are none.
    virtual Port* port() = 0;
    /// Where the ranks find out whether they are in the same call.
    virtual Meeting& meeting() = 0;
    /// As far as the ranks have found out, for service=auto.
    std::optional<FreeProcessors> processors;
    /// What the outputs of files that are closed have cost this rank.
    OutputTimes outputs;
    /// Returns the seconds that the model has spent outside the library's calls so far.
    virtual double computing() const { return 0; }
};

}  // namespace thalweg::detail
