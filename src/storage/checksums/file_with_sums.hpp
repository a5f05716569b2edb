// A plain file, and the file with its checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/checksums/writer.hpp"
#include "storage/posix/plain_file.hpp"

namespace thalweg::detail {

class FileWithSums : public PlainFile {
public:
    void begin_boxes() override { sums_.leave_piece(); }
    Status write(std::span<const Chunk> chunks) override {
        Status status = sums_.note_open(chunks, true);
        if (status.ok()) status = PlainFile::write(chunks);
        return status.ok() ? sums_.note(chunks) : status;
    }
    Status end_unit(std::int64_t, bool) override { return sums_.end_step(); }
    Status sync() override {
        Status status = PlainFile::sync();
        return status.ok() ? sums_.sync() : status;
    }

protected:
    /// Closes both files.
    Status close_files() {
        Status status = close_file();
        Status closed = sums_.close();
        return status.ok() ? closed : status;
    }

    SumsWriter sums_;
};

}  // namespace thalweg::detail
