// Files that a command writes as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/status.hpp"

namespace thalweg::app {

/// Replaces the contents of a file. Local. @return TW_OK or TW_EIO
inline detail::Status write_text(const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) return detail::failure(TW_EIO, "{}: cannot write: {}", path, std::strerror(errno));
    return {};
}

}  // namespace thalweg::app
