// The names of a file while it is written: claimed when it is created, given to it when it is
// complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "publish/claim.hpp"
#include "service/file_context.hpp"

namespace thalweg::detail {

class FileNames {
public:
    explicit FileNames(FileContext& file) : file_(file) {}

    /// Takes the name on one rank, and returns the path of the data on all.
    /// @param before_cut  see ClaimRequest; called on the rank that takes the name
    /// @note Collective
    Status create(const std::function<Status()>& before_cut);
    /// Takes the name of an existing file.
    /// @note Collective
    Status take_existing();
    /// Takes the names of the files of a set, except for the first one, which is taken already.
    /// Local.
    Status claim_tiles(int parts);
    /// Tests if a rank that is not on rank 0's node may write the file; the same on every rank.
    bool on_several_nodes() const {
        return file_.team.topology().nodes > 1 || file_.session.port() != nullptr;
    }
    /// Checks that this rank sees the files of a set that their writers have begun. Local.
    Status check_begun() const;
    /// Syncs the names under which the files of this rank are written. Local.
    Status sync() const;
    /// Renames the files of this rank to their final names. Local.
    Status publish();
    /// Removes created files, and gives up their names. Local.
    void discard();
    void release() { claims_.clear(); }

private:
    Status claim(const std::string& path, const std::function<Status()>& before_cut = {});
    template <class Take>
    Status tell(Take&& take);

    FileContext& file_;
    /// Claim of the file on rank 0; of a set, those of this rank's files.
    std::vector<std::unique_ptr<Claim>> claims_;
};

}  // namespace thalweg::detail
