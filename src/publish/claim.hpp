// A file that is being written: its names, its lock, and what was there before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "publish/write_lock.hpp"

namespace thalweg::detail {

struct ClaimRequest {
    std::string path;       ///< absolute; symbolic links are followed
    bool live = false;      ///< under its own name from the start
    bool existing = false;  ///< it is there, and is written on under its name
    bool folder = false;    ///< with files in it; it is missing or empty
    std::int64_t stripe_count = -1, stripe_size = -1;  ///< -1: the folder's
    /// What else has to go before a file is cut that changes under its own name; may be empty.
    std::function<Status()> before_cut;
};

/// Held by one rank from before the file is created until it is complete, and by nobody else: no
/// other session or run gets a claim to the same file meanwhile. What a dead run held is free.
class Claim {
public:
    /**
     * Takes the lock, keeps what a dead run has left under the temporary name, and creates the file
     * where the data go. What could not be replaced at the end is refused here.
     * @param said  receives what whoever reads the log should know, to warn of
     * @return TW_OK; TW_EINUSE, naming who writes the file; TW_EIO
     */
    static Status take(const ClaimRequest& request, std::unique_ptr<Claim>& claim,
                       std::vector<std::string>& said, std::string& said_of_stripes);

    /// Takes the lock of a file of which a dead run has left the data.
    /// @param own  its own path, without links. @param data  where the data are; may be `own`
    static Status take_over(const std::string& own, const std::string& data,
                            std::unique_ptr<Claim>& claim);

    const std::string& data_path() const { return data_; }

    /// Whether the header that a writer of another node has written is here. @return TW_OK, TW_EIO
    Status check_begun() const;

    /// Gives the complete file its own name, and the permissions of the one that it replaces.
    /// @param durable  for good. @return TW_OK, TW_EIO
    Status publish(bool durable);

    /// Removes the file, or folder, which holds nothing.
    void discard();

private:
    Status look();
    Status look_at_folder() const;
    Status make_folder() const;
    Status keep_old(std::vector<std::string>& said) const;
    void restore_permissions(bool while_written) const;

    std::string own_, data_;
    bool folder_ = false;    ///< it is one
    bool replaces_ = false;  ///< there is a file under its own name
    mode_t mode_ = 0;
    uid_t user_ = 0;
    gid_t group_ = 0;
    WriteLock lock_;
};

}  // namespace thalweg::detail
