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
// writes: there is one writer at a time. With THALWEG_PUBLISH=live the file itself is written.
class WorkFile {
public:
    enum class Begin { copy, empty };

    // Links are followed. Begin::empty: a file that has the name is removed. What a killed run has
    // left is overwritten. Throws
    WorkFile(const std::string& name, Begin begin);
    ~WorkFile();  // removes the work file, if it was not published
    WorkFile(const WorkFile&) = delete;
    WorkFile& operator=(const WorkFile&) = delete;

    const std::string& path() const { return path_; }
    void publish();  // throws

private:
    std::string name_, path_, lock_path_;
    int lock_ = -1;

    void lock();
    void unlock();
    void make(Begin begin) const;
};

}  // namespace thalweg::pio
