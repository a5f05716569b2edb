// Compares files with their checksums, and completes the checksums of complete files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "storage/sums/hash.hpp"

namespace thalweg::detail {

/// A variable, in one record, that a file's checksums do not confirm. Plain data, so that it can be
/// sent.
struct SumsFault {
    enum Kind : std::int64_t {
        mismatch,  ///< bytes have changed, or were never written
        missing,   ///< the checksums name a variable or record that the file does not have
        unknown,   ///< there is no checksum
    };
    std::int64_t variable = 0;  ///< index of SumsReport::variables
    std::int64_t record = -1;   ///< -1: it has no records, or all of them
    Kind kind = mismatch;
    std::int64_t pieces = 0;  ///< number of pieces that are wrong
    /// First wrong piece: bytes of the variable (of one record), or number of the chunk (end = -1).
    std::int64_t begin = 0, end = 0;
};

struct SumsReport {
    std::vector<std::string> variables;
    std::vector<SumsFault> faults;               ///< sorted by record and variable
    std::int64_t pieces = 0, bytes = 0;          ///< what was compared
    std::int64_t records = 0, first_record = 0;  ///< records of the file; number of the first
    Status unreadable;                           ///< why this rank could not read a wrong piece
};

/// Tests if a file has checksums.
bool has_sums(const std::string& data);

/// Returns the files of which a data set consists: the tiles of a set, the files in a folder of
/// files=variable, or the file itself.
std::vector<std::string> files_at(const std::string& path);

/**
 * Compares a file with its checksums; the ranks share the work.
 * @param only  names of variables; empty: all
 * @return TW_OK if the comparison was possible, whatever it has found; TW_ENOTFOUND: the file has
 *         no checksums; TW_EFORMAT; TW_EIO
 * @note Collective; the same status and, apart from `unreadable`, report on every rank
 */
Status check_sums(Comm& comm, const std::string& data, std::span<const std::string> only,
                  SumsReport& report);

/// Describes a fault in a sentence that begins with the path.
std::string describe(const std::string& path, const SumsReport& report, const SumsFault& fault);

/**
 * Reads the pieces whose checksums are open, and completes these. Local: calls for different parts
 * may be made on different ranks.
 * @param part, parts  part of the table, of so many
 */
Status complete_sums(const std::string& data, int part, int parts, bool durable);

/// Returns the number of parts of a table that are worth the work of a rank each.
int parts_of_sums(const std::string& data, int most);

/// Computes a checksum of all checksums of a file.
Status sum_of_sums(const std::string& data, Sum& sum);

}  // namespace thalweg::detail
