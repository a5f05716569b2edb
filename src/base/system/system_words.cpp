// SPDX-License-Identifier: Apache-2.0
#include "base/system/system_words.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace thalweg::detail {

std::string size_limit_words() {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    return fmt::format(
        " (this process has a limit of {} bytes on files and shared memory: see ulimit -f)",
        limit.rlim_cur);
}

std::string system_words(int error) {
    std::string words = std::strerror(error);
    rlimit limit{};
    if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        words += fmt::format(" (the limit of this process is {}: see ulimit -n)", limit.rlim_cur);
    if (error == EFBIG) words += size_limit_words();
    if (error == EDQUOT)
        words += " (the space that this user, group or folder may use is full: see quota)";
    return words;
}

}  // namespace thalweg::detail
