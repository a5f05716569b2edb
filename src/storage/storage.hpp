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

#include "comm/comm.hpp"
#include "definitions/definitions.hpp"
#include "storage/placement.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/source.hpp"
#include "storage/throttle.hpp"
#include "storage/write_counts.hpp"

namespace thalweg::detail {

/// The offsets of the data in a file, as its header gives them.
struct FileMap {
    std::int64_t record_begin = 0;     ///< offset of record 0
    std::int64_t record_bytes = 0;     ///< size of a record, padding included
    std::vector<std::int64_t> offset;  ///< offset of each variable (of its record 0)
    /// Bytes of each variable (of one record), including padding.
    std::vector<std::int64_t> padded;
    /// For each variable, unit in bytes that only one writer may write to.
    std::vector<std::int64_t> grain;
    std::int64_t fixed_end = 0;  ///< end of the last fixed-size variable, or of the header

    /// Returns the size of a complete file with so many records.
    std::int64_t size(std::int64_t records) const {
        return record_begin > 0 ? record_begin + records * record_bytes : fixed_end;
    }
};

/// Makes a map for data that are not laid out in a single file: variables in order, without a
/// header.
/// @param padded  with the padding of the classic formats; else there is no padding
FileMap plain_map(const Definitions& definitions, bool padded);

/// Encode a map as words for a message, and decode it.
std::vector<std::int64_t> words_of(const FileMap& map);
FileMap map_of(std::span<const std::int64_t> words);
/// Broadcasts a map from the root; throws NoMemoryAnywhere on all ranks if one has no memory.
void broadcast(Comm& comm, FileMap& map, int root);

/// A row-major range of one variable, or a box of it, in the byte order that the driver requires.
struct Chunk {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t first = 0;  ///< first element
    std::int64_t elements = 0;
    std::int64_t offset = 0;  ///< offset in the file of the first byte
    const char* data = nullptr;
    std::int64_t bytes = 0;  ///< bytes of the elements and of the padding after the last one
    /// A box, dense in memory; then `offset` is that of the variable, and `first` is unused.
    const Box* box = nullptr;
};

/// The state of an existing file that is opened to be continued.
struct Existing {
    bool is = false;         ///< false: the file is new
    std::int64_t first = 0;  ///< number of the record that the first step writes
    std::int64_t kept = 0;   ///< number of records that stay counted, whatever is written
};

struct StorageOptions {
    Format format = Format::cdf2;
    std::int64_t header_pad = 4096;
    /// Pnetcdf: one collective call for each variable instead of one for each round.
    bool blocking = false;
    double rate = 0;             ///< limit of bytes per second for this rank; 0: none
    int keeper = 0;              ///< rank that counts the records in the header: the first writer
    bool behind = false;         ///< a thread of the library calls write() and set_records()
    bool one_writer = true;      ///< only the keeper writes
    bool apart = false;          ///< the writers cannot wait for each other during write()
    bool beside_keeper = false;  ///< this rank shares memory with the keeper
    std::int64_t stripe_count = -1, stripe_size = -1;  ///< hints to MPI-IO; -1: none
    Existing existing = {};
    bool durable = false;   ///< sync dropped records before others are written, and sync in close()
    Wording wording = {};   ///< how messages count indices and order dimensions
    bool live = false;      ///< each file of a set has its final name from the start
    bool is_there = false;  ///< an empty file was created at the path to claim the name
    /// create() and open() may return this rank's own failure; the caller lets the ranks agree.
    bool alone = false;
    bool inspects = false;       ///< this rank checks that the file has the identity `claimed`
    FileIdentity claimed = {};   ///< identity that every rank should find when it opens the file
    bool checksums = false;      ///< write checksums beside the file (storage/sums)
    bool has_checksums = false;  ///< the existing file has checksums, which are continued
};

class Storage {
public:
    virtual ~Storage() = default;
    virtual const char* name() const = 0;
    /// Returns how a variable of an open file is stored, if the driver has more than one way.
    virtual std::optional<VariableStorage> stored(int variable) const {
        (void)variable;
        return {};
    }
    /// Returns the byte order of the data passed to write().
    virtual Order order() const = 0;
    /// Tests if write() is collective over the writers, so that all must call it equally often.
    virtual bool collective() const = 0;
    /// Tests if create() and open() support StorageOptions::alone and StorageOptions::inspects.
    virtual bool opens_alone() const { return false; }

    /**
     * Creates the file with its header. Returns the offsets of the data on all ranks, whether they
     * write or not.
     * @param path    path of the data; an existing file is replaced
     * @param writer  this rank will write
     * @note Collective over comm; the same status on every rank
     */
    virtual Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                          const StorageOptions& options, bool writer, FileMap& map) = 0;

    /**
     * Opens an existing file, instead of create(). Drops the records after those that are kept
     * (options.existing), and changes nothing else.
     * @param definitions  those of the file, in its order; variables may be left out
     * @param map          offsets of its data, if a header contains them; else receives them
     * @note Collective over comm; the same status on every rank
     */
    virtual Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                        const StorageOptions& options, bool writer, FileMap& map) {
        (void)comm, (void)definitions, (void)options, (void)writer, (void)map;
        return failure(TW_EUNSUPPORTED, "{}: storage={} cannot append to a file", OfFile{path},
                       name());
    }

    /// Reserves space on the device for a range, in drivers whose libraries do not report a full
    /// device. Called on every rank before a space is written; local.
    virtual Status reserve(std::int64_t offset, std::int64_t bytes) {
        (void)offset, (void)bytes;
        return {};
    }

    virtual Status write(std::span<const Chunk> chunks) = 0;

    /// Tests if the driver supports begin_boxes().
    virtual bool takes_boxes() const { return !collective(); }
    /// Makes write() local from now on, for any parts of variables, in any order and repeatedly. If
    /// write() was collective, set_records() becomes collective over all ranks. Called on every
    /// writer, any number of times.
    virtual void begin_boxes() {}

    /// Completes a step whose data were all passed to write(). Called on every rank after the
    /// writes; in drivers that are not collective, on the ranks whose writes succeeded.
    /// @note Collective, as write is
    virtual Status complete() { return {}; }

    /// Tests if set_records() does nothing on ranks other than the keeper.
    virtual bool keeper_counts() const { return true; }

    /// Completes a unit whose data, and everything of the records before `records`, were passed to
    /// write(). Replaces complete() if writers do not wait for each other (StorageOptions::apart).
    /// At a `mark`, earlier records may have changed. Local; called by the thread that writes.
    virtual Status end_unit(std::int64_t records, bool mark) {
        (void)records, (void)mark;
        return {};
    }
    /// Returns the interface by which such writers get places in the file; null if the places are
    /// known.
    virtual Placement* placement() { return nullptr; }
    /// Change options.apart: separate() makes the writers independent, the other function makes
    /// them wait for each other again. Everything passed to write() must be in the file. If
    /// separate() fails, the writers wait as before; the status is the same on every rank.
    /// @note Collective over the communicator of create()
    virtual Status separate(Comm& comm) {
        (void)comm;
        return {};
    }
    virtual void meet(Comm& comm) { (void)comm; }

    /// Does work that set_records() has left to the model's own thread, as libraries that the model
    /// may use, too, are called only by that thread. Called there from time to time; local.
    virtual Status catch_up() { return {}; }

    /// Reads the data that were written at a chunk's place (the chunk's own data are ignored);
    /// zeros if nothing was written. For drivers that are not collective.
    virtual Status read(const Chunk& chunk, char* to) {
        std::memset(to, 0, chunk.bytes);
        return {};
    }

    /// Publishes the number of records. Called on every rank after all writes of these records have
    /// returned; only on the keeper if keeper_counts().
    /// @param durable  sync the count
    virtual Status set_records(std::int64_t records, bool durable) = 0;

    /// Syncs the file. The data that a rank has written survive a power failure once all ranks have
    /// returned.
    virtual Status sync() = 0;

    /// Closes the file. Called once on every rank.
    /// @param records  final number of records
    /// @param late     attributes set after the definitions ended: (variable or -1, attribute)
    virtual Status close(std::int64_t records,
                         const std::vector<std::pair<int, Attribute>>& late) = 0;

    const WriteCounts& counts() const { return counts_; }

protected:
    WriteCounts counts_;
    Throttle throttle_;
};

std::unique_ptr<Storage> make_posix_storage();
/// Makes a driver. In a build without PnetCDF, or without netCDF-C and HDF5, its create() and
/// open() return this as an error.
std::unique_ptr<Storage> make_pnetcdf_storage();
std::unique_ptr<Storage> make_netcdf4_storage();
/// Tests if this build has PnetCDF.
bool has_pnetcdf();
/// Starts HDF5. MPI_Finalize ends it before functions that were registered earlier, so users of
/// HDF5 must call this before they register with MPI_Finalize.
void start_hdf5();
/// Makes a driver that stores nothing, to measure everything except the disk.
std::unique_ptr<Storage> make_memory_storage();
/// Makes the driver with this name().
std::unique_ptr<Storage> make_storage(const std::string& name);

}  // namespace thalweg::detail
