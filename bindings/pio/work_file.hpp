// A file that netCDF-C writes: a copy, or a new file, NAME.new, which takes the name at the end.
// Whoever is killed meanwhile leaves the old file or the new one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "error.hpp"

namespace thalweg::pio {

// On one rank. Holds the lock of the file, .NAME.lock, as the library does for the files that it
// writes: there is one writer at a time.
class WorkFile {
public:
    // Begin::empty: a file that has the name is removed. Begin::in_place: it is the file itself,
    // or will be.
    enum class Begin { copy, empty, in_place };
    enum class Lock { take, held };

    // Links are followed. What a killed run has left is overwritten. Throws
    WorkFile(const std::string& name, Begin begin, Lock lock = Lock::take);
    ~WorkFile();  // removes the work file, if it was not published
    WorkFile(const WorkFile&) = delete;
    WorkFile& operator=(const WorkFile&) = delete;

    const std::string& path() const { return path_; }
    bool in_place() const { return path_ == name_; }
    void publish();  // throws

private:
    std::string name_, path_, lock_path_;
    int lock_ = -1;

    void take_lock();
    void unlock();
    void make(Begin begin) const;
};

}  // namespace thalweg::pio
