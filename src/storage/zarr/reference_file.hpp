// The file in which references are: there is none, or a right one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "comm/status.hpp"

namespace thalweg::detail {

/// With this a file of references begins.
inline constexpr std::string_view references_begin = "{\"version\":1,\"refs\":{\n";

/// Removes the references beside a file that is about to be replaced, if they are the library's:
/// they would give wrong values.
void remove_references_beside(const std::string& file);

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
