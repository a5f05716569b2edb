// A file that netCDF-C writes: a copy or a new file, NAME.new, which takes the final name at the
// end. A kill meanwhile leaves the old file or the new one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "error.hpp"

namespace thalweg::nc {

// A work file, on one rank. Holds the lock of the file, .NAME.lock, as the library does for the
// files that it writes: there is one writer at a time.
class WorkFile {
public:
    // Begin::empty: an existing file of the name is removed. Begin::in_place: the work file has the
    // final name.
    enum class Begin { copy, empty, in_place };
    enum class Lock { take, held };

    // Follows links. Overwrites what a killed run has left. Throws errors.
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

}  // namespace thalweg::nc
