// SPDX-License-Identifier: Apache-2.0
#include "publish/stale_references.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

void remove_references_beside(const std::string& file) {
    const std::string path = file + ".json";
    const Descriptor fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    char begin[references_begin.size()] = {};
    const ssize_t n = pread(fd, begin, sizeof begin, 0);
    if (n == std::ssize(references_begin) &&
        std::string_view(begin, sizeof begin) == references_begin)
        unlink(path.c_str());
}

}  // namespace thalweg::detail
