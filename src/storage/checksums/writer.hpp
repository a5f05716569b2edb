// A writer's part of the checksums of a file, computed from the bytes that it writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/checksums/table.hpp"
#include "storage/posix/system.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Writes the checksums of pieces that one writer writes without interruption. All other pieces are
/// marked as open, as several writers may share them; complete_sums() reads them again when the
/// file is complete. A checksum in the file is therefore never wrong. All functions do nothing if
/// begin() was not called.
class SumsWriter {
public:
    /**
     * Begins the checksums of a new file, or continues those of an existing one. Called on each
     * writer.
     * @param data         path of the data
     * @param chunks       see SumsTable::of()
     * @param definitions  must outlive this object
     * @param first        this rank creates the file of checksums
     */
    Status begin(const std::string& data, const Definitions& definitions,
                 std::span<const std::int64_t> chunks, const StorageOptions& options, bool first);
    bool on() const { return fd_ >= 0; }

    /// Marks all pieces of chunks as open, because they are written in another byte order or, with
    /// `only_ended`, because chunks whose records have already ended are about to change.
    Status note_open(std::span<const Chunk> chunks, bool only_ended);
    /// Computes checksums of chunks that were written.
    Status note(std::span<const Chunk> chunks);
    /// Computes the checksum of a stored (filtered) chunk that is about to be written.
    Status note_stored(int variable, std::int64_t record, std::int64_t number, const char* data,
                       std::int64_t bytes);
    /// Forgets the piece of which only the beginning was written, because parts may come in any
    /// order from now on.
    void leave_piece() { begun_ = {}; }
    /// Ends a step. The step's data may change later only after a call of note_open().
    Status end_step();
    Status sync();
    Status close();

private:
    struct Entry {
        std::int64_t index;
        Sum sum;
    };
    /// A piece of which this writer has written only the beginning.
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
    Descriptor fd_;
    SumsTable table_;
    const Definitions* definitions_ = nullptr;
    std::vector<int> of_;  ///< number of each variable in the table; -1 if the table lacks it
    std::vector<Entry> entries_;
    SumStream stream_;
    Begun begun_;
    /// Number of records that have ended, and number of those that will have ended after this step.
    std::int64_t ended_ = 0, ending_ = 0;
    std::vector<char> fixed_ended_, fixed_ending_;
};

}  // namespace thalweg::detail
