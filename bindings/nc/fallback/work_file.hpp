// A file that netCDF-C writes: a copy or a new file, NAME.new, which gets the final name at the
// end. If the run is killed meanwhile, NAME is either the old file or the complete new one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nc/base/error.hpp"
#include "publish/write_lock.hpp"

namespace thalweg::nc {

// A work file, on one rank. It holds the lock of the final file, .NAME.lock, as the library does
// for its files, so that there is only one writer.
class WorkFile {
public:
    // empty: an existing file of this name is removed; in_place: the work file has the final name.
    enum class Begin { copy, empty, in_place };
    enum class Lock { take, held };

    // Makes the work file for the file to which `name` leads. Replaces work files of killed runs.
    // Throws errors.
    WorkFile(const std::string& name, Begin begin, Lock lock = Lock::take);
    ~WorkFile();  // removes the work file if it was not published
    WorkFile(const WorkFile&) = delete;
    WorkFile& operator=(const WorkFile&) = delete;

    const std::string& path() const { return path_; }
    bool in_place() const { return path_ == name_; }
    void publish();  // throws

private:
    std::string name_, path_;
    detail::WriteLock lock_;

    void make(Begin begin) const;
};

}  // namespace thalweg::nc
