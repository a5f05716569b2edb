// Compares files with their checksums, and completes the checksums of complete files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "storage/checksums/hash.hpp"

namespace thalweg::detail {

/// A variable, in one record, whose data do not match the checksums. Plain data, so that it can be
/// sent.
struct SumsFault {
    enum Kind : std::int64_t {
        mismatch,  ///< the data have changed, or were never written
        missing,   ///< the checksums name a variable or record that the file does not have
        unknown,   ///< the checksums have no entry for the data
    };
    std::int64_t variable = 0;  ///< index of SumsReport::variables
    /// Number of the record; -1: the variable has no records, or all its records are concerned.
    std::int64_t record = -1;
    Kind kind = mismatch;
    std::int64_t pieces = 0;  ///< number of pieces that are wrong
    /// First wrong piece: a range of bytes of the variable (of one record); or the number of a
    /// chunk, with end = -1.
    std::int64_t begin = 0, end = 0;
};

struct SumsReport {
    std::vector<std::string> variables;
    std::vector<SumsFault> faults;  ///< sorted by record and variable
    /// Number of pieces and of bytes that were compared.
    std::int64_t pieces = 0, bytes = 0;
    std::int64_t records = 0;  ///< number of records in the file
    /// Reason why this rank could not read a wrong piece.
    Status unreadable;
};

/// Tests if a file has checksums.
bool has_sums(const std::string& data);

/// Returns the files of a data set: the tiles of a set, the files in a folder of files=variable, or
/// the file itself.
std::vector<std::string> files_at(const std::string& path);

/**
 * Compares a file, or the chunks of a Zarr store, with its checksums. Each rank does a part of the
 * work.
 * @param only  names of the variables to compare; empty: all
 * @return TW_OK if the comparison was possible, even if it has found faults; TW_ENOTFOUND: the file
 *     has no checksums; TW_EFORMAT; TW_EIO
 * @note Collective; the same status and, apart from `unreadable`, report on every rank
 */
Status check_sums(Comm& comm, const std::string& data, std::span<const std::string> only,
                  SumsReport& report);

/// Describes a fault in a sentence that begins with the path.
std::string describe(const std::string& path, const SumsReport& report, const SumsFault& fault);

/**
 * Reads all pieces with open checksums in one part of a table, and writes their checksums. Local:
 * different ranks may complete different parts.
 * @param part  number of the part; does nothing if the table is too small for so many parts
 * @param most  largest number of parts
 */
Status complete_sums(const std::string& data, int part, int most, bool durable);

/// Computes the checksum of all checksums of a file.
Status sum_of_sums(const std::string& data, Sum& sum);

}  // namespace thalweg::detail
