// The references file. It is replaced as a whole, so that readers never find an incomplete one, and
// is removed before the data change to which it refers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "publish/stale_references.hpp"

namespace thalweg::detail {

/// A file of references, which may replace an older one. All functions are local; one rank calls
/// them.
class ReferenceFile {
public:
    explicit ReferenceFile(std::string path = {}) : path_(std::move(path)) {}
    const std::string& path() const { return path_; }

    /// Checks that the file can be written: its folder exists, and an existing file of this name is
    /// empty or begins as references do.
    /// @param kind  kind of files that begin so, for messages
    /// @return TW_OK, TW_EIO, TW_EEXISTS
    Status check(std::string_view begin = "{", const char* kind = "a JSON file") const;
    /// Removes existing references. Must be called before the data change to which they refer.
    Status remove() const;
    /// Writes the references under a temporary name.
    /// @param durable  sync them
    Status write(const std::string& text, bool durable) const;
    /// Gives the references their final name.
    Status publish(bool durable) const;
    /// Removes the temporary file.
    void discard() const;

private:
    std::string temporary() const;
    std::string path_;
};

}  // namespace thalweg::detail
