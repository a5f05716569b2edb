// Kills a process before the n-th of its calls that change a file.
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_STORAGE_STORAGE_KILLS_HPP
#define THALWEG_TESTS_STORAGE_STORAGE_KILLS_HPP

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kills {

/// Data that a child shares with its parent, however it ends.
struct Told {
    long calls_left;       ///< the child dies after these; negative: never
    long calls;            ///< writes and changes of a file's size
    std::int64_t counted;  ///< counted records; -1: none yet
};
extern Told* shared;  ///< null: nothing is counted

/// Maps the shared memory for its lifetime.
class Shared {
public:
    Shared();
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
};

/// Returns a path for the file, in memory if there is such a folder.
std::string path_of(const std::string& name);

/// @return the exit status of the child
int in_child(const std::function<void()>& act, long calls);

}  // namespace kills

#endif
