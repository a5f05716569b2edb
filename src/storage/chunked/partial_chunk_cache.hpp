// Unpacked bands of variables whose chunks are written whole: ranges of them may be written in any
// order. A band that is written from its beginning to its end is passed on at once. Others are kept
// until their records are counted: those that get a place in the data file are written there, the
// first of the rest are kept in memory, and further ones in an unnamed file beside the data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "comm/comm.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/posix/system.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Identifies a band of a variable. If its chunks hold several records, the band includes all of
/// them, stored one record after another.
struct Band {
    int variable = 0;
    std::int64_t record = 0;  ///< first record
    std::int64_t number = 0;
    auto operator<=>(const Band&) const = default;
};

/// Places in the data file for bands that are stored as they are, before they are complete.
class BandPlaces {
public:
    /// Returns the address of a band, or -1 if it gets none.
    /// @param is_new  false: the file contains the band already
    virtual std::int64_t place(const Band& band, bool& is_new) = 0;
    /// Writes bytes of a band at an address of the file.
    virtual Status write_at(const Band& band, const char* from, std::int64_t bytes,
                            std::int64_t address) = 0;
    virtual Status read_at(char* to, std::int64_t bytes, std::int64_t address) = 0;
    /// Registers a band that is complete at its place, or was changed there.
    virtual Status add(const Band& band, std::int64_t address) = 0;

protected:
    ~BandPlaces() = default;
};

class PartialChunkCache {
public:
    /// Reads the elements of a band from the data file, or gives fill values.
    using Load = std::function<Status(const Band& band, char* to)>;
    /// Receives the elements of a band.
    using Take = std::function<Status(const Band& band, const char* elements)>;

    /// Tests if elements of a band need not be stored: they are fill values, and the data file
    /// lacks the band.
    using Lacks = std::function<bool(const Band& band, const char* elements, std::int64_t bytes)>;

    /// @param path    data file; the unnamed file is created in its folder when it is needed
    /// @param memory  bytes of bands that are kept in memory
    /// @param in_file  places in the data file; null: there are none
    PartialChunkCache(std::string path, const Definitions& definitions,
                      std::span<const ChunkGrid> grids, Load load, Take take, Lacks lacks,
                      std::int64_t memory, BandPlaces* in_file = nullptr);

    Status write(const Chunk& range);
    Status read(const Chunk& range, char* to);
    /// Passes on the bands for which `passes` returns true, and removes them.
    Status pass_on(const std::function<bool(const Band&)>& passes);

private:
    /// The part of a band that belongs to a range.
    struct Part {
        Band band;
        bool whole;           ///< the part is the whole band
        std::int64_t at;      ///< offset in the band, in bytes
        std::int64_t offset;  ///< offset in the range, in bytes
        std::int64_t bytes;
    };
    struct Place {
        std::int64_t at = 0;    ///< offset in memory, in the unnamed file or in the data file
        std::int64_t have = 0;  ///< bytes from the beginning of the band that are there
        bool in_file = false;   ///< in the data file
        bool empty = true;      ///< only fill values so far, which are not stored
    };
    using Places = std::map<Band, Place>;
    template <class Visit>
    Status for_parts(const Chunk& range, Visit&& visit) const;
    const ChunkGrid& grid(const Band& band) const { return grids_[band.variable]; }
    std::int64_t bytes_of(const Band& band) const;
    Status give_place(const Band& band, Place& place);
    Status load_rest(const Band& band, Place& place);
    Status pass_on(Places::iterator band);
    bool is_in_memory(const Band& band, const Place& place) const;
    Status store(const Band& band, const Place& place, const char* from, std::int64_t bytes,
                 std::int64_t at);
    Status make_file();

    std::string path_;
    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    Load load_;
    Take take_;
    Lacks lacks_;
    BandPlaces* in_file_;
    std::int64_t most_memory_;  ///< bands that end within this many bytes are in memory
    std::unique_ptr<Memory> memory_;
    Descriptor fd_;         ///< unnamed file, whose first bytes are not used
    std::int64_t end_ = 0;  ///< end of the last band
    Places places_;
    std::vector<std::vector<std::int64_t>> free_;  ///< places for reuse, for each variable
    std::vector<char> buffer_;                     ///< memory for one band
};

}  // namespace thalweg::detail
