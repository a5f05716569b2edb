// Memory in which an interface such as netCDF's packs the values that its program puts. Writers
// take them from there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "index/types.hpp"

namespace thalweg::detail {

class NodeCopies;

class PutMemory {
public:
    /// Makes memory that the ranks of a node share, if there is enough.
    /// @param bytes  most bytes of values on any rank
    /// @note Collective
    PutMemory(tw_session session, std::int64_t bytes);
    ~PutMemory();
    PutMemory(const PutMemory&) = delete;
    PutMemory& operator=(const PutMemory&) = delete;

    /// Takes memory for values. @return null if there is none
    char* take(std::int64_t bytes, std::size_t alignment);
    /// Returns what was taken last. Not all of it may become free.
    void undo(const char* taken);
    void give_back();  ///< returns all
    /// Lets the writers of a file use the memory. The file is in define mode. Local.
    void serve(tw_file file) const;

private:
    tw_session session_;
    std::shared_ptr<NodeCopies> copies_;
};

/// Returns the byte order of packed values (TW_PACKED) in a file whose definitions have ended.
Order packed_order(tw_file file);

}  // namespace thalweg::detail
