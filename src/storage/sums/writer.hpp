// A writer's part of the checksums of a file, computed from the bytes that it writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/storage.hpp"
#include "storage/sums/table.hpp"

namespace thalweg::detail {

/// Writes checksums for the pieces that its writer writes in one go. Others it marks as open, as
/// several writers may share them; complete_sums() reads them again when the file is complete. So a
/// checksum is never that of other bytes. If it was not begun, all functions do nothing.
class SumsWriter {
public:
    SumsWriter() = default;
    ~SumsWriter();
    SumsWriter(const SumsWriter&) = delete;
    SumsWriter& operator=(const SumsWriter&) = delete;

    /**
     * Begins the checksums of a file, or continues those that it has. Called on each writer.
     * @param data         path of the data
     * @param chunks       see SumsTable::of()
     * @param definitions  must outlive this object
     * @param first        this rank makes the file
     */
    Status begin(const std::string& data, const Definitions& definitions,
                 std::span<const std::int64_t> chunks, const StorageOptions& options, bool first);
    bool on() const { return fd_ >= 0; }

    /// Prepares to write chunks: pieces of records that have ended lose their checksums first.
    Status before(std::span<const Chunk> chunks);
    /// Notes chunks that were written, with their data.
    Status note(std::span<const Chunk> chunks);
    /// Notes a stored chunk that is about to be written.
    Status note_stored(int variable, std::int64_t record, std::int64_t number, const char* data,
                       std::int64_t bytes);
    /// Notes chunks that were written in another byte order: all their pieces stay open.
    Status note_open(std::span<const Chunk> chunks);
    /// Forgets the piece of which a part has been written: other parts may come in any order.
    void leave_piece();
    /// Ends a step: what it has written changes only by before().
    Status end_step();
    Status sync();
    Status close();

private:
    struct Entry {
        std::int64_t index;
        Sum sum;
    };
    /// A piece of which the writer has written the beginning.
    struct Begun {
        std::int64_t index = -1;
        std::int64_t bytes = 0;
    };
    template <class Visit>
    void for_ranges(const Chunk& chunk, Visit&& visit) const;
    bool has_ended(int variable, std::int64_t record) const;
    void note_end(int variable, std::int64_t record);
    void add(int variable, std::int64_t record, std::int64_t at, const char* data,
             std::int64_t bytes, bool in_order);
    void add_open(int variable, std::int64_t record, std::int64_t at, std::int64_t bytes);
    Status flush();

    std::string path_;
    int fd_ = -1;
    SumsTable table_;
    const Definitions* definitions_ = nullptr;
    std::vector<int> of_;  ///< number in the table of each variable; -1: none
    std::vector<Entry> entries_;
    SumStream stream_;
    Begun begun_;
    /// Records that have ended, and those that end with this step.
    std::int64_t ended_ = 0, ending_ = 0;
    std::vector<char> fixed_ended_, fixed_ending_;
};

}  // namespace thalweg::detail
