// Plain writes to disjoint ranges of a file, shared by the drivers that write without MPI. All
// system calls are in plain_file_system.cpp, so that a simulation can replace them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "storage/posix/system.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class PlainFile : public Storage {
public:
    bool collective() const override { return false; }
    Status write(std::span<const Chunk> chunks) override;
    Status read(const Chunk& chunk, char* to) override;
    Status sync() override;

protected:
    /// Converts a chunk's offset to an offset in the file. Adjacent bytes of a space must stay
    /// adjacent.
    virtual std::int64_t in_file(std::int64_t offset) const { return offset; }

    void begin(const std::string& path, const Definitions& definitions,
               const StorageOptions& options) {
        path_ = path;
        definitions_ = &definitions;
        options_ = options;
        throttle_ = Throttle(options.rate);
    }
    Status open_file();
    /// Opens the file unless it is open: a rank that is no writer opens it when it first writes,
    /// and one that has closed it early opens it again.
    Status need_file() { return fd_ < 0 ? open_file() : Status{}; }
    Status close_file();
    /// Writes bytes of a variable. Errors name the variable and the record.
    /// @param at  offset in the file
    Status write_range(int variable, std::int64_t record, const char* data, std::int64_t bytes,
                       std::int64_t at);

    std::string path_;
    const Definitions* definitions_ = nullptr;
    StorageOptions options_;
    Descriptor fd_;

private:
    Status write_chunks(std::span<const Chunk> chunks);
    /// @param at  offset in the file
    Status write_bytes(const char* data, std::int64_t bytes, std::int64_t at);
    Status write_box(const Chunk& chunk);
    Status read_range(std::int64_t offset, std::int64_t bytes, char* to) const;
    template <class Visit>
    Status for_runs(const Chunk& chunk, Visit&& visit) const;
};

}  // namespace thalweg::detail
