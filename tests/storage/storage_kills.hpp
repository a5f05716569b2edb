// Kills a process before the n-th of its calls that change a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kills {

/// Data that a child process shares with its parent, even after it was killed.
struct Progress {
    long calls_left;       ///< number of calls before the child is killed; negative: never
    long calls;            ///< number of writes and changes of a file's size
    std::int64_t counted;  ///< number of counted records; -1: none yet
};
extern Progress* shared;  ///< data of the child; null if nothing is counted

/// Maps the shared memory for the lifetime of the object.
class Shared {
public:
    Shared();
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
};

/// Returns a path for a file; it is in memory if the system has such a folder.
std::string path_of(const std::string& name);

/// @return exit status of the child
int in_child(const std::function<void()>& act, long calls);

}  // namespace kills
