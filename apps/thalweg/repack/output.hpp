// A file that a command writes, under a temporary name until it is complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "publish/claim.hpp"
#include "storage/storage.hpp"

namespace thalweg::app {

/// Checks that the output would not damage an input: not by the same path, nor through a link, nor
/// by its temporary name.
/// @return TW_OK, TW_EARG
detail::Status check_not_input(const std::vector<std::string>& inputs, const std::string& output);

/// An output file that all ranks write. If several nodes cannot write one file safely, only the
/// ranks of one node write.
class Output {
public:
    /// @param definitions  must outlive this object
    Output(detail::Comm& comm, std::string path, const detail::Definitions& definitions);

    /// Claims the name and writes the header. An existing file of this name stays until finish().
    /// @return TW_OK, TW_EINUSE, TW_EIO, TW_ENETCDF
    /// @note Collective
    detail::Status create(detail::StorageOptions options);

    int writers() const { return static_cast<int>(writers_); }
    /// Returns the number of this rank among the writers; -1 if it does not write.
    int writer() const { return static_cast<int>(writer_); }

    /// Returns the byte order of the file.
    detail::Order order() const { return storage_->traits().order; }
    /// Returns the number of records in a chunk of a variable that one writer must write together.
    std::int64_t records_in_chunk(int variable) const;
    /// Returns the number of elements in one record of which one writer must write all (`unit`) and
    /// of which it should write all at once (`band`).
    std::int64_t unit(int variable) const;
    std::int64_t band(int variable) const;
    /// Returns the bytes of padding after a range of elements. It is 0 unless the range ends with
    /// the last element of the variable.
    std::int64_t padding(int variable, std::int64_t first, std::int64_t elements) const;
    /// Makes a chunk of consecutive elements of one record, beginning with number `first` in
    /// row-major order. `data` must have space for the padding, which this function fills.
    detail::Chunk chunk(int variable, std::int64_t record, std::int64_t first,
                        std::int64_t elements, char* data) const;
    /// Writes the chunks of all ranks. Each rank must call this the same number of times, if
    /// necessary without chunks. The text of a failure names the rank.
    /// @param mine error of this rank so far
    /// @return the same on every rank
    /// @note Collective
    detail::Status write_together(const detail::Status& mine,
                                  std::span<const detail::Chunk> chunks);
    /// Writes chunks to a file of a classic format. Local.
    /// @return TW_OK, TW_EIO
    detail::Status write(std::span<const detail::Chunk> chunks) { return storage_->write(chunks); }
    /// Sets the record count. The records must have been written before.
    /// @param all  count also records whose chunks wait for further records
    /// @note Collective
    detail::Status count(std::int64_t records, bool all = false);

    /// Completes the file and gives it its final name. Removes the file if anything has failed.
    /// @param mine error of this rank, or of all ranks, so far
    /// @note Collective; the same status on every rank
    detail::Status finish(const detail::Status& mine, std::int64_t records);

private:
    detail::Status claim(bool folder);
    void choose_writers();

    detail::Comm& comm_;
    std::string path_, data_path_;
    const detail::Definitions& definitions_;
    std::unique_ptr<detail::Claim> claim_;  ///< null on all ranks but rank 0
    std::unique_ptr<detail::Storage> storage_;
    detail::FileMap map_;
    std::int64_t writers_ = 1, writer_ = 0;
    bool zarr_ = false;
};

}  // namespace thalweg::app
