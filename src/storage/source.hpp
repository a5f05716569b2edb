// Where the data of an existing file come from: one source a format. It sees variables and ranges
// of their elements, no decompositions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "definitions/definitions.hpp"
#include "storage/throttle.hpp"

namespace thalweg::detail {

/// A box of a variable (of one record) that is read in its own row-major order.
struct SourcePart {
    Box box;
    /// One reader should have the bytes between two multiples of it; 0: those of an element.
    std::int64_t grain = 0;
    int file = 0;  ///< of those of the source

    friend bool operator==(const SourcePart& a, const SourcePart& b) {
        const std::size_t n = a.box.nd;
        return a.box.nd == b.box.nd && a.grain == b.grain && a.file == b.file &&
               std::equal(a.box.low.begin(), a.box.low.begin() + n, b.box.low.begin()) &&
               std::equal(a.box.count.begin(), a.box.count.begin() + n, b.box.count.begin());
    }
};

/// A row-major range of elements of one part, and where they are to go, in the byte order that the
/// source has for the variable.
struct ReadRange {
    int variable = 0;
    std::int64_t record = 0;
    const SourcePart* part = nullptr;  ///< one of those that parts() gives
    std::int64_t first = 0;            ///< element
    std::int64_t elements = 0;
    char* to = nullptr;
};

struct ClassicHeader;
struct Grid;

/// A variable, its record if it has some, and a part.
struct PlaceSource {
    int variable = 0;
    std::int64_t record = 0;
    SourcePart part{};
    std::int64_t first = 0;  ///< element of the part with which the place begins

    bool operator==(const PlaceSource&) const = default;
};

/// How the elements of a variable are stored.
struct VariableStorage {
    struct Filter {
        int id = 0;     ///< HDF5's number
        int level = 0;  ///< of deflate and zstd
    };
    std::vector<std::int64_t> chunk;  ///< of all dimensions; empty: it is not chunked
    std::vector<Filter> filters;      ///< in the order in which they were applied
};

struct ReadCounts {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
};

class Source {
public:
    virtual ~Source() = default;
    virtual const char* format() const = 0;
    /// Byte order of the data that read gives of a variable.
    virtual Order order(int variable) const = 0;
    /// Whether values of type byte are signed or unsigned, as the user likes.
    virtual bool byte_of_any_sign() const = 0;

    /// Why a variable of that name, which is none of the definitions, cannot be read; empty if
    /// there is no other reason.
    virtual std::string missing(const std::string& name) const {
        (void)name;
        return {};
    }

    /// How a variable is stored; of tiles, in the first one.
    virtual VariableStorage storage(int variable) const {
        (void)variable;
        return {};
    }
    /// Groups in the root group, of which nothing is read.
    virtual int groups() const { return 0; }

    /// What a model has to define that writes on in the file, and how the file stores it.
    /// @param writable  receives them: the definitions without what has to stay as it is
    /// @return TW_OK; TW_EUNSUPPORTED, and why it cannot be written on. Local; the same on every
    /// rank
    virtual Status find_writable(Definitions& writable) const;
    /// Whether records can be dropped. @return TW_OK, TW_EUNSUPPORTED
    virtual Status can_drop_records() const { return {}; }

    /// How a set of tiles is cut; null for other files, and for a set that is not a grid.
    virtual const Grid* tiles() const { return nullptr; }

    const Definitions& definitions() const { return definitions_; }
    /// What a classic file's header says of where its data lie; null for other formats.
    virtual const ClassicHeader* classic_header() const { return nullptr; }
    std::int64_t records() const { return records_; }
    /// As if there were no more records, until the next refresh().
    void show(std::int64_t records) { records_ = std::min(records_, records); }
    /// Of a dimension; of the record dimension as many as there are records.
    std::int64_t length(int dim) const {
        return definitions_.is_record_dim(dim) ? records_ : definitions_.dims[dim].length;
    }

    /// Files of which it consists.
    virtual int files() const { return 1; }
    /// Compares the files of a set: they have as many records, and the same values of what several
    /// of them hold.
    /// @param common_records  files with more records than others are no failure
    /// @return TW_OK, TW_EFORMAT @note Collective; the same status on every rank
    virtual Status check_files(Comm& comm, bool common_records) {
        (void)comm, (void)common_records;
        return {};
    }

    /// Looks for records that were added since. @note Collective; the same status on every rank
    virtual Status refresh(Comm& comm) = 0;

    /// The parts in which so many readers read a variable (of one record): together they are all of
    /// it. One, the whole, unless its data lie otherwise. The same on every rank.
    virtual std::vector<SourcePart> parts(int variable, int readers) const;

    /// Where a variable (of one record) begins in the file; orders what is read.
    virtual std::int64_t position(int variable, std::int64_t record) const = 0;
    /// Whether the file is long enough to hold it. Local; the same on every rank.
    virtual Status check(int variable, std::int64_t record) const = 0;

    /// Reads ranges that are sorted by position and part, neighbours in the file and in memory at
    /// once. Local; called by readers only, on one thread at a time.
    virtual Status read(std::span<const ReadRange> ranges) = 0;
    /// Frees what read() has kept, and closes the file until the next one. Local; not while a
    /// thread reads.
    virtual void forget() {}
    /// Whether a thread may read_behind() while the rank asks for anything else but read() and
    /// refresh().
    virtual bool reads_behind() const { return false; }
    /// Makes ready what the thread needs to read ranges. False: they are read by read() only.
    /// Local; by the rank, also while the thread reads.
    virtual bool prepare(std::span<const ReadRange> ranges) {
        (void)ranges;
        return true;
    }
    /// Frees what prepare() has opened for that. Local; by the rank, also while the thread reads.
    virtual void end_prepare() {}
    /// read() on the thread, of ranges that were prepared; what fails is read again by read().
    virtual Status read_behind(std::span<const ReadRange> ranges) { return read(ranges); }
    /// Frees what read_behind() has kept, and closes the file. By the thread, or while it does not
    /// read.
    virtual void forget_behind() { forget(); }
    /// Holds this reader to so many bytes a second; 0: no limit.
    void limit(double rate) { throttle_ = Throttle(rate); }

    const ReadCounts& counts() const { return counts_; }

protected:
    Definitions definitions_;
    std::int64_t records_ = 0;
    ReadCounts counts_;
    Throttle throttle_;
};

/**
 * Opens a file, or the set of tiles of that name where there is no such file: one rank looks at it,
 * the others are told.
 * @param reader  whether this rank will read
 * @return TW_OK, TW_EIO, TW_EFORMAT
 * @note Collective over comm; the same status on every rank
 */
std::unique_ptr<Source> open_source(Comm& comm, const std::string& path, bool reader,
                                    Status& status);

}  // namespace thalweg::detail
