// Reads the header of a classic file without MPI, and without trusting it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "storage/storage.hpp"

namespace thalweg::detail {

/// The data offsets in a file, as its header gives them.
struct ClassicHeader {
    Format format = Format::cdf2;
    std::int64_t records = 0;
    std::int64_t bytes = 0;        ///< size of the header itself
    std::int64_t record_data = 0;  ///< size of a record without the padding at its end
    FileMap map;

    bool has_records() const { return map.record_begin > 0; }
    /// Returns the number of records that are complete in a file of `file_size` bytes.
    std::int64_t records_within(std::int64_t file_size) const;
};

/**
 * Reads a header. Every length is checked before it is used; if the file is not a classic file or
 * ends too early, only the status is valid.
 * @param bytes  receives the header itself
 * @return TW_OK, TW_EFORMAT, TW_EIO
 */
Status read_classic_header(int fd, const std::string& path, std::vector<char>& bytes,
                           ClassicHeader& header);

/**
 * Parses a header in memory, with its definitions. Uses no more memory than a small multiple of
 * `bytes`, whatever they contain.
 * @param file_size    size of the file, from which the number of records follows if the header does
 *                     not contain it (numrecs is STREAMING)
 * @param definitions  receives the definitions, without decompositions; may be null
 */
Status parse_classic_header(std::span<const char> bytes, std::int64_t file_size,
                            const std::string& path, ClassicHeader& header,
                            Definitions* definitions);

}  // namespace thalweg::detail
