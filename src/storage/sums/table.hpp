// The file of checksums beside a data file. A header (JSON) names the variables; a table follows
// with a checksum for each piece: of the fixed-size variables first, then of record 0, 1 and so on.
// So each writer computes the place of its checksums, and the table grows with the records.
//
// A piece is 64 KiB of a variable's bytes (of one record) in file order, without padding, or less
// at their end. Of a variable that is stored in whole chunks, each chunk is a piece: its bytes as
// they are stored, filtered. Neither depends on who writes what.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/sums/hash.hpp"

namespace thalweg::detail {

/// A variable in the table of checksums.
struct SummedVariable {
    std::string name;
    bool record = false;
    bool chunks = false;      ///< its pieces are its stored chunks
    std::int64_t bytes = 0;   ///< bytes of its elements (of one record)
    std::int64_t pieces = 0;  ///< number of pieces (of one record)
    std::int64_t first = 0;   ///< number of its first piece in its space
};

/// Tests if a file holds checksums, or is empty.
bool is_sums_file(const std::string& path);

class SumsTable {
public:
    /// Bytes of a piece; a multiple of all element sizes.
    static constexpr std::int64_t piece = 64 << 10;

    /// Lays out the table of a file.
    /// @param chunks  for each variable: number of chunks of a record that are stored whole, or 0;
    ///                empty if no variable has such chunks
    static SumsTable of(const Definitions& definitions, std::span<const std::int64_t> chunks);
    /// Reads the header. @return TW_OK; TW_EIO; TW_EFORMAT if it is damaged
    Status read(int fd, const std::string& path);
    /// Writes the header.
    Status write(int fd, const std::string& path) const;

    const std::vector<SummedVariable>& variables() const { return variables_; }
    /// Returns the number of a variable; -1 if the table lacks it.
    int find(const std::string& name) const;

    /// Returns the number of a piece in the table.
    std::int64_t index(const SummedVariable& v, std::int64_t record, std::int64_t number) const {
        return (v.record ? fixed_ + record * per_record_ : 0) + v.first + number;
    }
    /// Returns the number of pieces of a file with so many records.
    std::int64_t pieces(std::int64_t records) const { return fixed_ + records * per_record_; }
    /// Returns the number of records for which a table with so many pieces has any.
    std::int64_t records(std::int64_t pieces) const {
        if (per_record_ == 0 || pieces <= fixed_) return 0;
        return (pieces - fixed_ + per_record_ - 1) / per_record_;
    }

    struct Place {
        int variable = 0;
        std::int64_t record = 0, number = 0;
    };
    Place place(std::int64_t index) const;
    /// Returns the offset of a checksum in the file.
    std::int64_t offset(std::int64_t index) const {
        return std::ssize(header_) + index * std::int64_t(sizeof(Sum));
    }

private:
    void add(SummedVariable variable);
    void make_header();

    std::vector<SummedVariable> variables_;
    std::vector<int> fixed_ones_, record_ones_;  ///< numbers of the variables, by their first piece
    std::int64_t fixed_ = 0, per_record_ = 0;    ///< numbers of pieces
    std::string header_;
};

}  // namespace thalweg::detail
