// The settings of files, and the resources of a session that its files share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/system/processors.hpp"
#include "base/text/index_convention.hpp"
#include "comm/call_agreement.hpp"
#include "definitions/definitions.hpp"
#include "exchange/pack/packers.hpp"
#include "service/spare_queues.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Background;
class NodeCopies;
class ServerConnection;

/// The settings of a file.
struct FileOptions {
    IndexConvention wording;  ///< how messages count indices and order dimensions
    std::string method = "auto", storage = "auto", format = "auto", writers = "auto";
    std::string readers = "auto";
    bool read_ahead = false;
    bool common_records = false;
    std::string tiles = "auto";  ///< auto or MxN (M by N tiles)
    bool tile_files = false;     ///< with method tiles: one file per tile
    bool by_variable = false;    ///< a folder, with one file per variable
    /// Tests if the path is a folder.
    bool folder() const { return by_variable || format == "zarr"; }
    bool shards = false;                               ///< these files are shards of a Zarr store
    std::int64_t stripe_count = -1, stripe_size = -1;  ///< -1: stripes of the folder
    std::int64_t alignment = -1;                       ///< -1: alignment of the file system
    std::int64_t piece = 0;
    /// Length in bytes from which a rank reads a run of consecutive bytes itself.
    std::int64_t straight = -1;
    std::int64_t buffer = 0;   ///< bytes per rank
    std::int64_t staging = 0;  ///< bytes per rank
    HeaderPadding spacing;
    /// Attributes may differ between ranks; those of rank 0 are written.
    bool first_attributes = false;
    bool append = false;  ///< the file exists, and is continued in place
    bool pnetcdf_blocking = false, live = false, durable = false;
    bool checksums = false;          ///< write checksums beside the file
    std::string manifest;            ///< path of a list of complete files; empty: none
    std::string run;                 ///< the run's name in this list
    std::string service = "inline";  ///< auto, inline, background or servers
    bool close_later = false;        ///< tw_close does not wait until a service has written
    std::int64_t queue = -1;         ///< bytes per rank; -1: two steps, at most `staging`
    /// Limit in bytes a second for all writers together, or for all readers; 0: no limit.
    std::int64_t bandwidth = 0;
    /// Packing of variables that have no settings of their own.
    VariableSettings packing;
};

/// Resources that all files of a session share, made when they are first needed.
class SessionResources {
public:
    virtual ~SessionResources() = default;
    SpareQueues spare_queues;
    /// Memory for copies, kept for the next file; the same on all ranks of a node if they share it.
    /// May be null.
    std::shared_ptr<NodeCopies> spare_copies;
    int copies_made = 0;       ///< number of memories for copies so far, the same on all ranks
    KeptHeaders kept_headers;  ///< of the netCDF-4 files whose headers this rank has written last
    /// Returns the node's memory for exchanges.
    /// @param status  this rank's own failure so far; the caller lets the ranks agree
    /// @return null, on all ranks of the node alike, if there is not enough
    /// @note Collective over the node
    virtual Memory* arena(Status& status) = 0;
    /// Returns the threads that write in the background.
    /// @note Collective
    virtual Background* background(Status& status) = 0;
    /// Returns the threads that copy.
    virtual Packers& packers() = 0;
    /// Returns the connection to the servers; null if there are none.
    virtual ServerConnection* port() = 0;
    /// Returns the object with which ranks check that they are in the same call.
    virtual CallAgreement& call_agreement() = 0;
    /// Free processors, for service=auto.
    FreeProcessors processors;
    /// Finds the length of a dimension of the session's decompositions; leaves `length` unchanged
    /// if none has it. Fails if they disagree.
    virtual Status find_length(const std::string& /*dim*/, std::int64_t& /*length*/) const {
        return {};
    }
};

}  // namespace thalweg::detail
