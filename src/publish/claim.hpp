// The claim on a file that is being written: its names, its lock, and the existing file that it
// replaces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "publish/write_lock.hpp"

namespace thalweg::detail {

struct ClaimRequest {
    std::string path;       ///< absolute path, whose symbolic links were followed
    bool live = false;      ///< the file is written under its final name from the start
    bool existing = false;  ///< the file exists and is continued in place
    bool folder = false;    ///< the path is a folder of files, which must be missing or empty
    /// Stripes in number and bytes; -1: those of the folder.
    std::int64_t stripe_count = -1, stripe_size = -1;
};

/// The exclusive right to write a file. One rank holds it from before the file is created until the
/// file is complete. No other session or run can claim the file meanwhile. The claim ends if the
/// run dies.
class Claim {
public:
    /**
     * Takes the lock, renames unfinished files of dead runs, and creates the file for the data.
     * Fails if the final file could not be replaced at the end.
     * @param said  receives warnings for the log
     * @return TW_OK; TW_EINUSE, naming the process that writes the file; TW_EIO
     */
    static Status take(const ClaimRequest& request, std::unique_ptr<Claim>& claim,
                       std::vector<std::string>& said, std::string& said_of_stripes);

    /// Takes the lock of a file or folder that a dead run has left.
    /// @param own   final path of the file, without symbolic links
    /// @param data  path of the data; may be `own`
    static Status take_over(const std::string& own, const std::string& data,
                            std::unique_ptr<Claim>& claim);

    const std::string& data_path() const { return data_; }

    /// Checks that this node sees the header that the first writer, on another node, has written.
    /// @return TW_OK, TW_EIO
    Status check_begun() const;

    /// Syncs the name under which the file is written. If another file had this name, also syncs
    /// its truncation.
    /// @return TW_OK, TW_EIO
    Status sync_name() const;

    /// Truncates an existing file that is to be written under its own name, after removing what
    /// depends on its data. Until then the file stays as it was.
    /// @return TW_OK, TW_EIO
    Status cut();

    /// Gives the complete file its final name, and the permissions of the file that it replaces.
    /// @param durable  sync the new name
    /// @return TW_OK, TW_EIO
    Status publish(bool durable);

    /// Removes the file or folder, if this claim has created it. It must contain no data.
    void discard();

private:
    Status look();
    Status look_at_folder() const;
    Status make_folder();
    Status keep_old(std::vector<std::string>& said) const;
    void restore_permissions(bool while_written) const;
    Status replace() const;

    std::string own_, data_;
    bool folder_ = false;    ///< the claim is for a folder
    bool created_ = false;   ///< this claim has created the file or folder of the data
    bool uncut_ = false;     ///< the existing file waits for cut()
    bool replaces_ = false;  ///< a file with the final name exists
    mode_t mode_ = 0;
    uid_t user_ = 0;
    gid_t group_ = 0;
    WriteLock lock_;
};

}  // namespace thalweg::detail
