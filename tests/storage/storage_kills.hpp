// A process that is killed before the n-th of its calls that change a file.
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_STORAGE_STORAGE_KILLS_HPP
#define THALWEG_TESTS_STORAGE_STORAGE_KILLS_HPP

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kills {

/// What a child tells its parent, whatever becomes of it.
struct Told {
    long calls_left;       ///< then it dies; negative: never
    long calls;            ///< writes and changes of a file's size
    std::int64_t counted;  ///< records; -1: none yet
};
extern Told* shared;  ///< null: nothing is counted

/// Makes it be there.
class Shared {
public:
    Shared();
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
};

/// A name for the file, in memory where there is such a folder.
std::string path_of(const std::string& name);

/// @return how the child ended
int in_child(const std::function<void()>& act, long calls);

}  // namespace kills

#endif
