// Sources of an existing file's data: one per format. They know variables and ranges of elements,
// no decompositions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Reads ranges of a file. A source has a reader for its rank, and one for the thread that reads
/// ahead.
class RangeReader {
public:
    virtual ~RangeReader() = default;
    /// Prepares ranges, so that another thread than the rank's can read them. Returns false if only
    /// the rank can. Local; called by the rank, also while the thread reads.
    virtual bool prepare([[maybe_unused]] std::span<const ReadRange> ranges) { return true; }
    /// Closes the files that prepare() has opened. Local; called by the rank, also while the thread
    /// reads.
    virtual void end_prepare() {}
    /// Reads ranges, which must be sorted by position and part. Ranges that are adjacent in the
    /// file and in memory are read by one call. Local; called by one thread at a time.
    virtual Status read(std::span<const ReadRange> ranges) = 0;
    /// Frees the caches of read() and closes the file until the next read. Local; must not be
    /// called while another thread reads.
    virtual void forget() = 0;
};

/// Properties of a stored variable besides its definition.
struct SourceVariable {
    Order order = Order::big_endian;  ///< byte order in which its elements are read
    VariableStorage storage;          ///< of the first tile, if the file is a set of tiles
    Packing packing;                  ///< settings with which elements must be appended
    std::optional<FillValue> fill;    ///< value of missing elements, if the file's maker chose it
    std::string no_append;  ///< reason why it cannot be appended to; empty if that is possible
};

/// Contents and properties of an existing file. The same on every rank.
struct SourceContents {
    Format format = Format::cdf2;
    int groups = 0;  ///< number of child groups of the root group; they are not read
    Definitions definitions;
    std::int64_t records = 0;
    std::vector<SourceVariable> variables;
    std::string no_append;  ///< reason why nothing can be appended; empty if that is possible
    /// Name of a variable that has records, but cannot be written; empty if there is none.
    std::string other_records;
    /// Reason why variables may be missing among the definitions; empty if there is none.
    std::string unlisted;
    const ClassicHeader* header = nullptr;  ///< header of a classic file; null for other formats
    int files = 1;
    /// How the files, as tiles, divide the dimensions; null if they do not form a grid.
    const Grid* grid = nullptr;
};

/// An existing file. Its own reader is that of the rank.
class Source : public RangeReader {
public:
    const SourceContents& contents() const { return contents_; }
    const Definitions& definitions() const { return contents_.definitions; }
    std::int64_t records() const { return contents_.records; }
    /// Returns the byte order in which the elements of a variable are read.
    Order order(int variable) const { return contents_.variables[variable].order; }
    /// Hides the records from `records` on until the next refresh().
    void show(std::int64_t records) { contents_.records = std::min(contents_.records, records); }

    /// Returns the reader of the thread that reads ahead. While the thread reads, the rank may call
    /// all functions of the source but read() and refresh().
    virtual RangeReader& ahead() { return *this; }

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

    /// Reads a chunk without undoing its filters. `number` is its position, in row-major order,
    /// among the chunks that hold the record. Local; called only on readers.
    /// @param bytes  empty if the chunk was never written
    virtual Status read_stored(int variable, std::int64_t record, std::int64_t number,
                               std::vector<char>& bytes);
    /// Limits the rate at which this reader reads, in bytes per second; 0: no limit.
    void limit(double rate) { throttle_ = Throttle(rate); }

    const ReadCounts& counts() const { return counts_; }

protected:
    SourceContents contents_;
    ReadCounts counts_;
    Throttle throttle_;
};

/// Returns the reason why a variable cannot be read that is not among the definitions; empty if it
/// does not exist.
std::string missing(const SourceContents& contents, const std::string& name);

/// Finds the definitions that a model must repeat to continue a file, with the settings of their
/// storage.
/// @return TW_OK; TW_EUNSUPPORTED, with the reason why it cannot be continued
Status find_writable(const SourceContents& contents, Definitions& writable);

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
