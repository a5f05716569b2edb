// The places of variables' data in a file, for Zarr references.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/source.hpp"

namespace thalweg::detail {

/// A range of a file in which a chunk is stored. `bytes` is 0 if the chunk was never written.
struct ChunkPlace {
    std::int64_t offset = 0, bytes = 0;
};

/// Describes where a variable's elements are in a file.
struct VariablePlaces {
    /// Reason why no references to the variable's data can be made; empty if they can.
    std::string why;
    bool readable = true;  ///< the library can read the variable
    /// false: the variable is stored as one range, or as one range for each record.
    bool chunked = false;
    std::int64_t offset = -1;         ///< offset of the range, or of record 0; -1: never written
    std::int64_t stride = 0;          ///< distance in bytes from one record to the next
    std::vector<std::int64_t> chunk;  ///< chunk lengths, including the record dimension
    std::vector<StoredFilter> filters;
    std::vector<ChunkPlace> chunks;  ///< all chunks in row-major order; set by find_chunks()
    /// Value of elements that were never written, in the byte order of the source.
    FillValue fill{};
};

/// Finds where the data of a file's variables are, to make references to them.
class Places {
public:
    /// @param size  size of the file in bytes
    Places(std::unique_ptr<Source> source, std::int64_t size)
        : source_(std::move(source)), size_(size) {
        for (std::size_t i = 0; i < definitions().variables.size(); ++i)
            places_.push_back(source_->places(static_cast<int>(i)));
    }

    Source& source() { return *source_; }
    const Source& source() const { return *source_; }
    const Definitions& definitions() const { return source_->definitions(); }
    const Variable& variable(int i) const { return definitions().variables[i]; }
    const VariablePlaces& of(int variable) const { return places_[variable]; }
    /// Returns the size of the file in bytes.
    std::int64_t size() const { return size_; }

    /// Returns the shape of a variable, record dimension included.
    std::vector<std::int64_t> shape(int i) const { return shape_of(*source_, i); }
    /// Finds the chunks of a chunked variable, or the reason why no references to them can be made.
    Status find_chunks(int variable) { return source_->find_chunks(variable, places_[variable]); }
    /// Closes the file until it is needed again.
    void forget() { source_->forget(); }

private:
    std::unique_ptr<Source> source_;
    std::vector<VariablePlaces> places_;
    std::int64_t size_;
};

/// Opens a file of any format on this rank only; null if it cannot be read.
/// @return TW_OK, TW_EIO, TW_EFORMAT, TW_EINUSE, TW_EUNSUPPORTED (a set of tiles)
std::unique_ptr<Places> open_places(const std::string& path, Status& status);

}  // namespace thalweg::detail
