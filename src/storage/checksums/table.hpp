// The file of checksums beside a data file. A header (JSON) names the variables; a table follows
// with a checksum for each piece: of the fixed-size variables first, then of record 0, 1 and so on.
// So each writer computes the place of its checksums, and the table grows with the records.
//
// A piece is 64 KiB of a variable's bytes (of one record) in file order, without padding; the last
// piece may be shorter. If a variable is stored in whole chunks, each chunk is a piece: its bytes
// as they are stored, filtered. The pieces do not depend on which rank writes what.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/checksums/hash.hpp"

namespace thalweg::detail {

/// A variable in the table of checksums.
struct SummedVariable {
    std::string name;
    bool record = false;
    /// Its stored chunks are the pieces; otherwise pieces have a fixed size.
    bool chunks = false;
    std::int64_t bytes = 0;   ///< size in bytes of its elements (of one record)
    std::int64_t pieces = 0;  ///< number of pieces (of one record)
    std::int64_t first = 0;   ///< position of its first piece among the pieces of its space
};

/// Tests if a file contains checksums, or is empty.
bool is_sums_file(const std::string& path);

class SumsTable {
public:
    /// Size in bytes of a piece; a multiple of all element sizes.
    static constexpr std::int64_t piece = 64 << 10;

    /// Lays out the table of a file.
    /// @param chunks  for each variable, the number of chunks in a record if the variable is
    ///                written in whole chunks, or 0; may be empty if no variable is
    static SumsTable of(const Definitions& definitions, std::span<const std::int64_t> chunks);
    /// Reads the header. @return TW_OK; TW_EIO; TW_EFORMAT if it is damaged
    Status read(int fd, const std::string& path);
    /// Writes the header.
    Status write(int fd, const std::string& path) const;

    const NamedList<SummedVariable>& variables() const { return variables_; }

    /// Returns the number of a piece among all pieces of the file.
    std::int64_t index(const SummedVariable& v, std::int64_t record, std::int64_t number) const {
        return (v.record ? fixed_ + record * per_record_ : 0) + v.first + number;
    }
    /// Returns the number of pieces in a file with a given number of records.
    std::int64_t pieces(std::int64_t records) const { return fixed_ + records * per_record_; }
    /// Returns the number of records that a table with a given number of pieces covers, completely
    /// or in part.
    std::int64_t records(std::int64_t pieces) const {
        if (per_record_ == 0 || pieces <= fixed_) return 0;
        return (pieces - fixed_ + per_record_ - 1) / per_record_;
    }

    struct Place {
        int variable = 0;
        std::int64_t record = 0, number = 0;
    };
    Place place(std::int64_t index) const;
    /// Returns the offset of a piece's checksum in the file of checksums.
    std::int64_t offset(std::int64_t index) const {
        return std::ssize(header_) + index * std::int64_t(sizeof(Sum));
    }

private:
    void add(SummedVariable variable);
    void make_header();

    NamedList<SummedVariable> variables_;
    /// Numbers of the fixed-size variables and of the record variables, sorted by first piece.
    std::vector<int> fixed_ones_, record_ones_;
    /// Number of pieces of the fixed-size variables, and of one record.
    std::int64_t fixed_ = 0, per_record_ = 0;
    std::string header_;
};

}  // namespace thalweg::detail
