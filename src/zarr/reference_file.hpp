// The file in which references are: there is none, or a right one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"
#include "publish/stale_references.hpp"

namespace thalweg::detail {

/// All of its functions are local, for one rank.
class ReferenceFile {
public:
    explicit ReferenceFile(std::string path = {}) : path_(std::move(path)) {}
    const std::string& path() const { return path_; }

    /// Whether it can be written: its folder is there, and nothing but references has its name.
    /// @return TW_OK, TW_EIO, TW_EEXISTS
    Status check() const;
    /// Removes the references that are there, before what they refer to changes.
    Status remove() const;
    /// Writes them under a temporary name. @param durable  for good
    Status write(const std::string& text, bool durable) const;
    /// Gives them their name.
    Status publish(bool durable) const;
    /// Removes what write() wrote.
    void discard() const;

private:
    std::string temporary() const;
    std::string path_;
};

}  // namespace thalweg::detail
