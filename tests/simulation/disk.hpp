// The disk of a simulation: the files of one folder, calls on which take time and can fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace simulation {

/// A call that changes a file, or reads it.
enum class DiskCall { write, size, sync, rename, close, read };

struct Disk {
    std::string folder;          ///< files below it are on the disk; empty: there is no disk
    double seconds = 1e-4;       ///< time of a call
    double rate = 1e9;           ///< bytes per second
    std::int64_t fails_at = -1;  ///< number of the first call that fails; -1: none does
    std::int64_t fails_until = -1;
    int error = 0;                                 ///< errno of the failing calls
    std::int64_t capacity = -1;                    ///< bytes that can be written; -1: no limit
    std::int64_t slow_from = -1, slow_until = -1;  ///< numbers of the first call that takes long,
                                                   ///< and of the first one after it that does not
    double slow_seconds = 0;

    std::int64_t calls = 0, written = 0;
    std::int64_t failed = 0;  ///< calls that failed

    bool has(const std::string& path) const {
        return !folder.empty() && path.compare(0, folder.size(), folder) == 0 &&
               path.find(".lock") == std::string::npos;
    }
    /**
     * Lets the time of a call pass, and decides if it fails.
     * @param bytes  size of a write or read
     * @return errno; 0: the call succeeds
     */
    int begin(DiskCall call, std::int64_t bytes);
};

extern Disk disk;

}  // namespace simulation
