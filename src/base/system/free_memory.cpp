// SPDX-License-Identifier: Apache-2.0
#include "base/system/free_memory.hpp"

#include <algorithm>
#include <fstream>

namespace thalweg::detail {

namespace {

/// Returns the number that follows a name in a file with lines "name number"; -1 if the name is not
/// there.
std::int64_t number_of(const std::string& path, const std::string& name) {
    std::ifstream file(path);
    std::string word;
    std::int64_t number = -1;
    while (file >> word)
        if (word == name && file >> number) return number;
    return -1;
}

/// Reads a file with a single number; returns -1 if the file contains something else, such as
/// "max".
std::int64_t only_number(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = -1;
    return file >> number ? number : -1;
}

/// Returns the number of bytes that a control group may still use. The page cache of files is
/// charged to the group, but counts as free here, because the system releases it on demand.
std::int64_t left_of_group(const std::string& folder, bool unified) {
    const std::int64_t limit =
        only_number(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
    const std::int64_t used =
        only_number(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (limit < 0 || used < 0) return INT64_MAX;
    const std::string total = unified ? "" : "total_";
    std::int64_t files = 0;
    for (const char* name : {"inactive_file", "active_file"})
        files += std::max<std::int64_t>(0, number_of(folder + "/memory.stat", total + name));
    return std::max<std::int64_t>(0, limit - std::max<std::int64_t>(0, used - files));
}

/// Returns the smallest number of bytes that any of this process's control groups, from its own to
/// the outermost, may still use. In a container, the path may be valid only on the host; the
/// container's own group is then the root.
std::int64_t left_of_groups(const std::string& root) {
    std::ifstream groups(root + "/proc/self/cgroup");
    std::int64_t left = INT64_MAX;
    for (std::string line; std::getline(groups, line);) {
        const bool unified = line.rfind("0::", 0) == 0;
        const auto at = line.find(":memory:");
        if (!unified && at == std::string::npos) continue;
        std::string path = line.substr(unified ? 3 : at + 8);
        const std::string top = root + "/sys/fs/cgroup" + (unified ? "" : "/memory");
        for (;;) {
            if (path == "/") path.clear();
            left = std::min(left, left_of_group(top + path, unified));
            if (path.empty()) break;
            path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
        }
    }
    return left;
}

}  // namespace

FreeMemory free_memory(const std::string& root) {
    const std::string table = root + "/proc/meminfo";
    FreeMemory free;
    const auto at_most = [&](std::int64_t kib) {
        if (kib >= 0) free.bytes = std::min(free.bytes, kib << 10);
    };
    at_most(number_of(table, "MemAvailable:"));
    free.strict = only_number(root + "/proc/sys/vm/overcommit_memory") == 2;
    if (free.strict)
        at_most(std::max<std::int64_t>(
            0, number_of(table, "CommitLimit:") - number_of(table, "Committed_AS:")));
    free.bytes = std::min(free.bytes, left_of_groups(root));
    return free;
}

}  // namespace thalweg::detail
