// A plain file, and the file with its checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/checksums/writer.hpp"
#include "storage/posix/plain_file.hpp"

namespace thalweg::detail {

/// The two files of a driver. Functions of the base class do not concern the checksums.
class FileWithSums : public PlainFile {
public:
    using PlainFile::PlainFile;

    Status write(std::span<const Chunk> chunks) {
        Status status = sums.note_open(chunks, true);
        if (status.ok()) status = PlainFile::write(chunks);
        return status.ok() ? sums.note(chunks) : status;
    }
    Status sync() {
        Status status = PlainFile::sync();
        return status.ok() ? sums.sync() : status;
    }
    Status close() {
        Status status = close_file();
        Status closed = sums.close();
        return status.ok() ? closed : status;
    }

    SumsWriter sums;
};

}  // namespace thalweg::detail
