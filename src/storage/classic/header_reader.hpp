// Reading the header of a classic file without MPI, and without trusting it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "storage/storage.hpp"

namespace thalweg::detail {

/// What a header says of where the data lie.
struct ClassicHeader {
    Format format = Format::cdf2;
    std::int64_t records = 0;
    std::int64_t bytes = 0;        ///< of the header itself
    std::int64_t record_data = 0;  ///< of a record, without the padding behind its last variable
    FileMap map;

    bool has_records() const { return map.record_begin > 0; }
    /// Records whose data end within a file of that size.
    std::int64_t records_within(std::int64_t file_size) const;
};

/**
 * Every length is checked before it is used: of a file that is none, or that ends too early, only
 * the status tells.
 * @return TW_OK, TW_EFORMAT, TW_EIO
 */
Status read_classic_header(int fd, const std::string& path, ClassicHeader& header);

/**
 * The same, of bytes in memory, with what the header defines. Takes no more memory than a small
 * multiple of `bytes`, whatever they say.
 * @param file_size    of the file whose header it is; counts the records of one whose header does
 *                     not (numrecs "STREAMING")
 * @param definitions  null, or receives them; without decompositions
 */
Status parse_classic_header(std::span<const char> bytes, std::int64_t file_size,
                            const std::string& path, ClassicHeader& header,
                            Definitions* definitions);

}  // namespace thalweg::detail
