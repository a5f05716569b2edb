// Bands of variables whose chunks are written whole, while any ranges of them are written in any
// order: unpacked, in an unnamed file beside the data. They are packed when their records count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Of one record, or of all records of its chunks, one after another.
struct Band {
    int variable = 0;
    std::int64_t record = 0;  ///< the first one
    std::int64_t number = 0;
    auto operator<=>(const Band&) const = default;
};

class UnpackedBands {
public:
    /// Brings the elements of a band as the data file has them, or fill values.
    using Load = std::function<Status(const Band& band, char* to)>;
    /// Takes the elements of a band, which it may change.
    using Take = std::function<Status(const Band& band, char* elements)>;

    /// @param path  of the data file, in whose folder the unnamed one is made when it is needed
    UnpackedBands(std::string path, const Definitions& definitions,
                  std::span<const ChunkGrid> grids, Load load);
    ~UnpackedBands();
    UnpackedBands(const UnpackedBands&) = delete;
    UnpackedBands& operator=(const UnpackedBands&) = delete;

    Status write(const Chunk& range);
    Status read(const Chunk& range, char* to);
    /// Gives at most so many bands of fixed-size variables, and of those with a record below
    /// `records`, to `take`, and forgets them.
    Status take(std::int64_t records, int most, const Take& take);

private:
    /// Of a band, what a range has.
    struct Part {
        Band band;
        bool whole;           ///< all of it
        std::int64_t at;      ///< byte within the band
        std::int64_t offset;  ///< byte within the range
        std::int64_t bytes;
    };
    template <class Visit>
    Status for_parts(const Chunk& range, Visit&& visit) const;
    bool counts(const Band& band, std::int64_t records) const;
    const ChunkGrid& grid(const Band& band) const { return grids_[band.variable]; }
    std::int64_t bytes_of(const Band& band) const;
    Status find(const Band& band, bool whole, std::int64_t& at);
    Status make_file();

    std::string path_;
    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    Load load_;
    int fd_ = -1;
    std::int64_t end_ = 0;                         ///< of the unnamed file
    std::map<Band, std::int64_t> at_;              ///< where bands lie in it
    std::vector<std::vector<std::int64_t>> free_;  ///< places of each variable to use again
    std::vector<char> buffer_;                     ///< one band
};

}  // namespace thalweg::detail
