// Drivers that write bytes into a file. A driver knows offsets and bytes, no decompositions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/wire.hpp"
#include "comm/comm.hpp"
#include "definitions/definitions.hpp"
#include "storage/file_identity.hpp"
#include "storage/header_padding.hpp"
#include "storage/placement.hpp"
#include "storage/source.hpp"
#include "storage/throttle.hpp"
#include "storage/write_counts.hpp"

namespace thalweg::detail {

/// The offsets of the data in a file, as its header gives them.
struct FileMap {
    std::int64_t record_begin = 0;     ///< offset of record 0
    std::int64_t record_bytes = 0;     ///< size of a record, padding included
    std::vector<std::int64_t> offset;  ///< offset of each variable (of its record 0)
    /// Size in bytes of each variable (of one record), including padding.
    std::vector<std::int64_t> padded;
    /// Unit of each variable, in bytes, that only one writer may write to; empty if all units are
    /// single elements.
    std::vector<std::int64_t> grain;
    std::int64_t fixed_end = 0;  ///< end of the last fixed-size variable, or of the header

    /// Returns the size in bytes of a complete file with a given number of records.
    std::int64_t size(std::int64_t records) const {
        return record_begin > 0 ? record_begin + records * record_bytes : fixed_end;
    }
};

/// Makes a map for data that are not stored in a single file: that of a classic file without a
/// header.
FileMap plain_map(const Definitions& definitions);

template <class Wire>
void carry(Wire& wire, Carried<Wire, FileMap> map) {
    wire(map.record_begin, map.record_bytes, map.offset, map.padded, map.grain, map.fixed_end);
}
/// Broadcasts a map from the root.
void broadcast(Comm& comm, FileMap& map, int root);

/// Elements of one variable that are written: a row-major range or a box, in the byte order that
/// the driver requires.
struct Chunk {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t first = 0;  ///< index of the first element in the variable
    std::int64_t elements = 0;
    std::int64_t offset = 0;  ///< offset of the first byte in the file
    const char* data = nullptr;
    std::int64_t bytes = 0;  ///< size of the elements, including the padding after the last one
    /// If not null: the elements are those of this box, dense in memory; `offset` is that of the
    /// variable, and `first` is not used.
    const Box* box = nullptr;
};

/// The state of an existing file that is opened to be continued.
struct Existing {
    bool is = false;         ///< true: an existing file is continued; false: the file is new
    std::int64_t first = 0;  ///< number of the record that the first step writes
    /// Number of records that were complete before; they stay counted in any case.
    std::int64_t kept = 0;
};

/// The header of a netCDF-4 file, kept for the next files of its session, because HDF5 takes long
/// to make one.
struct KeptHeader {
    std::vector<char> key;    ///< all that it depends on, but the values of global attributes
    std::vector<char> image;  ///< bytes of the file without data
};
using KeptHeaders = std::vector<KeptHeader>;

struct StorageOptions {
    Format format = Format::cdf2;
    HeaderPadding spacing = {};
    /// With storage=pnetcdf: write each variable by one collective call, instead of all data
    /// together.
    bool blocking = false;
    double rate = 0;  ///< limit on this rank's rate of writing, in bytes per second; 0:
                      ///< none
    int header_writer =
        0;                ///< header writer: the first writer, which alone writes the record count
    bool behind = false;  ///< write() and set_records() are called by a thread of the
                          ///< library
    int writers = 1;      ///< number of ranks that write
    bool beside_header_writer =
        false;        ///< this rank is on the header writer's node and shares memory with it
    int threads = 1;  ///< number of threads that compress, including the one that writes
    /// Limit in bytes on the elements of chunks that wait in memory: uncompressed ones whose
    /// records are not complete, and half as many that wait for the threads.
    std::int64_t waiting_chunks = 64 << 20;
    int all_beside = 0;  ///< number of other writers on the header writer's node
    std::int64_t stripe_count = -1, stripe_size = -1;  ///< hints to MPI-IO, in stripes and bytes;
                                                       ///< -1: none
    Existing existing = {};
    /// Sync the removal of records before new ones are written, and sync in close().
    bool durable = false;
    IndexConvention wording = {};  ///< order of dimensions and first index that messages use
    bool live = false;  ///< each file of a set is written under its final name from the start
    /// The path already exists: an empty file was created to claim the name.
    bool is_there = false;
    /// create() and open() may return a failure of this rank only; the caller makes the ranks
    /// agree.
    bool alone = false;
    /// This rank checks that the file it opens has the identity `claimed`.
    bool inspects = false;
    FileIdentity claimed = {};  ///< identity of the file that all ranks must find at the path
    KeptHeaders* kept_headers = nullptr;  ///< headers of earlier files; null: keep none
    /// Write checksums to a second file beside the data (storage/checksums).
    bool checksums = false;
    /// The existing file has checksums, and the run must continue them.
    bool has_checksums = false;
};

/// The properties of a driver.
struct StorageTraits {
    const char* name;
    Order order = Order::big_endian;  ///< byte order in which write() takes data
    /// create() and open() support StorageOptions::alone and StorageOptions::inspects.
    bool opens_alone = false;
    bool takes_boxes = true;    ///< begin_boxes() is supported
    bool closes_early = false;  ///< close_early() is supported
    /// Only the header writer has to call set_records(); otherwise every rank.
    bool header_writer_counts = true;
};

class Storage {
public:
    virtual ~Storage() = default;
    virtual StorageTraits traits() const = 0;
    /// Returns how a variable of an open file is stored; nothing if the driver has only one way to
    /// store variables.
    virtual std::optional<VariableStorage> stored([[maybe_unused]] int variable) const {
        return {};
    }
    /// Tests if elements of a variable that are never written read as its fill value, so that none
    /// need be written.
    virtual bool fills([[maybe_unused]] int variable) const { return false; }
    /// Tests if write() is collective over the writers, so that all must call it the same number of
    /// times.
    virtual bool collective() const = 0;

    /**
     * Creates the file and its header. Returns the offsets of the data on all ranks, including
     * those that do not write.
     * @param path    path of the data; an existing file is replaced
     * @param writer  this rank will call write()
     * @note Collective over comm; the same status on every rank
     */
    virtual Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                          const StorageOptions& options, bool writer, FileMap& map) = 0;

    /**
     * Opens an existing file; called in place of create(). Drops all records but those to keep
     * (options.existing), and changes nothing else.
     * @param definitions  definitions of the file in the file's order; variables may be left out
     * @param map          offsets of the data if the file's header contains them; otherwise
     *                     receives the offsets
     * @note Collective over comm; the same status on every rank
     */
    virtual Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                        const StorageOptions& options, bool writer, FileMap& map);

    /// Reserves space on the device for a range. Needed in drivers whose libraries do not report a
    /// full device. Called on every rank before a space is written. Local.
    virtual Status reserve([[maybe_unused]] std::int64_t offset,
                           [[maybe_unused]] std::int64_t bytes) {
        return {};
    }

    virtual Status write(std::span<const Chunk> chunks) = 0;

    /// From now on, write() accepts any parts of variables, in any order and repeatedly. Called on
    /// every writer; further calls do nothing.
    virtual void begin_boxes() {}

    /// Completes a step, or a unit of a queue, after its data and all data of records before
    /// `records` were passed to write(). With `mark`, earlier records may have changed, too. Local;
    /// called by the thread that writes.
    virtual Status end_unit([[maybe_unused]] std::int64_t records, [[maybe_unused]] bool mark) {
        return {};
    }
    /// Makes the next end_unit() write, or the next set_records() count, also records in chunks
    /// that wait for further records. Called before both for tw_sync, tw_close and `durable`.
    virtual void complete_records() {}
    /// Returns the interface by which several writers get addresses in the file; null if all
    /// addresses are known beforehand, or there is one writer.
    virtual Placement* placement() { return nullptr; }

    /// Does work that set_records() has left to the model's own thread. Libraries that the model
    /// may use, too, such as HDF5, are called only by that thread. Called from time to time. Local.
    virtual Status catch_up() { return {}; }

    /// Reads the elements that a chunk describes from the file; its data pointer is not used.
    /// Returns zeros where nothing was written. Only for drivers whose write() is local.
    virtual Status read(const Chunk& chunk, char* to) {
        std::memset(to, 0, chunk.bytes);
        return {};
    }

    /// Publishes the number of records. Called after all writes of these records have returned, on
    /// every rank, or on the header writer only (see StorageTraits).
    /// @param durable  sync the count
    virtual Status set_records(std::int64_t records, bool durable) = 0;

    /// Syncs the file. After all ranks have returned, their data survive a power failure.
    virtual Status sync() = 0;

    /// Closes what this rank has open, so that errors which the system reports only then are known
    /// before the ranks agree. If the rank writes again, it opens the file again. Local.
    virtual Status close_early() { return {}; }

    /// Closes the file. Called once on every rank.
    /// @param records  final number of records
    /// @param late     attributes that were set after define mode: pairs of a variable (-1: the
    ///                 file) and an attribute
    virtual Status close(std::int64_t records, const LateAttributes& late) = 0;

    const WriteCounts& counts() const { return counts_; }

protected:
    WriteCounts counts_;
    Throttle throttle_;
};

std::unique_ptr<Storage> make_posix_storage();
/// Makes a driver. If the build lacks PnetCDF (or netCDF-C and HDF5), its create() and open()
/// return that as an error.
std::unique_ptr<Storage> make_pnetcdf_storage();
std::unique_ptr<Storage> make_netcdf4_storage();
std::unique_ptr<Storage> make_zarr_storage();
/// Tests if this build has PnetCDF.
bool has_pnetcdf();
/// Initializes HDF5. MPI_Finalize calls functions in reverse order of their registration and ends
/// HDF5 in this way, so users of HDF5 must call this before they register their own functions.
void start_hdf5();
/// Makes a driver that stores nothing, to measure all work except that of the disk.
std::unique_ptr<Storage> make_memory_storage();
/// Makes the driver of this name.
std::unique_ptr<Storage> make_storage(const std::string& name);

}  // namespace thalweg::detail
