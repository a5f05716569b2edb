// Plain writes to disjoint ranges of a file, shared by the drivers that write without MPI. All
// system calls are in plain_file_system.cpp, so that a simulation can replace them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/posix/system.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class PlainFile {
public:
    /// @param counts  receives the counts of writes; must outlive this object
    explicit PlainFile(WriteCounts& counts) : counts_(counts) {}

    void begin(const std::string& its_path, const Definitions& its_definitions,
               const StorageOptions& its_options) {
        path = its_path;
        definitions = &its_definitions;
        options = its_options;
        throttle_ = Throttle(options.rate);
    }
    Status open_file();
    /// Opens the file unless it is open: a rank that is no writer opens it when it first writes,
    /// and one that has closed it early opens it again.
    Status need_file() { return fd < 0 ? open_file() : Status{}; }
    Status close_file();
    Status write(std::span<const Chunk> chunks);
    Status read(const Chunk& chunk, char* to);
    Status sync();
    /// Writes bytes of a variable. Errors name the variable and the record.
    /// @param at  offset in the file
    Status write_range(int variable, std::int64_t record, const char* data, std::int64_t bytes,
                       std::int64_t at);

    std::string path;
    const Definitions* definitions = nullptr;
    StorageOptions options;
    Descriptor fd;
    /// Converts a chunk's offset to an offset in the file. Adjacent bytes of a space must stay
    /// adjacent.
    std::function<std::int64_t(std::int64_t offset)> in_file = [](std::int64_t offset) {
        return offset;
    };

private:
    Status write_chunks(std::span<const Chunk> chunks);
    /// @param parts  the bytes to write; their positions in memory may be changed
    /// @param at     offset in the file
    Status write_parts(int variable, std::int64_t record, std::span<iovec> parts, std::int64_t at);
    Status write_bytes(std::span<iovec> parts, std::int64_t bytes, std::int64_t at);
    Status write_box(const Chunk& chunk);
    Status read_range(std::int64_t offset, std::int64_t bytes, char* to) const;
    template <class Visit>
    Status for_runs(const Chunk& chunk, Visit&& visit) const;

    WriteCounts& counts_;
    Throttle throttle_;
    std::vector<iovec> parts_;  ///< the bytes of one write
};

}  // namespace thalweg::detail
