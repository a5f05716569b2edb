// Sources of an existing file's data: one per format. They know variables and ranges of elements,
// no decompositions.
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
#include "storage/variable_storage.hpp"

namespace thalweg::detail {

/// A box of a variable (of one record) whose elements are read in row-major order of the box.
struct SourcePart {
    Box box;
    /// Distance in bytes between offsets at which the part may be divided among readers; 0: one
    /// element.
    std::int64_t grain = 0;
    int file = 0;  ///< number of the file, if the source consists of several

    friend bool operator==(const SourcePart& a, const SourcePart& b) {
        const std::size_t n = a.box.nd;
        return a.box.nd == b.box.nd && a.grain == b.grain && a.file == b.file &&
               std::equal(a.box.low.begin(), a.box.low.begin() + n, b.box.low.begin()) &&
               std::equal(a.box.count.begin(), a.box.count.begin() + n, b.box.count.begin());
    }
};

/// A row-major range of elements of one part, and the memory into which they are read. Elements are
/// returned in the byte order that the source has for the variable.
struct ReadRange {
    int variable = 0;
    std::int64_t record = 0;
    /// Part that contains the elements; one of those returned by parts().
    const SourcePart* part = nullptr;
    std::int64_t first = 0;  ///< index of the first element in the part
    std::int64_t elements = 0;
    char* to = nullptr;
};

struct ClassicHeader;
struct Grid;

/// A part of a variable, and of one record if the variable has records.
struct PlaceSource {
    int variable = 0;
    std::int64_t record = 0;
    SourcePart part{};
    std::int64_t first = 0;  ///< index in the part of the first element to read

    bool operator==(const PlaceSource&) const = default;
};

struct ReadCounts {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
};

/// The functions by which a source is read ahead. The thread that reads ahead may call
/// read_behind() while the rank calls functions of the source other than read() and refresh().
class AheadSource {
public:
    virtual ~AheadSource() = default;
    /// Prepares ranges, so that the thread can read them. Returns false if only read() can read
    /// them. Local; the rank may call this while the thread reads.
    virtual bool prepare([[maybe_unused]] std::span<const ReadRange> ranges) { return true; }
    /// Closes the files that prepare() has opened. Local; the rank may call this while the thread
    /// reads.
    virtual void end_prepare() {}
    /// Reads prepared ranges. After an error, Source::read() reads them again.
    virtual Status read_behind(std::span<const ReadRange> ranges) = 0;
    /// Frees the caches of read_behind() and closes the file. Called by the thread, or while it
    /// does not read.
    virtual void forget_behind() {}
};

/// The files of a source.
struct FileSet {
    int files = 1;
    /// How the files, as tiles, divide the dimensions; null if they do not form a grid.
    const Grid* grid = nullptr;
};

class Source : public AheadSource {
public:
    Format format() const { return format_; }
    /// Returns the byte order in which read() returns the elements of a variable.
    virtual Order order(int variable) const = 0;

    /// Returns the reason why a variable cannot be read that is not among the definitions; empty if
    /// it does not exist.
    virtual std::string missing([[maybe_unused]] const std::string& name) const { return {}; }

    /// Returns how a variable is stored; for a set of tiles, how it is stored in the first tile.
    virtual VariableStorage storage([[maybe_unused]] int variable) const { return {}; }
    /// Returns the number of child groups of the root group. The library does not read them.
    int groups() const { return groups_; }

    /// Finds the definitions that a model must repeat to continue the file, with the settings of
    /// their storage.
    /// @param writable  receives them
    /// @return TW_OK; TW_EUNSUPPORTED, with the reason why it cannot be continued. Local; the same
    ///     on every rank
    virtual Status find_writable(Definitions& writable) const;
    /// Tests if records can be dropped from the file.
    /// @return TW_OK, TW_EUNSUPPORTED
    virtual Status can_drop_records() const { return {}; }

    const Definitions& definitions() const { return definitions_; }
    /// Returns the header of a classic file; null for other formats.
    virtual const ClassicHeader* classic_header() const { return nullptr; }
    std::int64_t records() const { return records_; }
    /// Hides the records from `records` on until the next refresh().
    void show(std::int64_t records) { records_ = std::min(records_, records); }

    /// Returns the files of which the source consists.
    virtual FileSet files() const { return {}; }
    /// Compares the files of a set: their numbers of records, and the values of variables that are
    /// in several files.
    /// @param common_records  it is not an error if some files have more records than others
    /// @return TW_OK, TW_EFORMAT
    /// @note Collective; the same status on every rank
    virtual Status check_files([[maybe_unused]] Comm& comm, [[maybe_unused]] bool common_records) {
        return {};
    }

    /// Searches for records that were added to the file since it was opened or refreshed.
    /// @note Collective; the same status on every rank
    virtual Status refresh(Comm& comm) = 0;

    /// Returns the parts into which a variable (of one record) is divided for a number of readers.
    /// Together they cover the variable. There is one part unless the data are divided in the file.
    /// Same result on every rank.
    virtual std::vector<SourcePart> parts(int variable, int readers) const;

    /// Returns the number by which reads of variables (of one record) are sorted: the offset of the
    /// data in the file.
    virtual std::int64_t position(int variable, std::int64_t record) const = 0;
    /// Checks that the file is long enough to hold the data. Local; the same on every rank.
    virtual Status check(int variable, std::int64_t record) const = 0;

    /// Reads ranges, which must be sorted by position and part. Ranges that are adjacent in the
    /// file and in memory are read by one call. Local; called only on readers, by one thread at a
    /// time.
    virtual Status read(std::span<const ReadRange> ranges) = 0;
    /// Reads a chunk without undoing its filters. `number` is its position, in row-major order,
    /// among the chunks that hold the record. Local; called only on readers.
    /// @param bytes  empty if the chunk was never written
    virtual Status read_stored(int variable, std::int64_t record, std::int64_t number,
                               std::vector<char>& bytes);
    /// Frees the caches of read() and closes the file until the next read. Local; must not be
    /// called while a thread reads.
    virtual void forget() {}
    /// Limits the rate at which this reader reads, in bytes per second; 0: no limit.
    void limit(double rate) { throttle_ = Throttle(rate); }

    const ReadCounts& counts() const { return counts_; }

protected:
    Format format_ = Format::cdf2;
    int groups_ = 0;
    Definitions definitions_;
    std::int64_t records_ = 0;
    ReadCounts counts_;
    Throttle throttle_;
};

/// Returns the shape of a variable, record dimension included.
inline std::vector<std::int64_t> shape_of(const Source& source, int variable) {
    const Variable& v = source.definitions().variables[variable];
    std::vector<std::int64_t> shape = v.shape;
    if (v.record) shape.insert(shape.begin(), source.records());
    return shape;
}

/**
 * Opens a file. If there is no file of that name, opens the set of tiles of that name. One rank
 * inspects the files and informs the others.
 * @param reader  this rank will call read()
 * @return TW_OK, TW_EIO, TW_EFORMAT
 * @note Collective over comm; the same status on every rank
 */
std::unique_ptr<Source> open_source(Comm& comm, const std::string& path, bool reader,
                                    Status& status);

/// Opens a classic or a netCDF-4 file; see open_source().
std::unique_ptr<Source> open_classic_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status);
std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status);
/// Opens a set of tiles, which are read as if they were one file.
std::unique_ptr<Source> open_tile_source(Comm& comm, const std::string& path, Status& status);
/// Opens a folder with a netCDF file for each variable, read as if they were one file.
std::unique_ptr<Source> open_variable_source(Comm& comm, const std::string& path, Status& status);

/// Makes a source of type `Made` and opens it. Returns null after a failure.
/// @note Collective; the same status on every rank
template <class Made, class... Args>
std::unique_ptr<Source> opened_source(Comm& comm, Status& status, const Args&... args) {
    auto source = std::make_unique<Made>(args...);
    status = source->open(comm);
    if (!status.ok()) return nullptr;
    return source;
}

}  // namespace thalweg::detail
