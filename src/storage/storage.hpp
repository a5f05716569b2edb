// How bytes get into a file: one driver a way. A driver sees offsets and bytes, no decompositions.
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

/// Where the data of a file lies, known from its header.
struct FileMap {
    std::int64_t record_begin = 0;     ///< of record 0
    std::int64_t record_bytes = 0;     ///< from record to record
    std::vector<std::int64_t> offset;  ///< of each variable (of its record 0)
    std::vector<std::int64_t> padded;  ///< bytes of each variable (of one record), with padding
    std::vector<std::int64_t> grain;   ///< bytes of each variable that one writer must have whole
    std::int64_t fixed_end = 0;        ///< of the last fixed-size variable, or the header

    /// Size of a complete file.
    std::int64_t size(std::int64_t records) const {
        return record_begin > 0 ? record_begin + records * record_bytes : fixed_end;
    }
};

/// A map as words for messages, and back.
/// A map that serves where no one file is laid out by it: places in order, without a header.
/// @param padded  as the classic formats pad; else every byte is an element's
FileMap plain_map(const Definitions& definitions, bool padded);

std::vector<std::int64_t> words_of(const FileMap& map);
FileMap map_of(std::span<const std::int64_t> words);
/// Hands a map from the root to all ranks; throws NoMemoryAnywhere on all, if one has no memory.
void broadcast(Comm& comm, FileMap& map, int root);

/// A row-major range of one variable, or a box of it, in the byte order that the driver asks for.
struct Chunk {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t first = 0;  ///< element
    std::int64_t elements = 0;
    std::int64_t offset = 0;  ///< of the first byte in the file
    const char* data = nullptr;
    std::int64_t bytes = 0;    ///< of the elements, and of the padding after the last one
    const Box* box = nullptr;  ///< a box, dense in memory; then `offset` is the variable's, and
                               ///< first has no meaning
};

/// Of a file that is opened to be written on.
struct Existing {
    bool is = false;         ///< else the file is new
    std::int64_t first = 0;  ///< record that the first step writes
    std::int64_t kept = 0;   ///< records that stay counted, whatever is written
};

struct StorageOptions {
    Format format = Format::cdf2;
    std::int64_t header_pad = 4096;
    bool blocking = false;   ///< pnetcdf: one collective a variable instead of one a round
    double rate = 0;         ///< most bytes a second of this rank; 0: no limit
    int keeper = 0;          ///< the rank that counts the records in the header: the first writer
    bool behind = false;     ///< write() and set_records() are called by a thread of the library's
    bool one_writer = true;  ///< the keeper, and no other
    bool apart = false;      ///< the writers cannot wait for each other when they write
    bool beside_keeper = false;                        ///< this rank shares memory with it
    std::int64_t stripe_count = -1, stripe_size = -1;  ///< hints to MPI-IO; -1: none
    Existing existing = {};
    bool durable = false;   ///< records that are dropped, before others are written, and close()
    Wording wording = {};   ///< of texts
    bool live = false;      ///< of a set of files: each has its own name from the start
    bool is_there = false;  ///< the path leads to an empty file, made by the claim to its name
    /// create() and open() may return this rank's own failure: the caller lets the ranks agree.
    bool alone = false;
    bool looks = false;         ///< this rank checks that the file is the one that was claimed
    FileIdentity claimed = {};  ///< what every rank that opens the file should find
};

class Storage {
public:
    virtual ~Storage() = default;
    virtual const char* name() const = 0;
    /// How a variable of an open file is stored, if the driver has more than one way.
    virtual std::optional<VariableStorage> stored(int variable) const {
        (void)variable;
        return {};
    }
    /// Byte order of the data given to write.
    virtual Order order() const = 0;
    /// Whether write is collective over the writers: then all call it equally often.
    virtual bool collective() const = 0;
    /// Tests if create() and open() heed StorageOptions::alone and StorageOptions::looks.
    virtual bool opens_alone() const { return false; }

    /**
     * Makes the file with its header and tells where the data go. The map is for writers and
     * non-writers alike.
     * @param path    where the data go; an existing file is replaced
     * @param writer  whether this rank will write
     * @note Collective over comm; the same status on every rank
     */
    virtual Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                          const StorageOptions& options, bool writer, FileMap& map) = 0;

    /**
     * Opens a file that is there, in place of create(): drops what lies behind the records that
     * are kept (options.existing), and leaves all else as it is.
     * @param definitions  those of the file, in its order; variables may be left out
     * @param map          where its data lie, as far as a header tells; receives it else
     * @note Collective over comm; the same status on every rank
     */
    virtual Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                        const StorageOptions& options, bool writer, FileMap& map) {
        (void)comm, (void)definitions, (void)options, (void)writer, (void)map;
        return failure(TW_EUNSUPPORTED, "{}: storage={} cannot append to a file", path, name());
    }

    /// Makes sure that a range of the file has its place on the device, for drivers whose libraries
    /// lose such an error. Called on every rank before the writes of a space; a local matter.
    virtual Status reserve(std::int64_t offset, std::int64_t bytes) {
        (void)offset, (void)bytes;
        return {};
    }

    virtual Status write(std::span<const Chunk> chunks) = 0;

    /// Whether begin_boxes() may be called.
    virtual bool takes_boxes() const { return !collective(); }
    /// From now on write() is local and takes any parts of variables, in any order and again. Then
    /// set_records() is collective over all ranks where write() was. Called on every writer, any
    /// number of times.
    virtual void begin_boxes() {}

    /// All of a step was given to write. Called on every rank after the writes; of drivers that are
    /// not collective, on those whose writes succeeded. @note Collective, as write is
    virtual Status complete() { return {}; }

    /// Whether set_records() does nothing on ranks other than the keeper.
    virtual bool keeper_counts() const { return true; }

    /// Where writers do not wait for each other (StorageOptions::apart), in place of complete():
    /// all of a unit was given to write, and everything of the records before `records`. At a
    /// `mark` records that were there already may have changed. Local, by whoever writes.
    virtual Status end_unit(std::int64_t records, bool mark) {
        (void)records, (void)mark;
        return {};
    }
    /// How such writers get places in the file; null where they know the places already.
    virtual Placement* placement() { return nullptr; }
    /// From now on the writers do not wait for each other, or do so after all, as options.apart
    /// has it at first. Everything that was given to write is in the file. If separate() fails they
    /// meet as before; the status is the same on every rank.
    /// @note Collective over the communicator of create()
    virtual Status separate(Comm& comm) {
        (void)comm;
        return {};
    }
    virtual void meet(Comm& comm) { (void)comm; }

    /// Does what set_records() has left for the model's own thread: libraries that the model may
    /// use, too, are called from that one alone. Called there from time to time; local.
    virtual Status catch_up() { return {}; }

    /// Reads what was written at a chunk's place (its data are not looked at), for drivers that are
    /// not collective; zeros where there is nothing.
    virtual Status read(const Chunk& chunk, char* to) {
        std::memset(to, 0, chunk.bytes);
        return {};
    }

    /// Publishes the number of records, with `durable` for good. Called on every rank after all
    /// writes of them returned; on the keeper alone where keeper_counts().
    virtual Status set_records(std::int64_t records, bool durable) = 0;

    /// What was written by this rank survives a power loss when all ranks have returned.
    virtual Status sync() = 0;

    /// Called on every rank, once; `records` is the final number. `late` lists attributes set after
    /// the definitions ended: (variable or -1, attribute).
    virtual Status close(std::int64_t records,
                         const std::vector<std::pair<int, Attribute>>& late) = 0;

    const WriteCounts& counts() const { return counts_; }

protected:
    WriteCounts counts_;
    Throttle throttle_;
};

std::unique_ptr<Storage> make_posix_storage();
/// Where the library was built without PnetCDF, or without netCDF-C and HDF5: a driver whose
/// create() and open() say so.
std::unique_ptr<Storage> make_pnetcdf_storage();
std::unique_ptr<Storage> make_netcdf4_storage();
/// Whether this build has PnetCDF.
bool has_pnetcdf();
/// Starts HDF5. MPI_Finalize ends it before whatever was registered earlier, so what uses it until
/// then has to call this before it asks to hear of MPI_Finalize.
void start_hdf5();
/// Keeps nothing: measures everything but the disk.
std::unique_ptr<Storage> make_memory_storage();
/// By the name that name() gives.
std::unique_ptr<Storage> make_storage(const std::string& name);

}  // namespace thalweg::detail
