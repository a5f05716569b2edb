// The names of a file that is written. The final name is claimed when the file is created; the file
// gets it when it is complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "publish/claim.hpp"
#include "service/file_context.hpp"

namespace thalweg::detail {

class FileNames {
public:
    explicit FileNames(FileContext& file) : file_(file) {}

    ~FileNames() {
        if (early_) discard();
    }
    FileNames(const FileNames&) = delete;
    FileNames& operator=(const FileNames&) = delete;

    /// Words by which rank 0 describes a claim to the other ranks; all 0: nothing is claimed.
    static constexpr std::size_t early_words = 7;
    using EarlyWords = std::span<std::int64_t, early_words>;
    /// Claims the name of a new file on rank 0 before the ranks agree on the call that creates it,
    /// if the claim can be taken back: the data get a temporary name that no file has. Unless
    /// accept_early() or create() follows, the destructor takes the claim back. If the claim fails,
    /// create() returns the error. Local.
    void claim_early(EarlyWords words);
    /// Uses the claim that the words of rank 0 describe. All ranks must have the same path. Local.
    void accept_early(EarlyWords words);

    /// Claims the name of a new file on rank 0, and returns the path of its data on all ranks.
    /// Does nothing after accept_early().
    /// @note Collective
    Status create();
    /// Claims the name of an existing file on rank 0.
    /// @note Collective
    Status take_existing();
    /// Claims the names of all files of a set except the first, which is already claimed. Local.
    Status claim_tiles(int parts);
    /// With publish=live, truncates the files that exist; see Claim::cut(). Local.
    Status cut();
    /// Tests if a rank on another node than rank 0 may write the file. The same on every rank.
    bool on_several_nodes() const {
        return file_.team.topology().nodes > 1 || file_.session.port() != nullptr;
    }
    /// Checks that this rank sees the files of a set that other ranks have created. Local.
    Status check_begun() const {
        return for_claims([](const Claim& claim) { return claim.check_begun(); });
    }
    /// Syncs the names under which the files of this rank are written. Local.
    Status sync() const {
        return for_claims([](const Claim& claim) { return claim.sync_name(); });
    }
    /// Renames the files of this rank to their final names. Local.
    Status publish() {
        return for_claims([this](Claim& claim) { return claim.publish(file_.options.durable); });
    }
    /// Removes the files that this rank has created, and releases their names. Local.
    void discard();
    void release() { claims_.clear(); }

private:
    Status claim(const std::string& path);
    FileIdentity identity_of(const std::string& path) const;
    template <class Take>
    Status tell(Take&& take);
    /// Calls act(claim) for each claim, until a call fails.
    template <class Act>
    Status for_claims(Act&& act) const {
        for (const auto& claim : claims_)
            if (Status s = act(*claim); !s.ok()) return s;
        return {};
    }

    FileContext& file_;
    /// Claim of the file on rank 0; for a set, claims of the files that this rank writes.
    std::vector<std::unique_ptr<Claim>> claims_;
    bool early_ = false;     ///< claim_early() has tried to claim the name
    Status early_status_;    ///< its result
    bool accepted_ = false;  ///< accept_early() was called
};

}  // namespace thalweg::detail
